// The fast parser and canonicaliser against the slow, obvious ones
// (reference_url.h): on all short strings over an alphabet of difficult
// characters, and on random longer ones.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "storage/url/canonical.h"
#include "storage/url/surt.h"
#include "storage/url/url.h"
#include "tests/storage/url/reference_url.h"

namespace gannet::storage {
namespace {

using reference::RefCanonical;
using reference::RefOutcome;
using reference::RefParse;
using reference::RefUrl;

// Compares both parsers and both canonical forms on one input; counts, and
// stops the test's output after a few failures.
class Judge {
 public:
  explicit Judge(std::string_view base) {
    if (base.empty()) return;
    base_ = Url::Parse(base).value();
    EXPECT_EQ(RefParse(base, nullptr, ref_base_), RefOutcome::kOk);
  }

  void Check(std::string_view input) {
    ++cases_;
    const bool has_base = !base_.empty();
    const UrlOutcome ours =
        Url::Parse(input, has_base ? &base_ : nullptr, url_);
    const RefOutcome theirs =
        RefParse(input, has_base ? &ref_base_ : nullptr, ref_);
    const bool ok = ours == UrlOutcome::kOk;
    const bool other = ours == UrlOutcome::kOtherScheme;
    if (ok != (theirs == RefOutcome::kOk) ||
        other != (theirs == RefOutcome::kOtherScheme) ||
        (ok && url_.href() != ref_.Href())) {
      Fail(input, "parsed as " + std::string(UrlOutcomeName(ours)) + " " +
                      url_.href() + ", judge: " +
                      (theirs == RefOutcome::kOk ? ref_.Href() : "refused"));
      return;
    }
    if (!ok) return;
    CheckParts(input);

    const UrlOutcome canonical = canonicaliser_.Canonicalise(url_);
    const std::optional<std::string> expected = RefCanonical(ref_);
    if ((canonical == UrlOutcome::kOk) != expected.has_value() ||
        (expected.has_value() && url_.href() != *expected)) {
      Fail(input, "canonical form " + url_.href() +
                      ", judge: " + expected.value_or("refused"));
      return;
    }
    if (canonical != UrlOutcome::kOk) return;
    CheckCanonical(input);
  }

  int cases() const { return cases_; }

 private:
  void CheckParts(std::string_view input) {
    if (url_.scheme() != ref_.scheme || url_.username() != ref_.username ||
        url_.password() != ref_.password || url_.host() != ref_.host ||
        url_.has_port() != ref_.port.has_value() ||
        (ref_.port.has_value() && url_.port() != *ref_.port) ||
        url_.query() != ref_.query.value_or("") ||
        url_.has_query() != ref_.query.has_value() ||
        url_.fragment() != ref_.fragment.value_or("") ||
        url_.has_fragment() != ref_.fragment.has_value()) {
      Fail(input, "its parts differ from the judge's");
    }
  }

  // Checks that the canonical form is its own canonical form, that its parts
  // fit together, and that its SURT key gives it back.
  void CheckCanonical(std::string_view input) {
    if (canonicaliser_.Canonicalise(url_.href(), nullptr, again_) !=
            UrlOutcome::kOk ||
        again_.href() != url_.href()) {
      Fail(input, url_.href() + " is not a fixed point: " + again_.href());
    }
    if (again_.host() != url_.host() || again_.path() != url_.path() ||
        again_.query() != url_.query() || again_.port() != url_.port() ||
        again_.has_port() != url_.has_port() || url_.has_fragment()) {
      Fail(input, "the canonical form's parts are out of place");
    }
    surt_.clear();
    AppendSurtKey(url_, surt_);
    const auto back = UrlFromSurt(surt_);
    if (!back.ok() || *back != url_.href()) {
      Fail(input, surt_ + " does not lead back to " + url_.href());
    }
  }

  void Fail(std::string_view input, const std::string& why) {
    if (++failures_ <= 10) {
      ADD_FAILURE() << "\"" << input << "\" with base \"" << base_.href()
                    << "\": " << why;
    }
  }

