#include "storage/archive/warc_header.h"

#include <fmt/format.h>

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

bool MayStandInUri(unsigned char c) {
  return c > 0x20 && c < 0x7f && c != '<' && c != '>' && c != '"';
}

void AppendSafeUri(std::string& out, std::string_view uri) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : uri) {
    const auto byte = static_cast<unsigned char>(c);
    if (MayStandInUri(byte)) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
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
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    header += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
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
  const absl::CivilSecond s = absl::ToCivilSecond(time, absl::UTCTimeZone());
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", s.year(),
                     s.month(), s.day(), s.hour(), s.minute(), s.second());
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
