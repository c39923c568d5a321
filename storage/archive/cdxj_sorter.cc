#include "storage/archive/cdxj_sorter.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/archive/disk.h"

namespace gannet::storage {
namespace {

// What a line costs beside its bytes: the string and its allocation.
constexpr size_t kLineOverhead = 48;

// Gathers lines into large writes, so that each error is seen where it is.
class LineWriter {
 public:
  LineWriter(const Fd& fd, const std::filesystem::path& path)
      : fd_(fd), path_(path) {}

  absl::Status Add(std::string_view line) {
    buffer_.append(line).append("\n");
    return buffer_.size() >= (256 << 10) ? Flush() : absl::OkStatus();
  }

  absl::Status Flush() {
    absl::Status written = WriteAt(fd_, buffer_, offset_, path_);
    offset_ += buffer_.size();
    buffer_.clear();
    return written;
  }

 private:
  const Fd& fd_;
  const std::filesystem::path& path_;
  std::string buffer_;
  uint64_t offset_ = 0;
};

// The lines of a run, one at a time.
class RunReader {
 public:
  explicit RunReader(const std::filesystem::path& path)
      : file_(std::fopen(path.c_str(), "rbe")) {}
  ~RunReader() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(line_);
  }
  RunReader(const RunReader&) = delete;
  RunReader& operator=(const RunReader&) = delete;

  bool is_open() const { return file_ != nullptr; }
  bool failed() const { return std::ferror(file_) != 0; }
  std::string_view line() const { return {line_, size_}; }

  bool Next() {
    const ssize_t n = getline(&line_, &capacity_, file_);
    size_ = n > 0 ? static_cast<size_t>(n - 1) : 0;
    return n > 0;
  }

 private:
  std::FILE* const file_;
  char* line_ = nullptr;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

}  // namespace

CdxjSorter::CdxjSorter(std::filesystem::path path, size_t memory)
    : path_(std::move(path)), memory_(memory) {}

CdxjSorter::~CdxjSorter() {
  // A file left behind is removed when the archive is next opened.
  for (const auto& run : runs_) Remove(run).IgnoreError();
}

absl::Status CdxjSorter::Add(std::string line) {
  lines_bytes_ += line.size() + kLineOverhead;
  lines_.push_back(std::move(line));
  return lines_bytes_ > memory_ ? Spill() : absl::OkStatus();
}

absl::Status CdxjSorter::Spill() {
  std::filesystem::path run = path_;
  run += fmt::format(".run{}.tmp", runs_.size());
  runs_.push_back(run);
  auto fd = OpenFd(run, O_WRONLY | O_CREAT | O_TRUNC);
  if (!fd.ok()) return fd.status();
  std::sort(lines_.begin(), lines_.end());
  LineWriter writer(*fd, run);
  for (const std::string& line : lines_) {
    if (absl::Status added = writer.Add(line); !added.ok()) return added;
  }
  lines_.clear();
  lines_bytes_ = 0;
  return writer.Flush();
}

absl::Status CdxjSorter::Write() {
  std::filesystem::path temporary = path_;
  temporary += ".tmp";
  absl::Status written = WriteSorted(temporary);
  if (written.ok()) written = Rename(temporary, path_);
  if (!written.ok()) Remove(temporary).IgnoreError();
  return written;
}

absl::Status CdxjSorter::WriteSorted(const std::filesystem::path& to) {
  auto fd = OpenFd(to, O_WRONLY | O_CREAT | O_TRUNC);
  if (!fd.ok()) return fd.status();
  LineWriter writer(*fd, to);
  std::sort(lines_.begin(), lines_.end());

  // A heap of the runs' next lines, the smallest on top.
  std::vector<std::unique_ptr<RunReader>> heap;
  const auto larger = [](const auto& a, const auto& b) {
    return a->line() > b->line();
  };
  for (const auto& run : runs_) {
    auto reader = std::make_unique<RunReader>(run);
    if (!reader->is_open()) return DiskError(errno, "open", run);
    if (reader->Next()) heap.push_back(std::move(reader));
  }
  std::make_heap(heap.begin(), heap.end(), larger);

  auto line = lines_.begin();
  while (line != lines_.end() || !heap.empty()) {
    if (heap.empty() ||
        (line != lines_.end() && *line <= heap.front()->line())) {
      if (absl::Status added = writer.Add(*line++); !added.ok()) return added;
      continue;
    }
    std::pop_heap(heap.begin(), heap.end(), larger);
    RunReader& run = *heap.back();
    if (absl::Status added = writer.Add(run.line()); !added.ok()) return added;
    if (run.Next()) {
      std::push_heap(heap.begin(), heap.end(), larger);
    } else if (run.failed()) {
      return absl::DataLossError("cannot read a temporary file of " +
                                 path_.native());
    } else {
      heap.pop_back();
    }
  }
  if (absl::Status flushed = writer.Flush(); !flushed.ok()) return flushed;
  return SyncData(*fd, to);
}

}  // namespace gannet::storage
