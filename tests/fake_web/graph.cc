#include "tests/fake_web/graph.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>

namespace gannet::fake_web {
namespace {

using LinkPairs = std::vector<std::pair<uint32_t, uint32_t>>;

struct FileCloser {
  void operator()(FILE* file) const { fclose(file); }
};

bool ParseNumber(const char*& at, const char* end, uint32_t* number) {
  while (at < end && (*at == ' ' || *at == '\t')) ++at;
  const char* const begin = at;
  uint64_t value = 0;
  while (at < end && *at >= '0' && *at <= '9' && value < (uint64_t{1} << 32)) {
    value = value * 10 + static_cast<uint64_t>(*at++ - '0');
  }
  *number = static_cast<uint32_t>(value);
  return at > begin && value < 0xffffffff;
}

// Takes the text in pieces; keeps the beginning of an incomplete line.
class LineReader {
 public:
  absl::Status Take(std::string_view text) {
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != text.npos;
         begin = end + 1) {
      if (!rest_.empty()) {
        rest_.append(text.substr(begin, end - begin));
        if (auto status = Line(rest_); !status.ok()) return status;
        rest_.clear();
      } else if (auto status = Line(text.substr(begin, end - begin));
                 !status.ok()) {
        return status;
      }
    }
    rest_.append(text.substr(begin));
    return absl::OkStatus();
  }
  absl::Status Finish() { return Line(rest_); }
  LinkPairs links;

 private:
  absl::Status Line(std::string_view line) {
    ++number_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line[0] == '#') return absl::OkStatus();
    const char* at = line.data();
    const char* const end = at + line.size();
    std::pair<uint32_t, uint32_t> link;
    if (!ParseNumber(at, end, &link.first) ||
        !ParseNumber(at, end, &link.second)) {
      return absl::InvalidArgumentError(fmt::format(
          "line {} is not 'source target': '{}'", number_, line.substr(0, 60)));
    }
    links.push_back(link);
    return absl::OkStatus();
  }

  std::string rest_;
  uint64_t number_ = 0;
};

absl::Status ReadPlain(FILE* file, LineReader* reader) {
  std::vector<char> buffer(1 << 20);
  while (size_t n = fread(buffer.data(), 1, buffer.size(), file)) {
    if (auto status = reader->Take({buffer.data(), n}); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ReadZstd(FILE* file, LineReader* reader) {
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(
      ZSTD_createDStream(), ZSTD_freeDStream);
  std::vector<char> in_bytes(ZSTD_DStreamInSize());
  std::vector<char> out_bytes(ZSTD_DStreamOutSize());
  while (size_t n = fread(in_bytes.data(), 1, in_bytes.size(), file)) {
    ZSTD_inBuffer in{in_bytes.data(), n, 0};
    while (in.pos < in.size) {
      ZSTD_outBuffer out{out_bytes.data(), out_bytes.size(), 0};
      const size_t code = ZSTD_decompressStream(stream.get(), &out, &in);
      if (ZSTD_isError(code)) {
        return absl::InvalidArgumentError(
            fmt::format("not zstd: {}", ZSTD_getErrorName(code)));
      }
      if (auto status = reader->Take({out_bytes.data(), out.pos});
          !status.ok()) {
        return status;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> Graph::Read(const std::string& path) {
  std::unique_ptr<FILE, FileCloser> file(fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return absl::NotFoundError(
        fmt::format("cannot open {}: {}", path, strerror(errno)));
  }
  LineReader reader;
  const bool zstd =
      path.size() > 4 && path.compare(path.size() - 4, 4, ".zst") == 0;
  absl::Status status =
      zstd ? ReadZstd(file.get(), &reader) : ReadPlain(file.get(), &reader);
  if (status.ok()) status = reader.Finish();
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {}", path, std::string(status.message())));
  }
  if (reader.links.empty()) {
    return absl::InvalidArgumentError(fmt::format("{} holds no links", path));
  }
  return Graph(std::move(reader.links));
}

Graph::Graph(std::vector<std::pair<uint32_t, uint32_t>> links) {
  uint32_t pages = 0;
  for (const auto& [from, to] : links) {
    pages = std::max({pages, from + 1, to + 1});
  }
  starts_.assign(pages + 1, 0);
  for (const auto& link : links) ++starts_[link.first + 1];
  for (uint32_t page = 0; page < pages; ++page) {
    starts_[page + 1] += starts_[page];
  }
  targets_.resize(links.size());
  std::vector<uint64_t> next(starts_.begin(), starts_.end() - 1);
  for (const auto& [from, to] : links) targets_[next[from]++] = to;
}

}  // namespace gannet::fake_web
