#include "federation/exchange/moved_codec.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "federation/exchange/zstd_frame.h"

namespace gannet::federation {
namespace {

// An empty record takes two bytes, and many times that in memory: they are
// counted before they are made.
size_t CountRecords(const std::string& bytes) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream in(
      reinterpret_cast<const uint8_t*>(bytes.data()),
      static_cast<int>(bytes.size()));
  size_t records = 0;
  while (const uint32_t tag = in.ReadTag()) {
    ++records;
    if (!WireFormatLite::SkipField(&in, tag)) break;
  }
  return records;
}

}  // namespace

std::string EncodeMoved(const proto::OutboxBatch& batch, int level) {
  if (batch.pages_size() == 0 && batch.hosts_size() == 0) return "";
  peers::MovedPages moved;
  *moved.mutable_pages() = batch.pages();
  *moved.mutable_hosts() = batch.hosts();
  for (proto::MovedPage& page : *moved.mutable_pages()) {
    page.mutable_record()->clear_archive();
    page.mutable_record()->clear_etag();
    page.mutable_record()->clear_last_modified();
  }
  return CompressZstd(moved.SerializeAsString(), level);
}

absl::StatusOr<peers::MovedPages> DecodeMoved(std::string_view bytes,
                                              const MovedLimits& limits) {
  auto plain = DecompressZstd(bytes, limits.bytes);
  if (!plain.ok()) return plain.status();
  if (const size_t records = CountRecords(*plain); records > limits.records) {
    return absl::ResourceExhaustedError(
        fmt::format("{} pages and hosts in one batch exceed the maximum {}",
                    records, limits.records));
  }
  peers::MovedPages moved;
  if (!moved.ParseFromString(*plain)) {
    return absl::InvalidArgumentError("pages that move cannot be decoded");
  }
  return moved;
}

}  // namespace gannet::federation
