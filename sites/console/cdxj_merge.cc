#include "sites/console/cdxj_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <queue>

#include "storage/archive/archive_name.h"
#include "storage/archive/cdxj.h"

namespace gannet::sites {
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
// is made in `scratch`.
absl::StatusOr<std::vector<fs::path>> Indexes(const fs::path& folder,
                                              const fs::path& scratch) {
  std::vector<fs::path> indexes;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    const auto name =
        storage::ParseArchiveName(file.path().filename().string());
    if (!name.has_value()) continue;
    if (name->kind == storage::ArchiveName::Kind::kCdxj) {
      indexes.push_back(file.path());
    } else if (name->kind == storage::ArchiveName::Kind::kOpen) {
      const fs::path made =
          scratch / (name->base + std::string(storage::kCdxjSuffix));
      absl::Status s = storage::RebuildCdxj(file.path(), made);
      if (!s.ok()) return s;
      indexes.push_back(made);
    }
  }
  if (error) {
    return absl::FailedPreconditionError(
        fmt::format("cannot read {}: {}", folder.string(), error.message()));
  }
  std::sort(indexes.begin(), indexes.end());
  return indexes;
}

}  // namespace

absl::Status ForEachCdxjLine(
    const fs::path& archive_folder, const fs::path& scratch,
    const std::function<bool(std::string_view)>& visit) {
  absl::StatusOr<std::vector<fs::path>> files =
      Indexes(archive_folder, scratch);
  if (!files.ok()) return files.status();
  // Too many are merged by the two hundred first.
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

}  // namespace gannet::sites
