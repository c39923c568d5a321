#include "jobs/parse/character_reference.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "storage/url/percent.h"

namespace gannet::jobs {
namespace {

struct Named {
  std::string_view name;  // Without the ampersand.
  std::string_view text;
};

constexpr Named kNamed[] = {
#include "jobs/parse/entities.inc"
};
constexpr size_t kLongestName = 32;  // CounterClockwiseContourIntegral;

bool IsAlphanumeric(char c) {
  return storage::IsDigit(c) || storage::IsAlpha(c);
}

// The longest name that `text` starts with; null if there is none.
const Named* FindNamed(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && length < kLongestName &&
         IsAlphanumeric(text[length])) {
    ++length;
  }
  if (length < text.size() && text[length] == ';') ++length;
  for (; length >= 2; --length) {
    const std::string_view name = text.substr(0, length);
    const Named* found = std::lower_bound(
        std::begin(kNamed), std::end(kNamed), name,
        [](const Named& entry, std::string_view n) { return entry.name < n; });
    if (found != std::end(kNamed) && found->name == name) return found;
  }
  return nullptr;
}

// 13.2.5.80: what pages of the nineties meant by &#128; to &#159;.
constexpr char32_t kFromWindows1252[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
    0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

char32_t CodePointOf(char32_t number) {
  if (number == 0 || number > 0x10FFFF ||
      (number >= 0xD800 && number <= 0xDFFF)) {
    return storage::kReplacement;
  }
  if (number >= 0x80 && number <= 0x9F) return kFromWindows1252[number - 0x80];
  return number;
}

// `text` starts behind "&#". Returns how much of it was read; 0 if no number.
size_t AppendNumeric(std::string_view text, std::string& out) {
  size_t at = 0;
  const bool hex = !text.empty() && (text[0] | 0x20) == 'x';
  if (hex) ++at;
  const size_t digits = at;
  char32_t number = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (storage::IsDigit(c)) {
      number = number * (hex ? 16 : 10) + static_cast<char32_t>(c - '0');
    } else if (hex && storage::IsAlpha(c) && (c | 0x20) <= 'f') {
      number = number * 16 + static_cast<char32_t>((c | 0x20) - 'a' + 10);
    } else {
      break;
    }
    number = std::min<char32_t>(number, 0x110000);  // No overflow.
  }
  if (at == digits) return 0;
  if (at < text.size() && text[at] == ';') ++at;
  storage::AppendUtf8(CodePointOf(number), out);
  return at;
}

}  // namespace

void AppendDecodedReferences(std::string_view raw, ReferencePlace place,
                             std::string& out) {
  size_t at = 0;
  while (at < raw.size()) {
    const char c = raw[at];
    if (c == '\r') {
      out.push_back('\n');
      at += at + 1 < raw.size() && raw[at + 1] == '\n' ? 2 : 1;
    } else if (c == '\0') {
      storage::AppendUtf8(storage::kReplacement, out);
      ++at;
    } else if (c == '&' && at + 1 < raw.size()) {
      const std::string_view rest = raw.substr(at + 1);
      if (rest[0] == '#') {
        const size_t used = AppendNumeric(rest.substr(1), out);
        if (used > 0) {
          at += 2 + used;
          continue;
        }
      } else if (storage::IsAlpha(rest[0])) {
        const Named* named = FindNamed(rest);
        if (named != nullptr) {
          const size_t length = named->name.size();
          const bool kept =
              place == ReferencePlace::kAttribute &&
              named->name.back() != ';' && length < rest.size() &&
              (rest[length] == '=' || IsAlphanumeric(rest[length]));
          out.append(kept ? rest.substr(0, length) : named->text);
          if (kept) out.insert(out.size() - length, 1, '&');
          at += 1 + length;
          continue;
        }
      }
      out.push_back('&');
      ++at;
    } else {
      out.push_back(c);
      ++at;
    }
  }
}

std::string_view DecodeReferences(std::string_view raw, ReferencePlace place,
                                  Arena& arena) {
  if (raw.empty() || (memchr(raw.data(), '&', raw.size()) == nullptr &&
                      memchr(raw.data(), '\r', raw.size()) == nullptr &&
                      memchr(raw.data(), '\0', raw.size()) == nullptr)) {
    return raw;
  }
  thread_local std::string decoded;
  decoded.clear();
  AppendDecodedReferences(raw, place, decoded);
  char* copy = static_cast<char*>(arena.Allocate(decoded.size()));
  if (copy == nullptr) return {};
  memcpy(copy, decoded.data(), decoded.size());
  return {copy, decoded.size()};
}

}  // namespace gannet::jobs
