#include "storage/archive/warc_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "storage/archive/http_message.h"

namespace gannet::storage {

absl::StatusOr<std::unique_ptr<WarcReader>> WarcReader::Open(
    const std::filesystem::path& path, ReaderLimits limits) {
  auto source = FileSource(path);
  if (!source.ok()) return source.status();
  return std::make_unique<WarcReader>(*std::move(source), limits);
}

WarcReader::WarcReader(std::unique_ptr<ByteSource> source, ReaderLimits limits,
                       uint64_t offset)
    : stream_(std::move(source), offset), limits_(limits) {}

absl::Status WarcReader::Corrupt(std::string_view why) const {
  return absl::DataLossError(
      fmt::format("{} in the record at offset {}", why, offset_));
}

absl::StatusOr<bool> WarcReader::Next() {
  if (in_record_) {
    auto end = Finish();
    if (!end.ok()) return end.status();
  }
  auto more = SkipEmptyLines(/*in_member=*/false);
  if (!more.ok() || !*more) return more;
  offset_ = stream_.offset();
  if (absl::Status read = ReadHeader(); !read.ok()) return read;
  in_record_ = true;
  return true;
}

absl::StatusOr<bool> WarcReader::Resync() {
  in_record_ = false;
  block_left_ = 0;
  return stream_.SkipToNextMember();
}

// True if something other than an empty line follows.
absl::StatusOr<bool> WarcReader::SkipEmptyLines(bool in_member) {
  for (;;) {
    auto bytes = in_member ? stream_.PeekInMember() : stream_.Peek();
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) return false;
    const size_t found = bytes->find_first_not_of("\r\n");
    stream_.Consume(std::min(found, bytes->size()));
    if (found != std::string_view::npos) return true;
  }
}

// One line without its end; false if the member ends first.
absl::StatusOr<bool> WarcReader::ReadLine(std::string* line) {
  line->clear();
  for (;;) {
    auto bytes = stream_.PeekInMember();
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) return false;
    const size_t lf = bytes->find('\n');
    const size_t size = lf == std::string_view::npos ? bytes->size() : lf + 1;
    if (size > header_left_) {
      return Corrupt(
          fmt::format("header of more than {} bytes", limits_.header_bytes));
    }
    header_left_ -= size;
    line->append(bytes->substr(0, size));
    stream_.Consume(size);
    if (lf != std::string_view::npos) break;
  }
  line->pop_back();
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

absl::Status WarcReader::ReadHeader() {
  header_ = {};
  header_left_ = limits_.header_bytes;
  std::string line;
  auto read = ReadLine(&line);
  if (!read.ok()) return read.status();
  if (!*read || !SameName(std::string_view(line).substr(0, 5), "WARC/")) {
    return Corrupt("no WARC version line");
  }
  header_.version = TrimBlanks(std::string_view(line).substr(5));
  for (;;) {
    read = ReadLine(&line);
    if (!read.ok()) return read.status();
    if (!*read) return Corrupt("header has no end");
    if (line.empty()) break;
    // A line that begins with a blank goes on the one before (WARC 1.1, 4).
    if ((line[0] == ' ' || line[0] == '\t') && !header_.fields.empty()) {
      header_.fields.back().second.append(" ").append(TrimBlanks(line));
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    header_.fields.emplace_back(
        TrimBlanks(std::string_view(line).substr(0, colon)),
        TrimBlanks(std::string_view(line).substr(colon + 1)));
  }
  header_.type = RecordTypeNamed(header_.Get("WARC-Type"));
  return ParseLength();
}

absl::Status WarcReader::ParseLength() {
  const std::string_view text = header_.Get("Content-Length");
  uint64_t length = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, length);
  if (text.empty() || error != std::errc() || end != text_end) {
    return Corrupt("no usable Content-Length");
  }
  header_.content_length = length;
  block_left_ = length;
  return absl::OkStatus();
}

absl::StatusOr<size_t> WarcReader::ReadBlock(char* to, size_t size) {
  if (block_left_ == 0 || size == 0) return 0;
  auto bytes = stream_.PeekInMember();
  if (!bytes.ok()) return bytes.status();
  if (bytes->empty()) return Corrupt("block ends too early");
  size = static_cast<size_t>(
      std::min<uint64_t>({size, bytes->size(), block_left_}));
  std::memcpy(to, bytes->data(), size);
  stream_.Consume(size);
  block_left_ -= size;
  return size;
}

absl::StatusOr<std::string> WarcReader::ReadWholeBlock() {
  if (block_left_ > limits_.block_bytes) {
    return absl::OutOfRangeError(
        fmt::format("the block of {} bytes of the record at offset {} is "
                    "longer than the limit of {}",
                    block_left_, offset_, limits_.block_bytes));
  }
  // Grown as bytes come, not at once to what a hostile header promises.
  std::string block;
  while (block_left_ > 0) {
    auto bytes = stream_.PeekInMember();
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) return Corrupt("block ends too early");
    const auto size =
        static_cast<size_t>(std::min<uint64_t>(bytes->size(), block_left_));
    block.append(bytes->substr(0, size));
    stream_.Consume(size);
    block_left_ -= size;
  }
  return block;
}

absl::StatusOr<uint64_t> WarcReader::Finish() {
  while (block_left_ > 0) {
    auto bytes = stream_.PeekInMember();
    if (!bytes.ok()) return bytes.status();
    if (bytes->empty()) return Corrupt("block ends too early");
    const auto size =
        static_cast<size_t>(std::min<uint64_t>(bytes->size(), block_left_));
    stream_.Consume(size);
    block_left_ -= size;
  }
  in_record_ = false;
  auto more = SkipEmptyLines(/*in_member=*/true);
  if (!more.ok()) return more.status();
  return *more ? stream_.offset() : stream_.next_offset();
}

}  // namespace gannet::storage
