#include "storage/url/idna.h"

#include <idn2.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "storage/url/percent.h"
#include "storage/url/punycode.h"

namespace gannet::storage {
namespace {

// The disguise: valid for both sides, of neutral direction, and born by
// normalisation only from '>' and U+0338, which no real host name holds (one
// that does and needs a disguise as well is refused).
constexpr char32_t kStandIn = 0x226F;

// UTS 46 label lengths past this are shortened in disguise: libidn2 stops
// at 63.
constexpr size_t kLongLabel = 40;

bool IsAscii(std::u32string_view label) {
  return std::all_of(label.begin(), label.end(),
                     [](char32_t c) { return c < 0x80; });
}

bool IsAsciiPlain(char32_t c) {
  return c < 0x80 && (IsAlpha(static_cast<char>(c)) ||
                      IsDigit(static_cast<char>(c)) || c == '-');
}

// What UTS 46 changed after libidn2's tables were made (Unicode 15.1 and 16):
// nothing if the code point is unchanged, zero if it is now ignored.
std::optional<char32_t> NewerMapping(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 0x20;
  switch (c) {
    case 0x3002:  // The three other full stops.
    case 0xFF0E:
    case 0xFF61:
      return '.';
    case 0x1E9E:
      return 0xDF;
    case 0x04C0:
      return 0x04CF;
    case 0x2132:
      return 0x214E;
    case 0x2183:
      return 0x2184;
    case 0x10C7:
      return 0x2D27;
    case 0x10CD:
      return 0x2D2D;
    case 0x2F868:  // Five ideographs that Unicode 4 had normalised wrongly.
      return 0x36FC;
    case 0x2F874:
      return 0x5F53;
    case 0x2F91F:
      return 0x243AB;
    case 0x2F95F:
      return 0x7AEE;
    case 0x2F9BF:
      return 0x45D7;
    case 0x115F:  // Fillers, invisible vowels.
    case 0x1160:
    case 0x17B4:
    case 0x17B5:
    case 0x180E:
    case 0x3164:
    case 0xFFA0:
      return 0;
    default:
      break;
  }
  if (c >= 0x10A0 && c <= 0x10C5) return c - 0x10A0 + 0x2D00;  // Georgian.
  if (c >= 0x206A && c <= 0x206F) return 0;
  return std::nullopt;
}

// A label on its way through libidn2.
struct Label {
  std::u32string disguised;
  std::vector<std::u32string> originals;  // One for each kStandIn, in order.
  std::optional<std::u32string> must_become;  // Set for a label that was xn--.
};

Label Disguise(std::u32string_view label) {
  Label result;
  const bool shorten = label.size() > kLongLabel;
  for (size_t i = 0; i < label.size(); ++i) {
    size_t end = i + 1;
    if (shorten) {
      // The last of a plain run stays: a mark that follows may combine with it.
      while (end + 1 < label.size() && IsAsciiPlain(label[i]) &&
             IsAsciiPlain(label[end]) && IsAsciiPlain(label[end + 1])) {
        ++end;
      }
    }
    // The one mark that combines with symbols must find the real one.
    const bool struck = end < label.size() && label[end] == 0x0338;
    if (end > i + 1 || label[i] == '-' || label[i] == kStandIn ||
        (IsSymbolUnknownToLibidn2(label[i]) && !struck)) {
      result.originals.emplace_back(label.substr(i, end - i));
      result.disguised += kStandIn;
      i = end - 1;
    } else {
      result.disguised += label[i];
    }
  }
  return result;
}

std::optional<std::u32string> Undisguise(std::string_view answer,
                                         const Label& label) {
  std::u32string text;
  if (answer.substr(0, 4) == "xn--") {
    std::optional<std::u32string> decoded = PunycodeDecode(answer.substr(4));
    if (!decoded.has_value()) return std::nullopt;
    text = *std::move(decoded);
  } else {
    text.assign(answer.begin(), answer.end());
  }
  if (label.originals.empty()) return text;
  std::u32string result;
  size_t used = 0;
  for (const char32_t c : text) {
    if (c != kStandIn) {
      result += c;
    } else if (used < label.originals.size()) {
      result += label.originals[used++];
    } else {
      return std::nullopt;
    }
  }
  if (used != label.originals.size()) return std::nullopt;
  return result;
}

std::optional<std::string> Lookup(const std::string& name) {
  uint8_t* found = nullptr;
  const int code =
      idn2_lookup_u8(reinterpret_cast<const uint8_t*>(name.c_str()), &found,
                     IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
  if (code != IDN2_OK) return std::nullopt;
  std::string result(reinterpret_cast<const char*>(found));
  idn2_free(found);
  return result;
}

// An xn-- label is valid if it is the Punycode of a label that UTS 46 leaves as
// it is and that needs Punycode.
std::optional<Label> DisguiseALabel(std::u32string_view label) {
  if (!IsAscii(label)) return std::nullopt;
  const std::string encoded(label.begin() + 4, label.end());
  std::optional<std::u32string> decoded = PunycodeDecode(encoded);
  if (!decoded.has_value() || IsAscii(*decoded) ||
      PunycodeEncode(*decoded) != encoded) {
    return std::nullopt;
  }
  for (const char32_t c : *decoded) {
    if (NewerMapping(c).has_value()) return std::nullopt;
  }
  Label result = Disguise(*decoded);
  result.must_become = *std::move(decoded);
  return result;
}

bool NeedsNoLookup(std::u32string_view label) {
  // libidn2 would refuse hyphens in these places even in an ASCII label.
  return label.empty() ||
         (IsAscii(label) && label.find(U'-') != std::u32string_view::npos);
}

bool AppendLabel(std::string_view answer, const Label& label,
                 std::string& out) {
  const std::optional<std::u32string> text = Undisguise(answer, label);
  if (!text.has_value()) return false;
  if (label.must_become.has_value() && *text != *label.must_become) {
    return false;
  }
  if (text->substr(0, 4) == U"xn--" && !label.must_become.has_value()) {
    // Only mapping made it an A-label (full-width letters). Check it as one.
    const std::optional<Label> inner = DisguiseALabel(*text);
    if (!inner.has_value()) return false;
    std::string utf8;
    for (const char32_t c : inner->disguised) AppendUtf8(c, utf8);
    const std::optional<std::string> found = Lookup(utf8);
    return found.has_value() && AppendLabel(*found, *inner, out);
  }
  if (!IsAscii(*text)) {
    out += "xn--";
    out += PunycodeEncode(*text);
  } else {
    out.append(text->begin(), text->end());
  }
  return true;
}

}  // namespace

bool AppendDomainToAscii(std::string_view domain, std::string& out) {
  if (domain.size() > kMaxInternationalHostBytes) return false;
  std::vector<std::u32string> labels(1);
  for (size_t pos = 0; pos < domain.size();) {
    const char32_t c = NextCodePoint(domain, pos);
    const char32_t mapped = NewerMapping(c).value_or(c);
    if (c == 0 || c == kReplacement) return false;
    if (mapped == '.') {
      labels.emplace_back();
    } else if (mapped != 0) {
      labels.back() += mapped;
    }
  }

  std::vector<Label> disguised;
  std::vector<std::string> questions;
  size_t length = 0;
  for (const std::u32string& label : labels) {
    if (NeedsNoLookup(label) && label.substr(0, 4) != U"xn--") {
      // Passes unseen: the question holds a letter in its place.
      Label hidden;
      hidden.disguised = U"a";
      disguised.push_back(hidden);
    } else if (label.substr(0, 4) == U"xn--") {
      std::optional<Label> a_label = DisguiseALabel(label);
      if (!a_label.has_value()) return false;
      disguised.push_back(*std::move(a_label));
    } else {
      disguised.push_back(Disguise(label));
    }
    questions.emplace_back();
    for (const char32_t c : disguised.back().disguised) {
      AppendUtf8(c, questions.back());
    }
    length += questions.back().size() + 1;
  }

  // All labels in one question, so that a right-to-left label makes its
  // neighbours obey the bidirectional rule; too long a name label by label.
  std::vector<std::string> answers;
  if (length < 200) {
    std::string question;
    for (const std::string& label : questions) question += label + '.';
    question.pop_back();
    const std::optional<std::string> answer = Lookup(question);
    if (!answer.has_value()) return false;
    std::string_view rest = *answer;
    for (;;) {
      const size_t dot = rest.find('.');
      answers.emplace_back(rest.substr(0, dot));
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
  } else {
    for (const std::string& question : questions) {
      std::optional<std::string> answer = Lookup(question);
      if (!answer.has_value()) return false;
      answers.push_back(*std::move(answer));
    }
  }
  // A mapping that makes a dot would shift the labels: none does, by UTS 46.
  if (answers.size() != labels.size()) return false;

  for (size_t i = 0; i < labels.size(); ++i) {
    if (i > 0) out += '.';
    if (NeedsNoLookup(labels[i]) && labels[i].substr(0, 4) != U"xn--") {
      out.append(labels[i].begin(), labels[i].end());
    } else if (!AppendLabel(answers[i], disguised[i], out)) {
      return false;
    }
  }
  return true;
}

}  // namespace gannet::storage
