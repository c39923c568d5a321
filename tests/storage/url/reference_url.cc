#include "tests/storage/url/reference_url.h"

#include <cctype>
#include <cstdint>

#include "storage/url/idna.h"
#include "storage/url/percent.h"
#include "tests/storage/url/reference_host.h"

namespace gannet::storage::reference {
namespace {

constexpr char32_t kEof = 0xFFFFFFFF;

std::string Utf8(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) AppendUtf8(c, out);
  return out;
}

bool IsC0OrSpace(char32_t c) { return c <= 0x20; }
bool InC0Set(char32_t c) { return c <= 0x1F || c > 0x7E; }
bool OneOf(char32_t c, std::u32string_view set) {
  return set.find(c) != std::u32string_view::npos;
}
bool InFragmentSet(char32_t c) { return InC0Set(c) || OneOf(c, U" \"<>`"); }
bool InQuerySet(char32_t c) { return InC0Set(c) || OneOf(c, U" \"#<>"); }
bool InSpecialQuerySet(char32_t c) { return InQuerySet(c) || c == '\''; }
bool InPathSet(char32_t c) { return InQuerySet(c) || OneOf(c, U"?^`{}"); }
bool InUserinfoSet(char32_t c) {
  return InPathSet(c) || OneOf(c, U"/:;=@[\\]|");
}

std::string Encode(char32_t c, bool (*in_set)(char32_t)) {
  std::string bytes, out;
  AppendUtf8(c, bytes);
  if (!in_set(c)) return bytes;
  for (const char byte : bytes) {
    constexpr char kHex[] = "0123456789ABCDEF";
    out += '%';
    out += kHex[static_cast<uint8_t>(byte) >> 4];
    out += kHex[static_cast<uint8_t>(byte) & 15];
  }
  return out;
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

bool IsSingleDot(const std::string& segment) {
  const std::string lower = Lower(segment);
  return lower == "." || lower == "%2e";
}

bool IsDoubleDot(const std::string& segment) {
  const std::string lower = Lower(segment);
  return lower == ".." || lower == ".%2e" || lower == "%2e." ||
         lower == "%2e%2e";
}

bool IsAsciiAlpha(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsAsciiDigit(char32_t c) { return c >= '0' && c <= '9'; }

enum class State {
  kSchemeStart,
  kScheme,
  kNoScheme,
  kSpecialRelativeOrAuthority,
  kRelative,
  kRelativeSlash,
  kSpecialAuthoritySlashes,
  kSpecialAuthorityIgnoreSlashes,
  kAuthority,
  kHost,
  kPort,
  kPathStart,
  kPath,
  kQuery,
  kFragment,
};

}  // namespace

std::u32string RefDecode(std::string_view bytes) {
  std::u32string out;
  uint32_t point = 0;
  int needed = 0, seen = 0;
  uint8_t lower = 0x80, upper = 0xBF;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (needed == 0) {
      if (byte <= 0x7F) {
        out += byte;
      } else if (byte >= 0xC2 && byte <= 0xDF) {
        needed = 1;
        point = byte & 0x1F;
      } else if (byte >= 0xE0 && byte <= 0xEF) {
        if (byte == 0xE0) lower = 0xA0;
        if (byte == 0xED) upper = 0x9F;
        needed = 2;
        point = byte & 0xF;
      } else if (byte >= 0xF0 && byte <= 0xF4) {
        if (byte == 0xF0) lower = 0x90;
        if (byte == 0xF4) upper = 0x8F;
        needed = 3;
        point = byte & 0x7;
      } else {
        out += 0xFFFD;
      }
      continue;
    }
    if (byte < lower || byte > upper) {
      point = 0;
      needed = seen = 0;
      lower = 0x80;
      upper = 0xBF;
      out += 0xFFFD;
      --i;  // The byte is read again ("restore" in the standard).
      continue;
    }
    lower = 0x80;
    upper = 0xBF;
    point = (point << 6) | (byte & 0x3F);
    if (++seen == needed) {
      out += point;
      point = 0;
      needed = seen = 0;
    }
  }
  if (needed != 0) out += 0xFFFD;
  return out;
}

RefOutcome RefParse(std::string_view bytes, const RefUrl* base, RefUrl& url) {
  url = RefUrl();
  std::u32string input = RefDecode(bytes);
  while (!input.empty() && IsC0OrSpace(input.front())) input.erase(0, 1);
  while (!input.empty() && IsC0OrSpace(input.back())) input.pop_back();
  std::u32string stripped;
  for (const char32_t c : input) {
    if (!OneOf(c, U"\t\n\r")) stripped += c;
  }
  input = stripped;

  State state = State::kSchemeStart;
  std::u32string buffer;
  bool at_sign_seen = false, inside_brackets = false, password_seen = false;
  std::string segment;  // The path state's buffer, encoded as it grows.
  const auto starts = [&input](size_t i, std::u32string_view text) {
    return input.substr(i, text.size()) == text;
  };
  const auto default_port = [&url] {
    return url.scheme == "http" ? 80u : 443u;
  };

  for (size_t pointer = 0;; ++pointer) {
    const char32_t c = pointer < input.size() ? input[pointer] : kEof;
    const bool ends_authority = c == kEof || OneOf(c, U"/?#\\");
    switch (state) {
      case State::kSchemeStart:
        if (IsAsciiAlpha(c)) {
          buffer += c | 0x20;
          state = State::kScheme;
        } else {
          state = State::kNoScheme;
          --pointer;
        }
        break;
      case State::kScheme:
        if (IsAsciiAlpha(c)) {
          buffer += c | 0x20;
        } else if (IsAsciiDigit(c) || OneOf(c, U"+-.")) {
          buffer += c;
        } else if (c == ':') {
          url.scheme = Utf8(buffer);
          buffer.clear();
          if (url.scheme != "http" && url.scheme != "https") {
            return RefOutcome::kOtherScheme;
          }
          state = base != nullptr && base->scheme == url.scheme
                      ? State::kSpecialRelativeOrAuthority
                      : State::kSpecialAuthoritySlashes;
        } else {
          buffer.clear();
          state = State::kNoScheme;
          pointer = static_cast<size_t>(-1);
        }
        break;
      case State::kNoScheme:
        if (base == nullptr) return RefOutcome::kFailure;
        state = State::kRelative;
        --pointer;
        break;
      case State::kSpecialRelativeOrAuthority:
        if (c == '/' && starts(pointer + 1, U"/")) {
          state = State::kSpecialAuthorityIgnoreSlashes;
          ++pointer;
        } else {
          state = State::kRelative;
          --pointer;
        }
        break;
      case State::kRelative:
        url.scheme = base->scheme;
        if (c == '/' || c == '\\') {
          state = State::kRelativeSlash;
          break;
        }
        url.username = base->username;
        url.password = base->password;
        url.host = base->host;
        url.port = base->port;
        url.path = base->path;
        url.query = base->query;
        if (c == '?') {
          url.query = "";
          state = State::kQuery;
        } else if (c == '#') {
          url.fragment = "";
          state = State::kFragment;
        } else if (c != kEof) {
          url.query = std::nullopt;
          if (!url.path.empty()) url.path.pop_back();
          state = State::kPath;
          --pointer;
        }
        break;
      case State::kRelativeSlash:
        if (c == '/' || c == '\\') {
          state = State::kSpecialAuthorityIgnoreSlashes;
        } else {
          url.username = base->username;
          url.password = base->password;
          url.host = base->host;
          url.port = base->port;
          state = State::kPath;
          --pointer;
        }
        break;
      case State::kSpecialAuthoritySlashes:
        state = State::kSpecialAuthorityIgnoreSlashes;
        if (c == '/' && starts(pointer + 1, U"/")) {
          ++pointer;
        } else {
          --pointer;
        }
        break;
      case State::kSpecialAuthorityIgnoreSlashes:
        if (c != '/' && c != '\\') {
          state = State::kAuthority;
          --pointer;
        }
        break;
      case State::kAuthority:
        if (c == '@') {
          if (at_sign_seen) buffer = U"%40" + buffer;
          at_sign_seen = true;
          for (const char32_t point : buffer) {
            if (point == ':' && !password_seen) {
              password_seen = true;
              continue;
            }
            (password_seen ? url.password : url.username) +=
                Encode(point, InUserinfoSet);
          }
          buffer.clear();
        } else if (ends_authority) {
          if (at_sign_seen && buffer.empty()) return RefOutcome::kFailure;
          pointer -= buffer.size() + 1;
          buffer.clear();
          state = State::kHost;
        } else {
          buffer += c;
        }
        break;
      case State::kHost:
        if ((c == ':' && !inside_brackets) || ends_authority) {
          if (buffer.empty()) return RefOutcome::kFailure;
          const std::optional<std::string> host = RefHost(Utf8(buffer));
          if (!host.has_value()) return RefOutcome::kFailure;
          url.host = *host;
          buffer.clear();
          if (c == ':' && !inside_brackets) {
            state = State::kPort;
          } else {
            state = State::kPathStart;
            --pointer;
          }
        } else {
          if (c == '[') inside_brackets = true;
          if (c == ']') inside_brackets = false;
          buffer += c;
        }
        break;
      case State::kPort:
        if (IsAsciiDigit(c)) {
          buffer += c;
        } else if (ends_authority) {
          if (!buffer.empty()) {
            unsigned port = 0;
            for (const char32_t digit : buffer) {
              port = port * 10 + (digit - '0');
              if (port > 65535) return RefOutcome::kFailure;
            }
            url.port = port;
            if (port == default_port()) url.port = std::nullopt;
            buffer.clear();
          }
          state = State::kPathStart;
          --pointer;
        } else {
          return RefOutcome::kFailure;
        }
        break;
      case State::kPathStart:
        state = State::kPath;
        if (c != '/' && c != '\\') --pointer;
        break;
      case State::kPath:
        if (ends_authority) {
          const bool slash = c == '/' || c == '\\';
          if (IsDoubleDot(segment)) {
            if (!url.path.empty()) url.path.pop_back();
            if (!slash) url.path.emplace_back();
          } else if (IsSingleDot(segment)) {
            if (!slash) url.path.emplace_back();
          } else {
            url.path.push_back(segment);
          }
          segment.clear();
          if (c == '?') {
            url.query = "";
            state = State::kQuery;
          } else if (c == '#') {
            url.fragment = "";
            state = State::kFragment;
          }
        } else {
          segment += Encode(c, InPathSet);
        }
        break;
      case State::kQuery:
        if (c == '#') {
          url.fragment = "";
          state = State::kFragment;
        } else if (c != kEof) {
          *url.query += Encode(c, InSpecialQuerySet);
        }
        break;
      case State::kFragment:
        if (c != kEof) *url.fragment += Encode(c, InFragmentSet);
        break;
    }
    // A state that has decreased the pointer at the end must see the end again.
    if (pointer != static_cast<size_t>(-1) && pointer >= input.size() &&
        c == kEof) {
      return RefOutcome::kOk;
    }
  }
}

std::string RefUrl::Href() const {
  std::string out = scheme + "://";
  if (!username.empty() || !password.empty()) {
    out += username;
    if (!password.empty()) out += ":" + password;
    out += "@";
  }
  out += host;
  if (port.has_value()) out += ":" + std::to_string(*port);
  for (const std::string& piece : path) out += "/" + piece;
  if (query.has_value()) out += "?" + *query;
  if (fragment.has_value()) out += "#" + *fragment;
  return out;
}

}  // namespace gannet::storage::reference
