// Which charset a page is in, decided as browsers do (the HTML standard,
// 13.2.3.2): a byte order mark, else the charset of Content-Type, else what
// <meta> or an XML declaration says within the first 1024 bytes; and if nobody
// says: UTF-8 if the bytes are UTF-8, else uchardet's guess, else windows-1252.
// Labels mean what the Encoding Standard says ("latin1" is windows-1252).
//
// Almost every page is UTF-8 or plain ASCII and is passed on as it is, without
// a copy. The others go through iconv; what is not of the charset becomes
// U+FFFD. Nothing here fails. Not thread-safe: one per worker.
#pragma once

#include <iconv.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gannet::jobs {

// The Encoding Standard's name of the encoding, in lower case, as the label
// (whatever its case, blanks around it allowed) means it; empty if it is none
// that we know.
std::string_view EncodingOfLabel(std::string_view label);

// What <meta charset>, <meta http-equiv=content-type> or an XML declaration
// within the first 1024 bytes says: an encoding's name, or empty.
std::string_view PrescanEncoding(std::string_view bytes);

class CharsetDecoder {
 public:
  CharsetDecoder() = default;
  ~CharsetDecoder();
  CharsetDecoder(const CharsetDecoder&) = delete;
  CharsetDecoder& operator=(const CharsetDecoder&) = delete;

  struct Decoded {
    // UTF-8, without a byte order mark: a view of the bytes given, or of this
    // decoder's memory until the next call.
    std::string_view text;
    std::string_view charset;  // Lives for ever.
  };
  // `http_charset`: the label in Content-Type, or empty.
  Decoded Decode(std::string_view bytes, std::string_view http_charset);

 private:
  std::string_view Convert(std::string_view bytes, std::string_view charset);
  void ConvertByIconv(std::string_view bytes, iconv_t converter);
  // -1 if glibc has no such converter.
  iconv_t ConverterOf(std::string_view charset);

  std::string buffer_;
  // By name; a worker meets a handful.
  std::vector<std::pair<std::string_view, iconv_t>> converters_;
};

}  // namespace gannet::jobs
