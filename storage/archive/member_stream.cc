#include "storage/archive/member_stream.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace gannet::storage {
namespace {

constexpr size_t kBuffer = 32 << 10;
constexpr std::string_view kMagic = "\x1f\x8b\x08";  // RFC 1952, 2.3.1

}  // namespace

MemberStream::MemberStream(std::unique_ptr<ByteSource> source, uint64_t offset)
    : source_(std::move(source)),
      input_buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)),
      output_buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)),
      input_offset_(offset),
      member_offset_(offset) {}

MemberStream::~MemberStream() {
  if (zlib_ready_) inflateEnd(&zlib_);
}

absl::Status MemberStream::Corrupt(std::string_view why) const {
  return absl::DataLossError(
      fmt::format("{} in the gzip member at offset {}", why, member_offset_));
}

absl::Status MemberStream::Refill() {
  auto n = source_->ReadAt(input_offset_, input_buffer_.get(), kBuffer);
  if (!n.ok()) return n.status();
  input_ = {input_buffer_.get(), *n};
  input_offset_ += *n;
  return absl::OkStatus();
}

absl::Status MemberStream::Detect() {
  if (absl::Status read = Refill(); !read.ok()) return read;
  if (input_.empty()) return absl::OkStatus();
  const bool gzip = input_.substr(0, 2) == kMagic.substr(0, 2);
  kind_ = gzip ? Kind::kGzip : Kind::kPlain;
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> MemberStream::Peek() {
  for (;;) {
    auto here = PeekInMember();
    if (!here.ok() || !here->empty()) return here;
    if (kind_ == Kind::kUnknown) {
      if (absl::Status found = Detect(); !found.ok()) return found;
      if (kind_ == Kind::kUnknown) return std::string_view();  // Empty input.
    } else if (kind_ == Kind::kPlain) {
      return std::string_view();
    } else {
      auto started = StartMember();
      if (!started.ok()) return started.status();
      if (!*started) return std::string_view();
    }
  }
}

absl::StatusOr<std::string_view> MemberStream::PeekInMember() {
  if (kind_ == Kind::kPlain) {
    if (input_.empty()) {
      if (absl::Status read = Refill(); !read.ok()) return read;
    }
    return input_;
  }
  while (output_.empty() && in_member_) {
    if (absl::Status inflated = Inflate(); !inflated.ok()) return inflated;
  }
  return output_;
}

absl::StatusOr<bool> MemberStream::StartMember() {
  if (input_.empty()) {
    if (absl::Status read = Refill(); !read.ok()) return read;
    if (input_.empty()) return false;
  }
  member_offset_ = next_offset();
  // Window of 32 KiB, gzip format only (zlib.h: 16 + windowBits).
  const int ready =
      zlib_ready_ ? inflateReset(&zlib_) : inflateInit2(&zlib_, 16 + 15);
  if (ready != Z_OK) return absl::InternalError("zlib cannot start");
  zlib_ready_ = true;
  in_member_ = true;
  return true;
}

absl::Status MemberStream::Inflate() {
  if (input_.empty()) {
    if (absl::Status read = Refill(); !read.ok()) return read;
    if (input_.empty()) return Corrupt("input ends");
  }
  zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
  zlib_.avail_in = static_cast<uInt>(input_.size());
  zlib_.next_out = reinterpret_cast<Bytef*>(output_buffer_.get());
  zlib_.avail_out = static_cast<uInt>(kBuffer);
  const int result = inflate(&zlib_, Z_NO_FLUSH);
  input_.remove_prefix(input_.size() - zlib_.avail_in);
  output_ = {output_buffer_.get(), kBuffer - zlib_.avail_out};
  if (result == Z_STREAM_END) {
    in_member_ = false;
  } else if (result != Z_OK) {
    in_member_ = false;
    output_ = {};
    return Corrupt(zlib_.msg != nullptr ? zlib_.msg : "corrupt data");
  }
  return absl::OkStatus();
}

void MemberStream::Consume(size_t size) {
  (kind_ == Kind::kPlain ? input_ : output_).remove_prefix(size);
}

uint64_t MemberStream::offset() const {
  return kind_ == Kind::kGzip ? member_offset_ : next_offset();
}

void MemberStream::Seek(uint64_t offset) {
  input_ = {};
  input_offset_ = offset;
  output_ = {};
  in_member_ = false;
}

absl::StatusOr<bool> MemberStream::SkipToNextMember() {
  if (kind_ != Kind::kGzip) return false;
  Seek(member_offset_ + 1);
  for (;;) {
    if (absl::Status read = Refill(); !read.ok()) return read;
    const size_t found = input_.find(kMagic);
    if (found != std::string_view::npos) {
      input_.remove_prefix(found);
      member_offset_ = next_offset();  // The next skip goes on from here.
      return true;
    }
    if (input_.size() < kMagic.size()) return false;
    // The magic may lie across two reads.
    Seek(input_offset_ - (kMagic.size() - 1));
  }
}

}  // namespace gannet::storage
