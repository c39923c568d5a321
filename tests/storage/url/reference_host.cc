#include "tests/storage/url/reference_host.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "storage/url/idna.h"
#include "tests/storage/url/reference_url.h"

namespace gannet::storage::reference {
namespace {

std::vector<std::string> Split(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

int Hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsDecimal(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<double> Ipv4Number(std::string text) {
  if (text.empty()) return std::nullopt;
  int radix = 10;
  if (text.size() >= 2 &&
      (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X")) {
    text = text.substr(2);
    radix = 16;
  } else if (text.size() >= 2 && text[0] == '0') {
    text = text.substr(1);
    radix = 8;
  }
  double value = 0;  // Wide enough not to wrap; exact where it matters.
  for (const char c : text) {
    if (Hex(c) < 0 || Hex(c) >= radix) return std::nullopt;
    value = value * radix + Hex(c);
  }
  return value;
}

bool EndsInNumber(const std::string& host) {
  std::vector<std::string> parts = Split(host, '.');
  if (parts.back().empty()) {
    if (parts.size() == 1) return false;
    parts.pop_back();
  }
  return IsDecimal(parts.back()) || Ipv4Number(parts.back()).has_value();
}

std::optional<std::string> Ipv4(const std::string& host) {
  std::vector<std::string> parts = Split(host, '.');
  if (parts.back().empty() && parts.size() > 1) parts.pop_back();
  if (parts.size() > 4) return std::nullopt;
  std::vector<double> numbers;
  for (const std::string& part : parts) {
    const std::optional<double> number = Ipv4Number(part);
    if (!number.has_value()) return std::nullopt;
    numbers.push_back(*number);
  }
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    if (numbers[i] > 255) return std::nullopt;
  }
  if (numbers.back() >= std::pow(256, 5 - static_cast<int>(numbers.size()))) {
    return std::nullopt;
  }
  double address = numbers.back();
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    address += numbers[i] * std::pow(256, 3 - static_cast<int>(i));
  }
  const auto bits = static_cast<uint32_t>(address);
  char text[20];
  std::snprintf(text, sizeof text, "%u.%u.%u.%u", bits >> 24,
                (bits >> 16) & 255, (bits >> 8) & 255, bits & 255);
  return text;
}

// The standard's IPv6 parser, step by step.
std::optional<std::string> Ipv6(const std::string& in) {
  unsigned address[8] = {};
  int piece = 0, compress = -1;
  size_t p = 0;
  const auto c = [&](size_t i) { return i < in.size() ? int{in[i]} : -1; };
  if (c(p) == ':') {
    if (c(p + 1) != ':') return std::nullopt;
    p += 2;
    compress = ++piece;
  }
  while (c(p) != -1) {
    if (piece == 8) return std::nullopt;
    if (c(p) == ':') {
      if (compress != -1) return std::nullopt;
      ++p;
      compress = ++piece;
      continue;
    }
    unsigned value = 0;
    int length = 0;
    while (length < 4 && c(p) != -1 && Hex(in[p]) >= 0) {
      value = value * 16 + static_cast<unsigned>(Hex(in[p]));
      ++p;
      ++length;
    }
    if (c(p) == '.') {
      if (length == 0) return std::nullopt;
      p -= static_cast<size_t>(length);
      if (piece > 6) return std::nullopt;
      int numbers_seen = 0;
      while (c(p) != -1) {
        int part = -1;
        if (numbers_seen > 0) {
          if (c(p) != '.' || numbers_seen >= 4) return std::nullopt;
          ++p;
        }
        if (c(p) < '0' || c(p) > '9') return std::nullopt;
        while (c(p) >= '0' && c(p) <= '9') {
          const int number = c(p) - '0';
          if (part == -1) {
            part = number;
          } else if (part == 0) {
            return std::nullopt;
          } else {
            part = part * 10 + number;
          }
          if (part > 255) return std::nullopt;
          ++p;
        }
        address[piece] = address[piece] * 0x100 + static_cast<unsigned>(part);
        ++numbers_seen;
        if (numbers_seen == 2 || numbers_seen == 4) ++piece;
      }
      if (numbers_seen != 4) return std::nullopt;
      break;
    }
    if (c(p) == ':') {
      ++p;
      if (c(p) == -1) return std::nullopt;
    } else if (c(p) != -1) {
      return std::nullopt;
    }
    address[piece] = value;
    ++piece;
  }
  if (compress != -1) {
    int swaps = piece - compress;
    piece = 7;
    while (piece != 0 && swaps > 0) {
      std::swap(address[piece], address[compress + swaps - 1]);
      --piece;
      --swaps;
    }
  } else if (piece != 8) {
    return std::nullopt;
  }
  int best = -1, best_length = 1;
  for (int i = 0; i < 8; ++i) {
    int run = 0;
    while (i + run < 8 && address[i + run] == 0) ++run;
    if (run > best_length) {
      best = i;
      best_length = run;
    }
  }
  std::string out = "[";
  bool ignore_zero = false;
  for (int i = 0; i < 8; ++i) {
    if (ignore_zero && address[i] == 0) continue;
    ignore_zero = false;
    if (i == best) {
      out += i == 0 ? "::" : ":";
      ignore_zero = true;
      continue;
    }
    char text[8];
    std::snprintf(text, sizeof text, "%x", address[i]);
    out += text;
    if (i != 7) out += ":";
  }
  return out + "]";
}

// RFC 3986, 6.2.2, on one piece without delimiters. A byte stays encoded if,
// decoded, it would form an escape with the bytes before it.
std::string Normalise(const std::string& text) {
  std::string out;
  // How many hex digits follow the last lone '%'; 3: it does not matter.
  int since_lone = 3;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      since_lone = since_lone < 3 && Hex(text[i]) >= 0 ? since_lone + 1 : 3;
      continue;
    }
    if (i + 2 >= text.size() || Hex(text[i + 1]) < 0 || Hex(text[i + 2]) < 0) {
      out += "%";
      since_lone = 0;
      continue;
    }
    const int byte = Hex(text[i + 1]) * 16 + Hex(text[i + 2]);
    i += 2;
    const bool unreserved = (byte >= 'a' && byte <= 'z') ||
                            (byte >= 'A' && byte <= 'Z') ||
                            (byte >= '0' && byte <= '9') || byte == '-' ||
                            byte == '.' || byte == '_' || byte == '~';
    char escape[8];
    std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned>(byte));
    const bool completes = since_lone < 2 && Hex(static_cast<char>(byte)) >= 0;
    out += unreserved && !completes ? std::string(1, static_cast<char>(byte))
                                    : escape;
    since_lone = 3;
  }
  return out;
}

