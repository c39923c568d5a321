#include "storage/archive/archive_name.h"

#include <fmt/format.h>

#include <charconv>

#include "absl/time/civil_time.h"

namespace gannet::storage {
namespace {

constexpr std::string_view kPrefixLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
constexpr std::string_view kSiteLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

bool IsMadeOf(std::string_view text, std::string_view letters) {
  return !text.empty() &&
         text.find_first_not_of(letters) == std::string_view::npos;
}

// Takes what stands before the next "-" off `rest`.
std::string_view TakePart(std::string_view& rest) {
  const size_t dash = rest.find('-');
  const std::string_view part = rest.substr(0, dash);
  rest.remove_prefix(dash == std::string_view::npos ? rest.size() : dash + 1);
  return part;
}

std::optional<ArchiveName::Kind> TakeKind(std::string_view& name) {
  using Kind = ArchiveName::Kind;
  const auto take = [&name](std::string_view suffix) {
    if (!name.ends_with(suffix)) return false;
    name.remove_suffix(suffix.size());
    return true;
  };
  if (take(kOpenSuffix)) {
    return take(kWarcSuffix) ? std::optional(Kind::kOpen) : std::nullopt;
  }
  if (take(kWarcSuffix)) return Kind::kFinished;
  if (take(kReleasedSuffix)) return Kind::kReleased;
  if (take(kCdxjSuffix)) return Kind::kCdxj;
  if (take(".tmp")) {
    const size_t index = name.rfind(kCdxjSuffix);
    if (index == std::string_view::npos) return std::nullopt;
    name = name.substr(0, index);
    return Kind::kTemporary;
  }
  return std::nullopt;
}

}  // namespace

std::string Digits(FileNumber number) {
  return fmt::format("{:05}", static_cast<uint32_t>(number));
}

std::string ArchiveBaseName(std::string_view prefix, absl::Time created,
                            FileNumber number, std::string_view site) {
  const absl::CivilSecond s = absl::ToCivilSecond(created, absl::UTCTimeZone());
  return fmt::format("{}-{:04}{:02}{:02}{:02}{:02}{:02}-{}-{}", prefix,
                     s.year(), s.month(), s.day(), s.hour(), s.minute(),
                     s.second(), Digits(number), site);
}

std::optional<ArchiveName> ParseArchiveName(std::string_view filename) {
  const auto kind = TakeKind(filename);
  if (!kind.has_value()) return std::nullopt;
  std::string_view rest = filename;
  const std::string_view prefix = TakePart(rest);
  const std::string_view time = TakePart(rest);
  const std::string_view digits = TakePart(rest);
  const std::string_view site = rest;
  constexpr std::string_view kDigits = "0123456789";
  if (!IsMadeOf(prefix, kPrefixLetters) || !IsMadeOf(site, kSiteLetters) ||
      !IsMadeOf(time, kDigits) || time.size() != 14 ||
      !IsMadeOf(digits, kDigits) || digits.size() < 5) {
    return std::nullopt;
  }
  uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc()) return std::nullopt;
  return ArchiveName{std::string(filename), FileNumber{number}, *kind};
}

absl::Status CheckNameParts(std::string_view prefix, std::string_view site) {
  if (!IsMadeOf(prefix, kPrefixLetters)) {
    return absl::InvalidArgumentError(fmt::format(
        "archive prefix '{}': use letters, digits, _ and .", prefix));
  }
  if (!IsMadeOf(site, kSiteLetters)) {
    return absl::InvalidArgumentError(
        fmt::format("site name '{}': use letters, digits, _, . and -", site));
  }
  return absl::OkStatus();
}

}  // namespace gannet::storage
