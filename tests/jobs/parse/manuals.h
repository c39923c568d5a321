// Real HTML: the manuals of Debian's documentation packages.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gannet::jobs {

// The HTML files below `folder`, sorted; none if it does not exist.
inline std::vector<std::filesystem::path> HtmlFilesBelow(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(
           folder, std::filesystem::directory_options::follow_directory_symlink,
           error);
       !error && it != std::filesystem::recursive_directory_iterator();
       it.increment(error)) {
    const auto extension = it->path().extension();
    if (it->is_regular_file(error) &&
        (extension == ".html" || extension == ".htm")) {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::vector<std::filesystem::path> PostgresManual() {
  return HtmlFilesBelow("/usr/share/doc/postgresql-doc-15/html");
}
inline std::vector<std::filesystem::path> LibstdcxxManual() {
  return HtmlFilesBelow("/usr/share/doc/gcc-12-base/libstdc++");
}

inline std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace gannet::jobs
