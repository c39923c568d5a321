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

absl::StatusOr<std::unique_ptr<SeedReader>> SeedReader::Create(
    const SiteConfig& config, TakeSeed take_seed, TakeBad take_bad) {
  auto canonicaliser = storage::Canonicaliser::Create(CanonicalRulesOf(config));
  if (!canonicaliser.ok()) return canonicaliser.status();
  auto filter =
      storage::UrlFilter::Create(FilterRulesOf(config), *canonicaliser);
  if (!filter.ok()) return filter.status();
  return std::unique_ptr<SeedReader>(
      new SeedReader(*std::move(canonicaliser), *std::move(filter),
                     std::move(take_seed), std::move(take_bad)));
}

SeedReader::SeedReader(storage::Canonicaliser canonicaliser,
                       std::unique_ptr<storage::UrlFilter> filter,
                       TakeSeed take_seed, TakeBad take_bad)
    : canonicaliser_(std::move(canonicaliser)),
      filter_(std::move(filter)),
      take_seed_(std::move(take_seed)),
      take_bad_(std::move(take_bad)) {}

absl::Status SeedReader::TakeUrl(std::string_view text,
                                 const std::string& where) {
  storage::Url url;
  const storage::UrlOutcome outcome =
      canonicaliser_.Canonicalise(text, nullptr, url);
  if (outcome != storage::UrlOutcome::kOk) {
    if (text.size() > 200) text = text.substr(0, 200);
    take_bad_(where, fmt::format("'{}' is no http or https URL ({})", text,
                                 storage::UrlOutcomeName(outcome)));
    return absl::OkStatus();
  }
  const storage::UrlVerdict verdict = filter_->Judge(url);
  if (verdict != storage::UrlVerdict::kAllowed) {
    const std::string_view href = url.href();
    take_bad_(where, fmt::format("{} is filtered out ({})", href.substr(0, 200),
                                 storage::UrlVerdictName(verdict)));
    return absl::OkStatus();
  }
  return take_seed_(storage::PageKeyOf(url));
}

absl::Status SeedReader::ReadLines(std::istream& in, const std::string& name) {
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    std::string_view text = line;
    // Windows editors begin a file so.
    if (number == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    text = Trimmed(text);
    if (text.empty() || text.starts_with('#')) continue;
    absl::Status status = TakeUrl(text, fmt::format("{}:{}", name, number));
    if (!status.ok()) return status;
  }
  if (in.bad()) {
    return absl::FailedPreconditionError(name + " cannot be read to its end");
  }
  return absl::OkStatus();
}

absl::Status SeedReader::Read(const std::string& file_or_url) {
  if (file_or_url == "-") return ReadLines(std::cin, "-");
  std::error_code none;
  const bool exists = std::filesystem::exists(file_or_url, none);
  if (!exists && LooksLikeUrl(file_or_url)) {
    return TakeUrl(file_or_url, "command line");
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
