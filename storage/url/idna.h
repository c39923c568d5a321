// International host names, as browsers turn them into ASCII: UTS 46,
// non-transitional, CheckHyphens, UseSTD3ASCIIRules and VerifyDnsLength off,
// CheckBidi and CheckJoiners on (https://url.spec.whatwg.org/#idna).
//
// libidn2 does the mapping and the checks, but it answers a narrower question:
// it adds the rules of IDNA2008 (no symbols, so no https://i❤.example/; no "--"
// in third place; 63 bytes a label) and its tables are some years old. So a
// label goes to it in disguise: each code point that UTS 46 allows and libidn2
// does not is replaced by one that both allow and that nothing combines with;
// in the answer it is put back. Linking ICU instead was rejected: 30 MB for the
// one host in thousands that is not ASCII.
//
// Departures that remain (README.md counts them): right-to-left symbols newer
// than libidn2 are refused, and a disguised character counts as neutral in the
// bidirectional rule. Functions only; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gannet::storage {

// Longer international names are refused: DNS ends at 253 bytes, and the work
// is quadratic.
inline constexpr size_t kMaxInternationalHostBytes = 1024;

// Appends the ASCII form of `domain`. False if UTS 46 refuses it. The caller
// checks the result for forbidden code points.
// REQUIRES: `domain` is UTF-8 and not all ASCII (ASCII needs only lower case).
bool AppendDomainToAscii(std::string_view domain, std::string& out);

// True for code points that UTS 46 allows unchanged and libidn2 refuses.
bool IsSymbolUnknownToLibidn2(char32_t code_point);

}  // namespace gannet::storage
