#include "sites/dashboard/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "storage/url/percent.h"

namespace gannet::sites {
namespace {

absl::StatusOr<std::string> Decode(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || !storage::IsHexDigit(text[i + 1]) ||
        !storage::IsHexDigit(text[i + 2])) {
      return absl::InvalidArgumentError(
          "the query has a % that two hex digits do not follow");
    }
  }
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  std::string decoded;
  storage::AppendDecoded(spaced, decoded);
  if (!storage::IsUtf8(decoded)) {
    return absl::InvalidArgumentError("the query is not UTF-8");
  }
  return decoded;
}

}  // namespace

absl::StatusOr<Query> Query::Parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    auto key = Decode(pair.substr(0, equals));
    auto value =
        Decode(equals == std::string_view::npos ? std::string_view()
                                                : pair.substr(equals + 1));
    if (!key.ok()) return key.status();
    if (!value.ok()) return value.status();
    if (!query.values_.emplace(*key, *std::move(value)).second) {
      return absl::InvalidArgumentError(
          fmt::format("'{}' is there twice", *key));
    }
  }
  return query;
}

absl::Status Query::HasOnly(const std::set<std::string>& keys) const {
  for (const auto& [key, value] : values_) {
    if (keys.count(key) > 0) continue;
    std::string known;
    for (const std::string& one : keys) {
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", one);
    }
    return absl::InvalidArgumentError(
        fmt::format("unknown parameter '{}'; {}", key,
                    known.empty() ? "none is allowed" : "allowed: " + known));
  }
  return absl::OkStatus();
}

std::string Query::Text(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string() : found->second;
}

absl::StatusOr<uint64_t> Query::Number(const std::string& key,
                                       uint64_t otherwise, uint64_t least,
                                       uint64_t most) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  const std::string& text = found->second;
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end ||
      number < least || number > most) {
    return absl::InvalidArgumentError(fmt::format(
        "{}='{}' is not a number from {} to {}", key, text, least, most));
  }
  return number;
}

}  // namespace gannet::sites
