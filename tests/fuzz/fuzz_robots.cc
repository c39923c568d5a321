// Any bytes as a robots.txt and as a path: nothing may crash, the verdict must
// name a line of the file, and the matcher must agree with the slow one. Input:
// a path, a newline, the file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "jobs/fetch/robots.h"
#include "tests/jobs/fetch/robots_reference.h"

namespace {

using gannet::jobs::RobotsRules;

void Require(bool holds, const char* what, const std::string& detail) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

// Whether all bytes are matched literally by both matchers.
bool IsPlain(std::string_view text, std::string_view special) {
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f || c == '%' || c == '#') return false;
    if (special.find(c) != special.npos) return false;
  }
  return true;
}

// Compares the matchers on the path and the file's first line as a pattern.
void CheckMatch(std::string_view path, std::string_view pattern) {
  const bool dollar_inside =
      pattern.substr(0, pattern.size() - 1).find('$') != pattern.npos;
  if (pattern.empty() || !path.starts_with('/') || !IsPlain(path, "*$") ||
      !IsPlain(pattern, "") || dollar_inside) {
    return;
  }
  const auto rules = RobotsRules::Parse(
      "User-agent: *\nDisallow: " + std::string(pattern) + "\n", "gannet");
  Require(rules.Judge(path).allowed !=
              gannet::jobs::reference::Matches(pattern, path),
          "judge differs", std::string(path) + " " + std::string(pattern));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;  // The slow matcher is quadratic.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t newline = input.find('\n');
  const std::string_view path = input.substr(0, newline);
  const std::string_view file =
      newline == input.npos ? std::string_view() : input.substr(newline + 1);
  const RobotsRules rules = RobotsRules::Parse(file, "gannet/1.0");
  const RobotsRules::Verdict verdict = rules.Judge(path);
  Require(verdict.allowed || !verdict.rule.empty(), "denied by no rule",
          std::string(path));
  Require(verdict.rule.empty() == (verdict.line == 0), "line of a rule",
          std::string(verdict.rule));
  Require(file.find(verdict.rule) != file.npos, "a rule not in the file",
          std::string(verdict.rule));
  Require(!rules.crawl_delay().has_value() ||
              (*rules.crawl_delay() >= absl::ZeroDuration() &&
               *rules.crawl_delay() < absl::InfiniteDuration()),
          "crawl delay", std::string(file));
  CheckMatch(path, file.substr(0, file.find('\n')));
  return 0;
}
