#include "sites/console/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sites/admin/names.h"
#include "sites/console/terminal_text.h"
#include "sites/console/text_table.h"

namespace gannet::sites {
namespace {

constexpr absl::Duration kWindow = absl::Seconds(5);
constexpr absl::Duration kPlainEvery = absl::Seconds(10);

constexpr char kHideCursor[] = "\x1b[?25l";
constexpr char kBold[] = "\x1b[1m";
constexpr char kGreen[] = "\x1b[32m";
constexpr char kRed[] = "\x1b[31m";
constexpr char kReset[] = "\x1b[0m";

// One line that ends at the terminal's edge. Colours take no room.
class Line {
 public:
  explicit Line(const TerminalStyle& style)
      : color_(style.color), left_(std::max(style.width - 1, 0)) {}

  void Add(std::string_view text, const char* color = nullptr) {
    const size_t room = std::min(left_, DisplayWidth(text));
    if (room == 0) return;
    size_t bytes = 0;
    for (size_t seen = 0; bytes < text.size(); ++bytes) {
      const bool starts = (static_cast<uint8_t>(text[bytes]) & 0xc0) != 0x80;
      if (starts && seen++ == room) break;
    }
    left_ -= room;
    if (color_ && color != nullptr) text_ += color;
    text_ += text.substr(0, bytes);
    if (color_ && color != nullptr) text_ += kReset;
  }

  size_t left() const { return left_; }
  std::string Take() { return std::move(text_); }

