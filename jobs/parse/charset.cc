#include "jobs/parse/charset.h"

#include <uchardet.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "storage/url/percent.h"

namespace gannet::jobs {
namespace {

constexpr std::string_view kUtf8 = "utf-8";
constexpr std::string_view kWindows1252 = "windows-1252";
constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";
constexpr size_t kKeptBytes = size_t{4} << 20;
constexpr size_t kGuessBytes = 8 << 10;

// Where the first byte above 0x7F stands, from `at` on.
size_t FirstNonAscii(std::string_view bytes, size_t at) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (; at + 32 <= bytes.size(); at += 32) {
    uint64_t words[4];
    memcpy(words, bytes.data() + at, 32);
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) break;
  }
  while (at < bytes.size() && static_cast<uint8_t>(bytes[at]) < 0x80) ++at;
  return at;
}

// As storage::IsUtf8, but strides over the ASCII between.
bool IsMostlyAsciiUtf8(std::string_view bytes, size_t at) {
  while ((at = FirstNonAscii(bytes, at)) < bytes.size()) {
    const size_t begin = at;
    if (storage::NextCodePoint(bytes, at) == storage::kReplacement &&
        bytes.substr(begin, at - begin) != kReplacementBytes) {
      return false;
    }
  }
  return true;
}

void AppendRepairedUtf8(std::string_view bytes, std::string& out) {
  size_t at = 0;
  while (at < bytes.size()) {
    const size_t ascii_end = FirstNonAscii(bytes, at);
    out.append(bytes, at, ascii_end - at);
    at = ascii_end;
    if (at < bytes.size()) {
      storage::AppendUtf8(storage::NextCodePoint(bytes, at), out);
    }
  }
}

// The Encoding Standard gives every byte a meaning, which iconv does not.
constexpr char16_t kWindows1252High[32] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
    0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

void AppendFromWindows1252(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80) {
      out.push_back(c);
    } else {
      storage::AppendUtf8(byte < 0xA0 ? kWindows1252High[byte - 0x80] : byte,
                          out);
    }
  }
}

// glibc's name for what the Encoding Standard means by its own.
const char* IconvName(std::string_view charset) {
  struct Pair {
    std::string_view charset;
    const char* iconv;
  };
  static constexpr Pair kPairs[] = {
      {"windows-874", "CP874"},
      {"shift_jis", "CP932"},
      {"euc-jp", "EUC-JP-MS"},
      {"euc-kr", "CP949"},
      {"gbk", "GB18030"},
      {"gb18030", "GB18030"},
      {"big5", "BIG5-HKSCS"},
      {"macintosh", "MACINTOSH"},
      {"x-mac-cyrillic", "MAC-CYRILLIC"},
      {"ibm866", "IBM866"},
      {"windows-1250", "CP1250"},
      {"windows-1251", "CP1251"},
      {"windows-1253", "CP1253"},
      {"windows-1254", "CP1254"},
      {"windows-1255", "CP1255"},
      {"windows-1256", "CP1256"},
      {"windows-1257", "CP1257"},
      {"windows-1258", "CP1258"},
  };
  for (const Pair& pair : kPairs) {
    if (pair.charset == charset) return pair.iconv;
  }
  // The others are their own names, and literals: they end in a NUL.
  return charset.data();
}

bool KeepsAscii(std::string_view charset) {
  return charset.substr(0, 6) != "utf-16" && charset != "iso-2022-jp";
}

std::string_view Guess(std::string_view bytes, size_t first_non_ascii) {
  const std::unique_ptr<uchardet, void (*)(uchardet_t)> detector(
      uchardet_new(), uchardet_delete);
  constexpr size_t kContext = 256;
  const size_t begin =
      first_non_ascii > kContext ? first_non_ascii - kContext : 0;
  const std::string_view sample = bytes.substr(begin, kGuessBytes);
  if (uchardet_handle_data(detector.get(), sample.data(), sample.size()) != 0) {
    return kWindows1252;
  }
  uchardet_data_end(detector.get());
  const std::string_view guess =
      EncodingOfLabel(uchardet_get_charset(detector.get()));
  return guess.empty() || !KeepsAscii(guess) ? kWindows1252 : guess;
}

}  // namespace