  const Canonicaliser canonicaliser_;
  Url base_, url_, again_;
  RefUrl ref_base_, ref_;
  std::string surt_;
  int cases_ = 0;
  int failures_ = 0;
};

// Calls `check` with all strings of at most `length` letters, after `prefix`.
template <typename Check>
void ForAllStrings(const std::vector<std::string>& alphabet, int length,
                   std::string& prefix, const Check& check) {
  check(prefix);
  if (length == 0) return;
  const size_t size = prefix.size();
  for (const std::string& letter : alphabet) {
    prefix += letter;
    ForAllStrings(alphabet, length - 1, prefix, check);
    prefix.resize(size);
  }
}

int CheckAll(std::string_view base, std::string prefix,
             const std::vector<std::string>& alphabet, int length) {
  Judge judge(base);
  ForAllStrings(alphabet, length, prefix,
                [&judge](const std::string& s) { judge.Check(s); });
  return judge.cases();
}

const std::vector<std::string>& Awkward() {
  static const std::vector<std::string> kLetters = {
      "h", ":", "/", "\\", "?",  "#", "@", ".", "%",
      "2", "e", "[", "]",  "\t", " ", "é", "A"};
  return kLetters;
}

TEST(UrlJudgeTest, AllShortStringsAfterTwoSlashesAgree) {
  EXPECT_GT(CheckAll("", "http://", Awkward(), 5), 1400000);
}

TEST(UrlJudgeTest, AllShortStringsAfterAHostAgree) {
  EXPECT_GT(CheckAll("", "http://h", Awkward(), 4), 80000);
  EXPECT_GT(
      CheckAll("", "http://h/",
               {"/", "\\", "?", "#", ".", "%", "2", "e", "E", ";", " "}, 5),
      150000);
}

TEST(UrlJudgeTest, AllShortReferencesAgainstABaseAgree) {
  EXPECT_GT(CheckAll("http://u:p@h:81/a/b/c?q#f", "", Awkward(), 4), 80000);
  EXPECT_GT(CheckAll("http://h/a//b", "", Awkward(), 4), 80000);
  EXPECT_GT(CheckAll("https://h", "http:", Awkward(), 3), 5000);
  EXPECT_GT(CheckAll("http://h/x/", "http:", Awkward(), 3), 5000);
  EXPECT_GT(CheckAll("http://h/a/b/c/d", "",
                     {"/", "\\", ".", "%2e", "%2E", "a", "?"}, 6),
            130000);
}

TEST(UrlJudgeTest, AllShortAddressesAgree) {
  EXPECT_GT(CheckAll("", "http://", {"0", "x", ".", "1", "256", "f", "9"}, 6),
            130000);
  EXPECT_GT(
      CheckAll("", "http://[", {"0", ":", "::", ".", "1", "ffff", "]"}, 6),
      130000);
  EXPECT_GT(CheckAll("", "http://[1:2:3:4:5",
                     {":", "::", "0", "1.2.3.4", "255.", "]", ":6"}, 5),
            19000);
  EXPECT_GT(CheckAll("", "http://h:", {"0", "4", "8", "65535", "/", "x"}, 5),
            9000);
}

TEST(UrlJudgeTest, AllShortEscapesAndParametersBecomeCanonicalAlike) {
  EXPECT_GT(CheckAll("", "http://h/", {"%", "2", "5", "e", "4", "1", "/"}, 6),
            130000);
  EXPECT_GT(
      CheckAll("", "http://h/a",
               {";", "jsessionid", "=", "/", "..", ".", "%6a", "?", "&"}, 5),
      66000);
  EXPECT_GT(CheckAll("", "http://h/?",
                     {"&", "gclid", "utm_", "=", "%", "67", "#", "a"}, 5),
            37000);
  EXPECT_GT(CheckAll("", "http://", {"a", ".", ",", ")", "(", "/", "é"}, 5),
            19000);
}

TEST(UrlJudgeTest, RandomLongerStringsAgree) {
  const std::vector<std::string> pieces = {"http:",
                                           "https:",
                                           "//",
                                           "/",
                                           "..",
                                           ".",
                                           "%2e",
                                           "\\",
                                           "?",
                                           "#",
                                           "&",
                                           "=",
                                           ";",
                                           "@",
                                           ":",
                                           "80",
                                           "443",
                                           "[::1]",
                                           "a",
                                           "Example",
                                           ".com",
                                           "bücher",
                                           "%c3%a9",
                                           "\xff",
                                           "\xc3",
                                           "\xe2\x82",
                                           "%",
                                           "%4",
                                           "%41",
                                           "%7e",
                                           " ",
                                           "\t",
                                           "\n",
                                           "'",
                                           "\"",
                                           "<",
                                           "{",
                                           "^",
                                           "`",
                                           "|",
                                           "☃",
                                           "😀",
                                           ";jsessionid=1",
                                           "utm_source=x",
                                           "gclid=1",
                                           "xn--zca",
                                           "0x7f",
                                           "1.2",
                                           std::string(1, '\0'),
                                           "\x7f",
                                           "\xC2\xAD",
                                           "。",
                                           "％41",
                                           "ß"};
  std::mt19937 random(20260101);
  Judge with_base("https://user@www.example.com:8443/dir/./file;x?query#frag");
  Judge without_base("");
  std::string input;
  for (int i = 0; i < 200000; ++i) {
    input = random() % 2 == 0 ? "http://" : "";
    for (auto n = random() % 14; n > 0; --n) {
      input += pieces[random() % pieces.size()];
    }
    with_base.Check(input);
    without_base.Check(input);
  }
}

TEST(UrlJudgeTest, RandomBytesAgree) {
  std::mt19937 random(7);
  Judge judge("http://h/a/b");
  std::string input;
  for (int i = 0; i < 100000; ++i) {
    input = random() % 2 == 0 ? "http://h/" : "";
    for (auto n = random() % 12; n > 0; --n) {
      input += static_cast<char>(random());
    }
    judge.Check(input);
  }
}

}  // namespace
}  // namespace gannet::storage
