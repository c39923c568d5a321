// The names of everything that can be wrong with a page or a host of the fake
// web. Each nasty kind has one name, used by --nasty, in the URLs
// (/odd/<name>/...), in the log and in the ground truth, so that a failure
// names its cause. Thread-safe (constants).
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace gannet::fake_web {

// Stored on disk by name only. Still, new kinds must go to the end: a page's
// hash uses the number of its kind, so other numbers would make other pages.
enum class Nasty : uint8_t {
  kNone,  // An ordinary page.
  // How a host's robots.txt is.
  kRobotsMissing,
  kRobotsForbidden,
  kRobotsError,
  kRobotsClosed,
  kRobotsRedirect,
  kRobotsHuge,
  kRobotsCrawlDelay,
  kRobotsWildcards,
  kRobotsGroups,
  kRobotsBom,
  kRobotsGarbage,
  kRobotsSlow,
  kRobotsEmpty,
  // How a page answers.
  kForbidden,
  kRedirect,
  kRedirectChain,
  kRedirectLoop,
  kNotFound,
  kGone,
  kError,
  kErrorRecovers,
  kBusy503,
  kBusy429,
  kSlow,
  kStall,
  kEndless,
  kGzipBomb,
  kShortLength,
  kLongLength,
  kReset,
  kGarbageStatus,
  kHugeHeaders,
  kCalendar,
  kGrowingPath,
  kGrowingQuery,
  kSession,
  // What a page holds.
  kCharset,
  kBrokenHtml,
  kOddLinks,
  kBase,
  kNonHtml,
  kMirror,
  kScriptTitle,
  kMetaNofollow,
  kHeaderNofollow,
  kNofollowLink,
  kNoindex,
  kCanonical,
  // Ordinary pages change with time.
  kChanges,
  // These cannot be asked for by name.
  kPlain,   // A page of the /odd/ part with nothing wrong.
  kImage,   // /static/img/...
  kStyle,   // /static/css/site.css
  kRobots,  // An ordinary robots.txt (log only).
  kHelp,    // A page for people: an unknown host was asked (log only).
  kAbsent,  // A URL that the web does not have (log only).
  kBadRequest,
  kHttpToHttps,  // The http form of an https host's URL: 301.
  // How the TLS of an https host is.
  kTlsExpired,
  kTlsSelfSigned,
  kTlsWrongName,
  kTlsUnknownIssuer,
  kTlsStall,
  kTlsOldProtocol,
  kTlsPlainHttp,
  kCount,
};

struct NastyInfo {
  Nasty kind;
  std::string_view name;
  std::string_view group;  // Empty: cannot be asked for.
  std::string_view what;
};

// All kinds, in the order of the enum.
const std::vector<NastyInfo>& AllNasty();
const NastyInfo& Info(Nasty kind);
inline std::string_view Name(Nasty kind) { return Info(kind).name; }
// kCount if there is no such name.
Nasty NastyByName(std::string_view name);

using NastySet = std::bitset<static_cast<size_t>(Nasty::kCount)>;
inline bool Has(const NastySet& set, Nasty kind) {
  return set.test(static_cast<size_t>(kind));
}

// "none", "all", or names of kinds and groups separated by commas; a leading
// '-' takes one away: "all,-stall". kInvalidArgument names what is unknown.
absl::StatusOr<NastySet> ParseNasty(std::string_view list);
// The shortest list that ParseNasty turns into `set`.
std::string FormatNasty(const NastySet& set);

}  // namespace gannet::fake_web
