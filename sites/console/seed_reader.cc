#include "sites/console/seed_reader.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>

namespace gannet::sites {
namespace {

// A scheme with its slashes; "seeds.txt" and "C:\x" have none.
bool LooksLikeUrl(std::string_view text) {
  return text.find("://") != std::string_view::npos;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

absl::Status SeedReader::ReadLines(std::istream& in, const std::string& name) {
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    std::string_view text = line;
    // Windows editors begin a file so.
    if (number == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    text = Trimmed(text);
    if (text.empty() || text.starts_with('#')) continue;
    absl::Status status = take_line_(text, fmt::format("{}:{}", name, number));
    if (!status.ok()) return status;
  }
  if (in.bad()) {
    return absl::FailedPreconditionError(name + " cannot be read to its end");
  }
  return absl::OkStatus();
}

bool SeedReader::CanBeReadAgain(const std::string& file_or_url) {
  if (file_or_url == "-") return false;
  std::error_code none;
  const auto kind = std::filesystem::status(file_or_url, none).type();
  return kind == std::filesystem::file_type::regular ||
         kind == std::filesystem::file_type::directory ||
         kind == std::filesystem::file_type::not_found;
}

absl::Status SeedReader::Read(const std::string& file_or_url) {
  if (file_or_url == "-") return ReadLines(std::cin, "-");
  std::error_code none;
  const bool exists = std::filesystem::exists(file_or_url, none);
  if (!exists && LooksLikeUrl(file_or_url)) {
    return take_line_(file_or_url, "command line");
  }
  if (!exists) {
    return absl::NotFoundError(fmt::format(
        "'{}' is neither a file nor a URL (https://...)", file_or_url));
  }
  std::ifstream in(file_or_url);
  if (!in || std::filesystem::is_directory(file_or_url, none)) {
    return absl::InvalidArgumentError(
        fmt::format("{} cannot be read; is it a file of yours?", file_or_url));
  }
  return ReadLines(in, file_or_url);
}

}  // namespace gannet::sites