 private:
  const bool color_;
  size_t left_;
  std::string text_;
};

int64_t Done(const jobs::ProgressView& view) {
  return view.counts.completed() + view.counts.released;
}

// How far the phase is, of how much; nothing if that cannot be said.
struct Part {
  int64_t done = 0;
  int64_t all = 0;
  const char* of = "";
};

std::optional<Part> PartOf(const jobs::ProgressView& view) {
  if (view.phase == proto::FETCH && view.planned > 0) {
    return Part{Done(view), view.planned, "pages"};
  }
  if (view.phase == proto::UPDATE && view.targets > 0) {
    return Part{view.settled, view.targets, "links"};
  }
  return std::nullopt;
}

double ShareOf(const Part& part) {
  return std::clamp(
      static_cast<double>(part.done) / static_cast<double>(part.all), 0.0, 1.0);
}

// The time limit ends a round too. Nullopt while it cannot be estimated.
std::optional<absl::Duration> TimeLeft(const jobs::ProgressView& view,
                                       const ProgressRate& rate,
                                       absl::Time now) {
  if (view.phase != proto::FETCH) return std::nullopt;
  absl::Duration left = absl::InfiniteDuration();
  if (rate.pages_per_second > 0) {
    left = absl::Seconds(
        static_cast<double>(std::max<int64_t>(view.planned - Done(view), 0)) /
        rate.pages_per_second);
  }
  // Before the first page the time limit alone would be no help.
  const absl::Duration limit =
      std::max(view.deadline - now, absl::ZeroDuration());
  if (rate.pages_per_second > 0 || limit < absl::Minutes(1)) {
    left = std::min(left, limit);
  }
  if (left == absl::InfiniteDuration()) return std::nullopt;
  return left;
}

std::string Bar(double share, size_t width, bool unicode) {
  const auto full =
      static_cast<size_t>(std::floor(share * static_cast<double>(width)));
  std::string bar;
  for (size_t i = 0; i < width; ++i) {
    bar += unicode ? (i < full ? "█" : "░") : (i < full ? "#" : ".");
  }
  return bar;
}

std::string PagesPerSecond(double rate) {
  return rate < 9.95
             ? fmt::format("{:.1f} pages/s", rate)
             : fmt::format("{} pages/s", WithCommas(std::llround(rate)));
}

double SecondsInPhase(const jobs::ProgressView& view, absl::Time now) {
  return std::max(absl::ToDoubleSeconds(now - view.phase_started), 0.0);
}

std::string WaitingFor(const jobs::ProgressView& view, absl::Time now) {
  return fmt::format(
      "the next page that failed is tried again in {}",
      SecondsForPeople(absl::ToDoubleSeconds(view.waiting_until - now)));
}

}  // namespace

ProgressRate RateMeter::Add(const jobs::ProgressView& view, absl::Time now) {
  const Sample sample{now, Done(view), view.bytes};
  if (view.round != round_ ||
      (!samples_.empty() && sample.pages < samples_.back().pages)) {
    samples_.clear();
  }
  round_ = view.round;
  samples_.push_back(sample);
  while (samples_.size() > 2 && now - samples_[1].time >= kWindow) {
    samples_.pop_front();
  }
  const double seconds = absl::ToDoubleSeconds(now - samples_.front().time);
  if (seconds <= 0) return {};
  return {static_cast<double>(sample.pages - samples_.front().pages) / seconds,
          static_cast<double>(sample.bytes - samples_.front().bytes) / seconds};
}

std::vector<std::string> Render(const jobs::ProgressView& view,
                                const ProgressRate& rate, absl::Time now,
                                const TerminalStyle& style) {
  Line first(style);
  if (view.phase == proto::NO_ROUND) {
    first.Add("waiting", kBold);
    first.Add("  " + WaitingFor(view, now));
    return {first.Take(), ""};
  }
  const std::string round = fmt::format("round {}", view.round);
  first.Add(round, kBold);
  first.Add(fmt::format("  {:<8}  ", PhaseName(view.phase)));
  const std::optional<Part> part = PartOf(view);
  if (!part.has_value()) {
    first.Add(SecondsForPeople(SecondsInPhase(view, now)));
    return {first.Take(), ""};
  }
  const double share = ShareOf(*part);
  const std::string percent =
      fmt::format("{:>3} %", static_cast<int>(share * 100));
  const std::string counts = fmt::format("{} of {} {}", WithCommas(part->done),
                                         WithCommas(part->all), part->of);
  const size_t rest = DisplayWidth(percent) + DisplayWidth(counts) + 4;
  if (first.left() >= rest + 5) {
    const size_t width = std::min<size_t>(first.left() - rest, 40);
    first.Add(Bar(share, width, style.unicode), kGreen);
    first.Add("  ");
  }
  first.Add(percent);
  first.Add("  ");
  first.Add(counts);

  Line second(style);
  second.Add(std::string(DisplayWidth(round) + 2, ' '));
  if (view.phase == proto::FETCH) {
    second.Add(fmt::format("{}  {}/s", PagesPerSecond(rate.pages_per_second),
                           BytesForPeople(rate.bytes_per_second)));
    second.Add("  ");
    second.Add(fmt::format("{} failed", WithCommas(view.counts.failed)),
               view.counts.failed > 0 ? kRed : nullptr);
    second.Add(fmt::format("  {} hosts  {} requests",
                           WithCommas(view.hosts_active),
                           WithCommas(view.connections)));
    if (const auto left = TimeLeft(view, rate, now)) {
      second.Add(fmt::format("  {} left",
                             SecondsForPeople(absl::ToDoubleSeconds(*left))));
    }
  } else {
    second.Add(SecondsForPeople(SecondsInPhase(view, now)));
  }
  return {first.Take(), second.Take()};
}

std::string RenderPlain(const jobs::ProgressView& view,
                        const ProgressRate& rate, absl::Time now) {
  if (view.phase == proto::NO_ROUND) {
    return "waiting: " + WaitingFor(view, now);
  }
  std::string line =
      fmt::format("round {}: {}", view.round, PhaseName(view.phase));
  if (const std::optional<Part> part = PartOf(view)) {
    line += fmt::format(", {} of {} {}", WithCommas(part->done),
                        WithCommas(part->all), part->of);
  }
  if (view.phase != proto::FETCH) return line;
  line += fmt::format(
      ", {}, {}/s, {} failed, {} hosts", PagesPerSecond(rate.pages_per_second),
      BytesForPeople(rate.bytes_per_second), WithCommas(view.counts.failed),
      WithCommas(view.hosts_active));
  if (const auto left = TimeLeft(view, rate, now)) {
    line += fmt::format(", {} left",
                        SecondsForPeople(absl::ToDoubleSeconds(*left)));
  }
  return line;
}

void ProgressPrinter::SetWidth(int columns) {
  if (style_.has_value() && columns > 0) style_->width = columns;
}

std::string ProgressPrinter::Erase() {
  if (live_lines_ == 0) return "";
  std::string bytes = fmt::format("\x1b[{}A\r\x1b[J", live_lines_);
  live_lines_ = 0;
  return bytes;
}

std::string ProgressPrinter::Next(const jobs::ProgressView& view,
                                  absl::Time now) {
  const ProgressRate rate = meter_.Add(view, now);
  const bool changed = !last_.has_value() || last_->round != view.round ||
                       last_->phase != view.phase;
  last_ = view;
  last_rate_ = rate;
  // A wait that is too short to read about is not shown.
  const bool waits = view.waiting_until > now + absl::Seconds(2) ||
                     (live_lines_ > 0 && view.waiting_until > now);
  if (view.phase == proto::NO_ROUND && !waits) {
    return style_.has_value() ? Erase() : "";
  }
  if (!style_.has_value()) {
    if (!changed && now - last_plain_ < kPlainEvery) return "";
    last_plain_ = now;
    return RenderPlain(view, rate, now) + "\n";
  }
  const std::vector<std::string> lines = Render(view, rate, now, *style_);
  // In one write, and line by line over the old ones: no flicker.
  std::string bytes =
      live_lines_ == 0 ? kHideCursor : fmt::format("\x1b[{}A\r", live_lines_);
  for (const std::string& line : lines) bytes += line + "\x1b[K\n";
  live_lines_ = lines.size();
  return bytes;
}

std::string ProgressPrinter::Say(std::string_view line) {
  return Erase() + std::string(line) + "\n";
}

std::string ProgressPrinter::Finish() {
  if (!style_.has_value()) return "";
  return Erase() + std::string(kShowCursor);
}

}  // namespace gannet::sites
