#include "storage/archive/cdxj_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <queue>

#include "storage/archive/archive_name.h"
#include "storage/archive/cdxj.h"
#include "storage/archive/disk.h"

namespace gannet::storage {
namespace {

namespace fs = std::filesystem;

// Far below the usual 1,024 open files.
constexpr size_t kMostAtOnce = 200;

struct Source {
  std::ifstream in;
  std::string line;
};

absl::Status Merge(const std::vector<fs::path>& files,
                   const std::function<bool(std::string_view)>& visit) {
  std::vector<std::unique_ptr<Source>> sources;
  const auto later = [&](size_t a, size_t b) {
    const int order = sources[a]->line.compare(sources[b]->line);
    return order != 0 ? order > 0 : a > b;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> next(later);
  for (const fs::path& file : files) {
    sources.push_back(std::make_unique<Source>());
    sources.back()->in.open(file);
    if (!sources.back()->in) {
      return absl::FailedPreconditionError(
          fmt::format("cannot read {}", file.string()));
    }
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    if (std::getline(sources[i]->in, sources[i]->line)) next.push(i);
  }
  while (!next.empty()) {
    const size_t i = next.top();
    next.pop();
    if (!visit(sources[i]->line)) return absl::OkStatus();
    if (std::getline(sources[i]->in, sources[i]->line)) next.push(i);
  }
  return absl::OkStatus();
}

// Finished and released files have their index; for one still being written it
// is made in `scratch`. kNotFound if a file was finished meanwhile.
absl::StatusOr<std::vector<fs::path>> Indexes(const fs::path& folder,
                                              const fs::path& scratch,
                                              const WholeBytes& whole_bytes) {
  // By base names, because a file that is just being finished has both
  // suffixes.
  std::map<std::string, fs::path> ready, being_written;
  std::map<std::string, uint64_t> lengths;
  const auto files = ListFolder(folder);
  if (!files.ok()) {
    return absl::FailedPreconditionError(files.status().message());
  }
  for (const fs::path& file : *files) {
    const auto name = ParseArchiveName(file.filename().string());
    if (!name.has_value()) continue;
    if (name->kind == ArchiveName::Kind::kCdxj) {
      ready[name->base] = file;
    } else if (name->kind == ArchiveName::Kind::kOpen) {
      const std::optional<uint64_t> length = whole_bytes(name->number);
      if (!length.has_value()) continue;
      being_written[name->base] = file;
      lengths[name->base] = *length;
    }
  }
  for (const auto& [base, file] : being_written) {
    if (ready.contains(base)) continue;
    const fs::path made = scratch / (base + std::string(kCdxjSuffix));
    absl::Status s = RebuildCdxj(file, made, 16 << 20, lengths[base]);
    if (!s.ok()) {
      std::error_code none;
      return fs::exists(file, none) ? s : absl::NotFoundError(s.message());
    }
    ready[base] = made;
  }
  std::vector<fs::path> indexes;
  for (auto& [base, file] : ready) indexes.push_back(std::move(file));
  std::sort(indexes.begin(), indexes.end());
  return indexes;
}

}  // namespace

absl::Status ForEachCdxjLine(
    const fs::path& archive_folder, const fs::path& scratch,
    const WholeBytes& whole_bytes,
    const std::function<bool(std::string_view)>& visit) {
  absl::StatusOr<std::vector<fs::path>> files =
      Indexes(archive_folder, scratch, whole_bytes);
  for (int again = 0; again < 3 && absl::IsNotFound(files.status()); ++again) {
    files = Indexes(archive_folder, scratch, whole_bytes);
  }
  if (!files.ok()) return files.status();
  // If there are too many, two hundred at a time are merged first.
  for (int made = 0; files->size() > kMostAtOnce; ++made) {
    const std::vector<fs::path> part(files->begin(),
                                     files->begin() + kMostAtOnce);
    const fs::path merged = scratch / fmt::format("merged-{}", made);
    std::ofstream out(merged);
    absl::Status s = Merge(part, [&](std::string_view line) {
      out << line << '\n';
      return out.good();
    });
    if (!s.ok()) return s;
    out.close();
    if (!out) {
      return absl::ResourceExhaustedError(
          fmt::format("cannot write {}; is the disk full?", merged.string()));
    }
    files->erase(files->begin(), files->begin() + kMostAtOnce);
    files->push_back(merged);
  }
  return Merge(*files, visit);
}

}  // namespace gannet::storage
