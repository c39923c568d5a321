#include "sites/config/config_text.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace gannet::sites {
namespace {

std::vector<std::string> Words(std::string_view key) {
  std::vector<std::string> parts;
  for (size_t dot; (dot = key.find('.')) != std::string_view::npos;) {
    parts.emplace_back(key.substr(0, dot));
    key.remove_prefix(dot + 1);
  }
  parts.emplace_back(key);
  return parts;
}

}  // namespace

std::string ConfigText(const SiteConfig& config) {
  std::string text;
  std::vector<std::string> open;  // The sections around the last key.
  for (const auto& [key, value] : SiteConfigValues(config)) {
    const std::vector<std::string> parts = Words(key);
    size_t depth = 0;
    while (depth < open.size() && depth + 1 < parts.size() &&
           open[depth] == parts[depth]) {
      ++depth;
    }
    open.assign(parts.begin(), parts.end() - 1);
    for (; depth < open.size(); ++depth) {
      text += fmt::format("{:{}}{}:\n", "", 2 * depth, open[depth]);
    }
    text += fmt::format("{:{}}{}: {}\n", "", 2 * depth, parts.back(), value);
  }
  return text;
}

}  // namespace gannet::sites
