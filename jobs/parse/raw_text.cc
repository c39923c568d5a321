#include "jobs/parse/raw_text.h"

#include <cstdint>
#include <cstring>

#include "jobs/parse/html_tag.h"

namespace gannet::jobs {
namespace {

const char* Find(const char* at, const char* end, char c) {
  const auto* found =
      static_cast<const char*>(memchr(at, c, static_cast<size_t>(end - at)));
  return found == nullptr ? end : found;
}

// True if `name`, whatever its case, and then a blank, '/' or '>' stand at
// `at`.
bool IsWholeName(const char* at, const char* end, std::string_view name) {
  if (static_cast<size_t>(end - at) <= name.size()) return false;
  for (const char c : name) {
    if (kNameBytes[static_cast<uint8_t>(*at++)] != static_cast<uint8_t>(c)) {
      return false;
    }
  }
  return kNameBytes[static_cast<uint8_t>(*at)] == 0;
}

}  // namespace

const char* EndOfComment(const char* at, const char* end) {
  const char* const begin = at;
  for (; (at = Find(at, end, '>')) != end; ++at) {
    const auto length = at - begin;
    if (length == 0 || (length == 1 && begin[0] == '-')) return at + 1;
    if (length >= 2 && at[-1] == '-' && at[-2] == '-') return at + 1;
    if (length >= 3 && at[-1] == '!' && at[-2] == '-' && at[-3] == '-') {
      return at + 1;
    }
  }
  return end;
}

const char* EndOfRawText(const char* at, const char* end,
                         std::string_view name) {
  for (; (at = Find(at, end, '<')) != end; ++at) {
    if (end - at > 2 && at[1] == '/' && IsWholeName(at + 2, end, name)) {
      return at;
    }
  }
  return end;
}

const char* EndOfScript(const char* at, const char* end) {
  constexpr std::string_view kScript = "script";
  enum { kData, kEscaped, kDoubleEscaped } state = kData;
  // In the escaped states, how many dashes stand right before `at`; "-->" ends
  // them, and the dashes of "<!--" count.
  int dashes = 0;
  while (at < end) {
    if (state == kData) {
      at = Find(at, end, '<');
      if (at == end) break;
      if (end - at > 2 && at[1] == '/' && IsWholeName(at + 2, end, kScript)) {
        return at;
      }
      if (end - at >= 4 && memcmp(at, "<!--", 4) == 0) {
        state = kEscaped;
        dashes = 2;
        at += 4;
      } else {
        ++at;
      }
      continue;
    }
    const char c = *at;
    if (c == '-') {
      ++dashes;
      ++at;
      continue;
    }
    if (c == '>' && dashes >= 2) state = kData;
    dashes = 0;
    if (c == '<') {
      const bool is_end = end - at > 1 && at[1] == '/';
      const char* const name = at + (is_end ? 2 : 1);
      if (name < end && IsWholeName(name, end, kScript)) {
        if (state == kEscaped && is_end) return at;
        if (state == kEscaped) {
          state = kDoubleEscaped;
          at = name + kScript.size() + 1;
          continue;
        }
        if (state == kDoubleEscaped && is_end) {
          state = kEscaped;
          at = name + kScript.size() + 1;
          continue;
        }
      }
    }
    ++at;
  }
  return end;
}

}  // namespace gannet::jobs
