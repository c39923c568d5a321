// The labels of the Encoding Standard (https://encoding.spec.whatwg.org/) that
// pages use, by encoding.
#include <string_view>

#include "jobs/parse/charset.h"
#include "jobs/parse/html_facts.h"
#include "storage/archive/http_message.h"

namespace gannet::jobs {
namespace {

struct Encoding {
  std::string_view name;
  std::string_view labels;  // More of them, separated by blanks.
};

constexpr Encoding kEncodings[] = {
    {"utf-8",
     "utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"},
    {"windows-1252",
     "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 "
     "iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 "
     "us-ascii x-cp1252 x-user-defined"},
    {"windows-1251", "cp1251 x-cp1251"},
    {"windows-1250", "cp1250 x-cp1250"},
    {"windows-1253", "cp1253 x-cp1253"},
    {"windows-1254",
     "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
     "iso_8859-9:1989 l5 latin5 x-cp1254"},
    {"windows-1255", "cp1255 x-cp1255"},
    {"windows-1256", "cp1256 x-cp1256"},
    {"windows-1257", "cp1257 x-cp1257"},
    {"windows-1258", "cp1258 x-cp1258"},
    {"windows-874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 tis620"},
    {"iso-8859-2",
     "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 l2 latin2"},
    {"iso-8859-3", "csisolatin3 iso8859-3 iso88593 iso_8859-3 l3 latin3"},
    {"iso-8859-4", "csisolatin4 iso8859-4 iso88594 iso_8859-4 l4 latin4"},
    {"iso-8859-5", "csisolatincyrillic cyrillic iso8859-5 iso88595 iso_8859-5"},
    {"iso-8859-6",
     "arabic asmo-708 csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
     "iso8859-6 iso88596 iso_8859-6"},
    {"iso-8859-7",
     "csisolatingreek ecma-118 elot_928 greek greek8 iso8859-7 iso88597 "
     "iso_8859-7 sun_eu_greek"},
    {"iso-8859-8",
     "csisolatinhebrew hebrew iso-8859-8-e iso8859-8 iso88598 iso_8859-8 "
     "visual iso-8859-8-i logical"},
    {"iso-8859-10", "csisolatin6 iso8859-10 iso885910 l6 latin6"},
    {"iso-8859-13", "iso8859-13 iso885913"},
    {"iso-8859-14", "iso8859-14 iso885914"},
    {"iso-8859-15", "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"},
    {"iso-8859-16", ""},
    {"koi8-r", "cskoi8r koi koi8 koi8_r"},
    {"koi8-u", "koi8-ru"},
    {"ibm866", "866 cp866 csibm866"},
    {"macintosh", "csmacintosh mac x-mac-roman"},
    {"x-mac-cyrillic", "x-mac-ukrainian mac-cyrillic"},
    {"gbk",
     "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 "
     "x-gbk cp936"},
    {"gb18030", ""},
    {"big5", "big5-hkscs cn-big5 csbig5 x-x-big5"},
    {"euc-jp", "cseucpkdfmtjapanese x-euc-jp"},
    {"iso-2022-jp", "csiso2022jp"},
    {"shift_jis",
     "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis cp932"},
    {"euc-kr",
     "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 "
     "ksc5601 ksc_5601 windows-949 uhc cp949"},
    {"utf-16be", "unicodefffe"},
    {"utf-16le", "utf-16 csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"},
};

}  // namespace

std::string_view EncodingOfLabel(std::string_view label) {
  while (!label.empty() && IsHtmlBlank(label.front())) label.remove_prefix(1);
  while (!label.empty() && IsHtmlBlank(label.back())) label.remove_suffix(1);
  if (label.empty()) return {};
  for (const Encoding& encoding : kEncodings) {
    if (storage::SameName(encoding.name, label)) return encoding.name;
  }
  for (const Encoding& encoding : kEncodings) {
    std::string_view rest = encoding.labels;
    while (!rest.empty()) {
      const size_t blank = rest.find(' ');
      if (storage::SameName(rest.substr(0, blank), label)) return encoding.name;
      rest = blank == rest.npos ? std::string_view() : rest.substr(blank + 1);
    }
  }
  return {};
}

}  // namespace gannet::jobs