CharsetDecoder::~CharsetDecoder() {
  for (const auto& [name, converter] : converters_) {
    if (converter != reinterpret_cast<iconv_t>(-1)) iconv_close(converter);
  }
}

CharsetDecoder::Decoded CharsetDecoder::Decode(std::string_view bytes,
                                               std::string_view http_charset) {
  std::string_view charset;
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF") {
    charset = kUtf8;
    bytes.remove_prefix(3);
  } else if (bytes.substr(0, 2) == "\xFF\xFE") {
    charset = EncodingOfLabel("utf-16le");
    bytes.remove_prefix(2);
  } else if (bytes.substr(0, 2) == "\xFE\xFF") {
    charset = EncodingOfLabel("utf-16be");
    bytes.remove_prefix(2);
  }
  if (charset.empty()) charset = EncodingOfLabel(http_charset);
  if (charset.empty()) charset = PrescanEncoding(bytes);
  if (!charset.empty() && !KeepsAscii(charset)) {
    return {Convert(bytes, charset), charset};
  }
  const size_t first = FirstNonAscii(bytes, 0);
  if (first == bytes.size()) return {bytes, charset.empty() ? kUtf8 : charset};
  if (charset.empty() || charset == kUtf8) {
    if (IsMostlyAsciiUtf8(bytes, first)) return {bytes, kUtf8};
    if (charset.empty()) charset = Guess(bytes, first);
  }
  return {Convert(bytes, charset), charset};
}

std::string_view CharsetDecoder::Convert(std::string_view bytes,
                                         std::string_view charset) {
  if (buffer_.capacity() > kKeptBytes) std::string().swap(buffer_);
  buffer_.clear();
  if (charset == kUtf8) {
    AppendRepairedUtf8(bytes, buffer_);
    return buffer_;
  }
  const iconv_t converter = charset == kWindows1252
                                ? reinterpret_cast<iconv_t>(-1)
                                : ConverterOf(charset);
  if (converter == reinterpret_cast<iconv_t>(-1)) {
    AppendFromWindows1252(bytes, buffer_);
  } else {
    ConvertByIconv(bytes, converter);
  }
  return buffer_;
}

iconv_t CharsetDecoder::ConverterOf(std::string_view charset) {
  for (const auto& [name, converter] : converters_) {
    if (name == charset) return converter;
  }
  converters_.emplace_back(charset, iconv_open("UTF-8", IconvName(charset)));
  return converters_.back().second;
}

void CharsetDecoder::ConvertByIconv(std::string_view bytes, iconv_t converter) {
  iconv(converter, nullptr, nullptr, nullptr, nullptr);  // Its first state.
  char* in = const_cast<char*>(bytes.data());
  size_t in_left = bytes.size();
  size_t made = 0;
  buffer_.resize(bytes.size() + bytes.size() / 2 + 64);
  while (in_left > 0) {
    char* out = buffer_.data() + made;
    size_t room = buffer_.size() - made;
    const size_t result = iconv(converter, &in, &in_left, &out, &room);
    const int error = errno;
    made = buffer_.size() - room;
    if (result != static_cast<size_t>(-1)) break;
    if (room < 64) buffer_.resize(buffer_.size() * 2);
    if (error == E2BIG) continue;
    // Not of the charset (EILSEQ), or cut off at the end (EINVAL): one byte is
    // replaced, and the next may be good.
    memcpy(buffer_.data() + made, kReplacementBytes.data(),
           kReplacementBytes.size());
    made += kReplacementBytes.size();
    if (error == EINVAL) break;
    ++in;
    --in_left;
  }
  buffer_.resize(made);
}

}  // namespace gannet::jobs
