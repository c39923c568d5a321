// Punycode (RFC 3492): Unicode labels as ASCII. Our own, because libidn2 offers
// it only behind its checks and limits, which are stricter than browsers'
// (idna.h). Quadratic in the label's length: callers bound it.
// Functions only; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gannet::storage {

// The part after "xn--" for `label`.
std::string PunycodeEncode(std::u32string_view label);

// The label for the part after "xn--"; nothing if it is not Punycode.
std::optional<std::u32string> PunycodeDecode(std::string_view encoded);

}  // namespace gannet::storage