// A short list of parameters that the default rules certainly remove.
bool IsTracking(const std::string& parameter) {
  const std::string name = Lower(parameter.substr(0, parameter.find('=')));
  return name.substr(0, 4) == "utm_" || name == "phpsessid" ||
         name == "jsessionid" || name == "gclid" || name == "fbclid";
}

}  // namespace

std::optional<std::string> RefHost(const std::string& host) {
  if (!host.empty() && host[0] == '[') {
    if (host.back() != ']' || host.size() < 2) return std::nullopt;
    return Ipv6(host.substr(1, host.size() - 2));
  }
  std::string bytes;
  for (size_t i = 0; i < host.size(); ++i) {
    if (host[i] == '%' && i + 2 < host.size() && Hex(host[i + 1]) >= 0 &&
        Hex(host[i + 2]) >= 0) {
      bytes += static_cast<char>(Hex(host[i + 1]) * 16 + Hex(host[i + 2]));
      i += 2;
    } else {
      bytes += host[i];
    }
  }
  std::string domain;
  bool ascii = true;
  for (const char32_t c : RefDecode(bytes)) {
    if (c == 0xFFFD) return std::nullopt;
    ascii = ascii && c < 0x80;
  }
  if (ascii) {
    domain = Lower(bytes);
  } else if (!AppendDomainToAscii(bytes, domain)) {
    return std::nullopt;
  }
  if (domain.empty()) return std::nullopt;
  for (const char c : domain) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte <= 0x20 || byte == 0x7F ||
        std::string("#/:<>?@[\\]^|%").find(c) != std::string::npos) {
      return std::nullopt;
    }
  }
  return EndsInNumber(domain) ? Ipv4(domain) : domain;
}

std::optional<std::string> RefCanonical(const RefUrl& url) {
  RefUrl result = url;
  result.username = result.password = "";
  result.fragment = std::nullopt;
  if (!result.host.empty() && result.host.back() == '.') result.host.pop_back();
  if (result.host[0] != '[') {
    if (result.host.size() > 253) return std::nullopt;
    for (const std::string& label : Split(result.host, '.')) {
      if (label.empty() || label.size() > 63) return std::nullopt;
    }
  }
  std::vector<std::string> path;
  for (size_t i = 0; i < url.path.size(); ++i) {
    const bool last = i + 1 == url.path.size();
    const std::vector<std::string> parts = Split(Normalise(url.path[i]), ';');
    std::string segment = parts[0];
    for (size_t k = 1; k < parts.size(); ++k) {
      const std::string name = Lower(parts[k].substr(0, parts[k].find('=')));
      if (name != "jsessionid" && name != "phpsessid")
        segment += ";" + parts[k];
    }
    if (segment == "." || segment == "..") {
      if (segment == ".." && !path.empty()) path.pop_back();
      if (last) path.emplace_back();
    } else {
      path.push_back(segment);
    }
  }
  result.path = path;
  if (url.query.has_value()) {
    std::string query;
    bool first = true;
    for (const std::string& raw : Split(*url.query, '&')) {
      const std::string parameter = Normalise(raw);
      if (IsTracking(parameter)) continue;
      if (!first) query += "&";
      query += parameter;
      first = false;
    }
    result.query = query;
    if (query.empty()) result.query = std::nullopt;
  }
  return result.Href();
}

}  // namespace gannet::storage::reference
