#include "storage/archive/record_packer.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "storage/archive/cdxj.h"

namespace gannet::storage {
namespace {

// A buffer larger than this is given back after its group.
constexpr size_t kKeptBuffer = 4 << 20;

// RFC 4122, 4.4: random, version 4.
std::string NewRecordId(std::mt19937_64& random) {
  const uint64_t high = (random() & ~0xf000ull) | 0x4000ull;
  const uint64_t low = (random() & ~(3ull << 62)) | (2ull << 62);
  std::string id = "<urn:uuid:00000000-0000-4000-8000-000000000000>";
  constexpr char kHex[] = "0123456789abcdef";
  size_t at = id.size() - 1;
  for (const uint64_t half : {low, high}) {
    for (int shift = 0; shift < 64; shift += 4) {
      if (id[--at] == '-') --at;
      id[at] = kHex[half >> shift & 15];
    }
  }
  return id;
}

std::string_view ContentType(RecordType type) {
  switch (type) {
    case RecordType::kRequest:
      return "application/http;msgtype=request";
    case RecordType::kResponse:
    case RecordType::kRevisit:
      return "application/http;msgtype=response";
    default:
      return "application/warc-fields";
  }
}

std::string_view Reason(Truncated truncated) {
  switch (truncated) {
    case Truncated::kLength:
      return "length";
    case Truncated::kTime:
      return "time";
    case Truncated::kDisconnect:
      return "disconnect";
    case Truncated::kNo:
      break;
  }
  return {};
}

bool LooksLikeAddress(std::string_view ip) {
  return !ip.empty() && ip.size() <= 45 &&
         ip.find_first_not_of("0123456789abcdefABCDEF:.") ==
             std::string_view::npos;
}

absl::Status Check(const NewRecord& record, size_t group_size) {
  if (record.type == RecordType::kOther ||
      record.type == RecordType::kWarcinfo) {
    return absl::InvalidArgumentError("not a type that the archive takes");
  }
  if (record.url.empty())
    return absl::InvalidArgumentError("record without URL");
  if ((record.type == RecordType::kRevisit) != record.revisit.has_value()) {
    return absl::InvalidArgumentError(
        "a revisit, and only a revisit, says what it revisits");
  }
  if (record.concurrent_to >= static_cast<int>(group_size)) {
    return absl::InvalidArgumentError("concurrent_to is outside of the group");
  }
  return absl::OkStatus();
}

void AppendStart(std::string& header, RecordType type, std::string_view id,
                 absl::Time date) {
  header = "WARC/1.1\r\n";
  AppendField(header, "WARC-Type", RecordTypeName(type));
  AppendField(header, "WARC-Record-ID", id);
  AppendField(header, "WARC-Date", WarcDate(date));
}

// Ids must differ between processes and sites: 256 bits from the system.
std::mt19937_64 SeededRandom() {
  std::random_device system;
  std::seed_seq seed{system(), system(), system(), system(),
                     system(), system(), system(), system()};
  return std::mt19937_64(seed);
}

}  // namespace

RecordPacker::RecordPacker(Settings settings)
    : settings_(settings),
      compressor_(
          libdeflate_alloc_compressor(std::clamp(settings.level, 1, 12))),
      random_(SeededRandom()) {}

RecordPacker::~RecordPacker() { libdeflate_free_compressor(compressor_); }

void RecordPacker::StartGroup(size_t records) {
  if (raw_.capacity > kKeptBuffer) raw_ = {};
  if (out_.capacity > kKeptBuffer) out_ = {};
  out_size_ = 0;
  records_.clear();
  ids_.clear();
  for (size_t i = 0; i < records; ++i) ids_.push_back(NewRecordId(random_));
}

absl::Status RecordPacker::Pack(absl::Span<const NewRecord> group) {
  StartGroup(group.size());
  for (size_t i = 0; i < group.size(); ++i) {
    const NewRecord& record = group[i];
    if (absl::Status good = Check(record, group.size()); !good.ok()) {
      return good;
    }
    AppendStart(header_, record.type, ids_[i], record.date);
    AppendRecordFields(record, i);
    const std::string payload_digest = PayloadDigest(record);
    if (!payload_digest.empty()) {
      AppendField(header_, "WARC-Payload-Digest", payload_digest);
    }
    AppendField(header_, "Content-Type", ContentType(record.type));
    Compress(record.head, record.payload, &record, payload_digest);
  }
  return absl::OkStatus();
}

void RecordPacker::PackWarcinfo(std::string_view filename, absl::Time date,
                                std::string_view fields) {
  StartGroup(1);
  AppendStart(header_, RecordType::kWarcinfo, ids_[0], date);
  AppendField(header_, "WARC-Filename", filename);
  AppendField(header_, "Content-Type", ContentType(RecordType::kWarcinfo));
  Compress(fields, {}, nullptr, {});
}

void RecordPacker::AppendRecordFields(const NewRecord& record, size_t index) {
  AppendUriField(header_, "WARC-Target-URI", record.url);
  if (LooksLikeAddress(record.ip)) {
    AppendField(header_, "WARC-IP-Address", record.ip);
  }
  if (!record.protocol.empty()) {
    AppendField(header_, "WARC-Protocol", record.protocol);
  }
  if (record.concurrent_to >= 0 &&
      static_cast<size_t>(record.concurrent_to) != index) {
    AppendField(header_, "WARC-Concurrent-To",
                ids_[static_cast<size_t>(record.concurrent_to)]);
  }
  if (record.truncated != Truncated::kNo) {
    AppendField(header_, "WARC-Truncated", Reason(record.truncated));
  }
  if (record.revisit.has_value()) AppendRevisit(record);
}

void RecordPacker::AppendRevisit(const NewRecord& record) {
  const RevisitOf& of = *record.revisit;
  const bool same_payload =
      of.profile == RevisitOf::Profile::kIdenticalPayloadDigest;
  AppendField(
      header_, "WARC-Profile",
      same_payload
          ? "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
          : "http://netpreserve.org/warc/1.1/revisit/server-not-modified");
  AppendUriField(header_, "WARC-Refers-To-Target-URI", of.target_uri);
  AppendField(header_, "WARC-Refers-To-Date", WarcDate(of.date));
}

std::string RecordPacker::PayloadDigest(const NewRecord& record) {
  if (!record.payload_digest.empty()) {
    return SafeUri(record.payload_digest);
  }
  if (record.type != RecordType::kResponse) return {};
  sha1_.Add(record.payload);
  return sha1_.Digest();
}

void RecordPacker::Compress(std::string_view head, std::string_view payload,
                            const NewRecord* record,
                            std::string_view payload_digest) {
  if (settings_.block_digests) {
    sha1_.Add(head);
    sha1_.Add(payload);
    AppendField(header_, "WARC-Block-Digest", sha1_.Digest());
  }
  const size_t block_size = head.size() + payload.size();
  fmt::format_to(std::back_inserter(header_), "Content-Length: {}\r\n\r\n",
                 block_size);

  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t raw_size = header_.size() + block_size + kEnd.size();
  if (raw_size > raw_.capacity) {
    raw_.capacity = std::max(raw_size, raw_.capacity * 2);
    raw_.data = std::make_unique_for_overwrite<char[]>(raw_.capacity);
  }
  char* at = raw_.data.get();
  for (const std::string_view part :
       {std::string_view(header_), head, payload, kEnd}) {
    if (part.empty()) continue;  // memcpy takes no null pointer.
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }

  const size_t bound = libdeflate_gzip_compress_bound(compressor_, raw_size);
  ReserveOut(bound);
  const size_t length =
      libdeflate_gzip_compress(compressor_, raw_.data.get(), raw_size,
                               out_.data.get() + out_size_, bound);
  Packed packed{out_size_, length, std::nullopt};
  if (record != nullptr) {
    packed.cdxj = CdxjFront(
        record->type, record->url, WarcDate(record->date), payload_digest,
        std::string_view(raw_.data.get() + header_.size(), block_size));
  }
  records_.push_back(std::move(packed));
  out_size_ += length;
}

void RecordPacker::ReserveOut(size_t more) {
  if (out_size_ + more <= out_.capacity) return;
  Buffer larger;
  larger.capacity = std::max(out_size_ + more, out_.capacity * 2);
  larger.data = std::make_unique_for_overwrite<char[]>(larger.capacity);
  if (out_size_ > 0) {
    std::memcpy(larger.data.get(), out_.data.get(), out_size_);
  }
  out_ = std::move(larger);
}

}  // namespace gannet::storage
