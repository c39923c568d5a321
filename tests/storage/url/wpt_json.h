// Reads the JSON of web-platform-tests, some of whose strings are not Unicode.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gannet::storage {

// The JSON reader refuses the whole file if a string has a lone surrogate,
// which UTF-8 cannot hold (so pages never have one). So these are replaced by
// U+FFFD first, as browsers do.
inline std::string ReplaceLoneSurrogates(std::string text) {
  const auto hex4 = [&text](size_t i) -> std::optional<unsigned> {
    if (i + 6 > text.size() || text[i] != '\\' || text[i + 1] != 'u') {
      return std::nullopt;
    }
    return static_cast<unsigned>(
        std::stoul(text.substr(i + 2, 4), nullptr, 16));
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') continue;
    const std::optional<unsigned> unit = hex4(i);
    if (!unit.has_value()) {
      ++i;  // Another escape: skip its second character.
      continue;
    }
    if (*unit >= 0xD800 && *unit <= 0xDBFF) {
      const std::optional<unsigned> low = hex4(i + 6);
      if (low.has_value() && *low >= 0xDC00 && *low <= 0xDFFF) {
        i += 11;
        continue;
      }
    }
    if (*unit >= 0xD800 && *unit <= 0xDFFF) text.replace(i, 6, "\\uFFFD");
    i += 5;
  }
  return text;
}

inline nlohmann::json ParseWptJson(const std::string& bytes) {
  return nlohmann::json::parse(ReplaceLoneSurrogates(bytes));
}

}  // namespace gannet::storage
