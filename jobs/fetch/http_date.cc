#include "jobs/fetch/http_date.h"

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/time/civil_time.h"

namespace gannet::jobs {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Reads from the front of what is left; after the first failure every further
// read fails too.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && left_.empty(); }

  void Expect(std::string_view what) {
    if (!left_.starts_with(what)) return Fail();
    left_.remove_prefix(what.size());
  }
  void SkipLetters() {
    size_t n = 0;
    while (n < left_.size() &&
           absl::ascii_isalpha(static_cast<unsigned char>(left_[n]))) {
      ++n;
    }
    if (n == 0) return Fail();
    left_.remove_prefix(n);
  }
  // `width` digits; the first may be a space if `padded`.
  int Number(size_t width, bool padded = false) {
    if (left_.size() < width) {
      Fail();
      return 0;
    }
    int value = 0;
    for (size_t i = 0; i < width; ++i) {
      const char c = left_[i];
      if (padded && i == 0 && c == ' ') continue;
      if (c < '0' || c > '9') {
        Fail();
        return 0;
      }
      value = value * 10 + (c - '0');
    }
    left_.remove_prefix(width);
    return value;
  }
  int Month() {
    for (size_t i = 0; i < kMonths.size(); ++i) {
      if (left_.starts_with(kMonths[i])) {
        left_.remove_prefix(3);
        return static_cast<int>(i) + 1;
      }
    }
    Fail();
    return 0;
  }
  char Peek() const { return left_.empty() ? '\0' : left_.front(); }

 private:
  void Fail() {
    ok_ = false;
    left_ = {};
  }

  std::string_view left_;
  bool ok_ = true;
};

struct Clock {
  int hour, minute, second;
};

Clock ReadClock(Reader& reader) {
  Clock clock;
  clock.hour = reader.Number(2);
  reader.Expect(":");
  clock.minute = reader.Number(2);
  reader.Expect(":");
  clock.second = reader.Number(2);
  return clock;
}

std::optional<absl::Time> TimeOf(int year, int month, int day,
                                 const Clock& clock) {
  const absl::CivilDay date(year, month, day);
  // CivilDay makes a second of March of a 30th of February.
  if (date.month() != month || clock.hour > 23 || clock.minute > 59 ||
      clock.second > 60) {
    return std::nullopt;
  }
  return absl::FromCivil(date, absl::UTCTimeZone()) + absl::Hours(clock.hour) +
         absl::Minutes(clock.minute) + absl::Seconds(clock.second);
}

}  // namespace

std::optional<absl::Time> ParseHttpDate(std::string_view text, absl::Time now) {
  const absl::string_view stripped =
      absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  Reader reader(std::string_view(stripped.data(), stripped.size()));
  int year = 0, month = 0, day = 0;
  Clock clock{};
  reader.SkipLetters();
  if (reader.Peek() == ',') {
    reader.Expect(", ");
    day = reader.Number(2);
    if (reader.Peek() == '-') {  // RFC 850.
      reader.Expect("-");
      month = reader.Month();
      reader.Expect("-");
      const absl::CivilYear this_year =
          absl::ToCivilYear(now, absl::UTCTimeZone());
      year = static_cast<int>(this_year.year() / 100 * 100) + reader.Number(2);
      if (year > this_year.year() + 50) year -= 100;
    } else {  // IMF-fixdate.
      reader.Expect(" ");
      month = reader.Month();
      reader.Expect(" ");
      year = reader.Number(4);
    }
    reader.Expect(" ");
    clock = ReadClock(reader);
    reader.Expect(" GMT");
  } else {  // asctime.
    reader.Expect(" ");
    month = reader.Month();
    reader.Expect(" ");
    day = reader.Number(2, /*padded=*/true);
    reader.Expect(" ");
    clock = ReadClock(reader);
    reader.Expect(" ");
    year = reader.Number(4);
  }
  if (!reader.AtEnd()) return std::nullopt;
  return TimeOf(year, month, day, clock);
}

}  // namespace gannet::jobs
