#include "storage/archive/warc_header.h"

#include <algorithm>
#include <array>

#include "absl/time/civil_time.h"
#include "storage/archive/http_message.h"

namespace gannet::storage {
namespace {

constexpr std::array<std::pair<RecordType, std::string_view>, 5> kTypes = {{
    {RecordType::kWarcinfo, "warcinfo"},
    {RecordType::kRequest, "request"},
    {RecordType::kResponse, "response"},
    {RecordType::kRevisit, "revisit"},
    {RecordType::kMetadata, "metadata"},
}};

constexpr std::array<bool, 256> kMayStandInUri = [] {
  std::array<bool, 256> may{};
  for (int c = 0x21; c < 0x7f; ++c) {
    may[static_cast<size_t>(c)] = c != '<' && c != '>' && c != '"';
  }
  return may;
}();

void AppendSafeUri(std::string& out, std::string_view uri) {
  const auto is_safe = [](char c) {
    return kMayStandInUri[static_cast<unsigned char>(c)];
  };
  if (std::all_of(uri.begin(), uri.end(), is_safe)) {  // Nearly always.
    out.append(uri);
    return;
  }
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : uri) {
    if (is_safe(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string_view RecordTypeName(RecordType type) {
  for (const auto& [known, name] : kTypes) {
    if (known == type) return name;
  }
  return "other";
}

RecordType RecordTypeNamed(std::string_view name) {
  for (const auto& [type, known] : kTypes) {
    if (SameName(known, name)) return type;
  }
  return RecordType::kOther;
}

std::string_view WarcHeader::Get(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (SameName(key, name)) return value;
  }
  return {};
}

std::string_view WarcHeader::TargetUri() const {
  std::string_view uri = Get("WARC-Target-URI");
  if (uri.size() >= 2 && uri.front() == '<' && uri.back() == '>') {
    uri = uri.substr(1, uri.size() - 2);
  }
  return uri;
}

void AppendField(std::string& header, std::string_view name,
                 std::string_view value) {
  header.append(name).append(": ");
  const size_t start = header.size();
  header.append(value);
  std::replace_if(header.begin() + static_cast<ptrdiff_t>(start), header.end(),
                  IsControl, ' ');
  header.append("\r\n");
}

void AppendUriField(std::string& header, std::string_view name,
                    std::string_view uri) {
  header.append(name).append(": ");
  AppendSafeUri(header, uri);
  header.append("\r\n");
}

std::string SafeUri(std::string_view uri) {
  std::string safe;
  safe.reserve(uri.size());
  AppendSafeUri(safe, uri);
  return safe;
}

std::string WarcDate(absl::Time time) {
  // By hand: fmt takes ten times as long, and each record has a date or two.
  const absl::CivilSecond s = absl::ToCivilSecond(time, absl::UTCTimeZone());
  std::string date = "0000-00-00T00:00:00Z";
  const auto put = [&date](size_t end, int64_t value, int digits) {
    for (; digits > 0; --digits, value /= 10) {
      date[--end] = static_cast<char>('0' + value % 10);
    }
  };
  put(4, std::clamp<int64_t>(s.year(), 0, 9999), 4);
  put(7, s.month(), 2);
  put(10, s.day(), 2);
  put(13, s.hour(), 2);
  put(16, s.minute(), 2);
  put(19, s.second(), 2);
  return date;
}

std::string Timestamp14(std::string_view warc_date) {
  std::string digits;
  for (const char c : warc_date) {
    if (c >= '0' && c <= '9' && digits.size() < 14) digits += c;
  }
  if (digits.size() < 4) return std::string(14, '0');
  constexpr std::string_view kLowest = "00000101000000";
  digits.append(kLowest.substr(digits.size()));
  return digits;
}

}  // namespace gannet::storage
