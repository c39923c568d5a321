#include "tests/fake_web/robots_file.h"

#include <fmt/format.h>

#include "tests/fake_web/mix.h"

namespace gannet::fake_web {
namespace {

constexpr std::string_view kRules = "User-agent: *\nDisallow: /private/\n";

constexpr std::string_view kWildcards =
    "# Rules as people write them.\n"
    "user-agent: *   # everybody\n"
    "Disallow: /private/\n"
    "Allow: /private/open/\n"
    "Disallow: /*.cgi$\n"
    "Disallow: /*/never-*-here/\n";

constexpr std::string_view kGroups =
    "User-agent: otherbot\nDisallow: /\n\n"
    "User-agent: GANNET\nUser-agent: friendbot\nDisallow: /tmp/\n"
    "Disallow: /private/\n\n"
    "User-agent: *\nDisallow: /\n\n"
    "User-agent: gannet/2.0\nAllow: /private/open/\n";

// Rules, then 520 KiB of comments, then rules that would close the host.
std::string Huge() {
  std::string text(kRules);
  for (int line = 0; text.size() < 520 * 1024; ++line) {
    fmt::format_to(std::back_inserter(text),
                   "# line {} of a file that somebody's script went on with\n",
                   line);
  }
  text += "User-agent: *\nDisallow: /\n";
  return text;
}

std::string Garbage(uint64_t hash) {
  std::string text;
  for (int i = 0; i < 4096; ++i) {
    const uint64_t byte = Mix(hash, i) & 0xff;
    // No colons, so that no line of garbage is a rule by chance.
    text.push_back(byte == ':' ? '\0' : static_cast<char>(byte));
  }
  return text + "\n<!DOCTYPE html><html><title>Not found</title></html>\n";
}

uint32_t Hops(const Web& web, uint32_t host) {
  return 1 + Mix(web.options().seed, host, 30) % 3;
}

}  // namespace

bool IsRobotsTarget(std::string_view target) {
  return target == "/robots.txt" ||
         (target.starts_with("/robots-") && target.ends_with(".txt"));
}

RobotsFile RobotsFileOf(const Web& web, uint32_t host,
                        std::string_view target) {
  const Nasty kind = web.RobotsKind(host);
  RobotsFile file;
  if (kind != Nasty::kNone) file.kind = kind;
  if (kind == Nasty::kRobotsRedirect) {
    const uint32_t hops = Hops(web, host);
    for (uint32_t hop = 0; hop <= hops; ++hop) {
      const bool here = hop == 0 ? target == "/robots.txt"
                                 : target == fmt::format("/robots-{}.txt", hop);
      if (!here) continue;
      file.status = hop == hops ? 200 : 302;
      file.text = hop == hops ? std::string(kRules)
                              : fmt::format("/robots-{}.txt", hop + 1);
      return file;
    }
  }
  if (target != "/robots.txt") {
    file.status = 404;
    return file;
  }
  switch (kind) {
    case Nasty::kRobotsMissing:
      file.status = 404;
      break;
    case Nasty::kRobotsForbidden:
      file.status = 403;
      file.text = "User-agent: *\nDisallow: /\n";  // Must be ignored.
      break;
    case Nasty::kRobotsError:
      file.status = 500;
      break;
    case Nasty::kRobotsClosed:
      file.text = "User-agent: *\nDisallow: /\n";
      break;
    case Nasty::kRobotsHuge: {
      static const std::string& huge = *new std::string(Huge());
      file.text = huge;
      break;
    }
    case Nasty::kRobotsCrawlDelay:
      file.text = "User-agent: *\nCrawl-delay: 0.2\nDisallow: /private/\n";
      break;
    case Nasty::kRobotsWildcards:
      file.text = kWildcards;
      break;
    case Nasty::kRobotsGroups:
      file.text = kGroups;
      break;
    case Nasty::kRobotsBom:
      file.text = fmt::format("\xEF\xBB\xBF{}", kRules);
      break;
    case Nasty::kRobotsGarbage:
      file.text = Garbage(Mix(web.options().seed, host, 31));
      break;
    case Nasty::kRobotsEmpty:
      break;
    case Nasty::kRobotsSlow:
      file.slow = true;
      [[fallthrough]];
    default:
      file.text = kRules;
  }
  return file;
}

RobotsRules RobotsRulesOf(const Web& web, uint32_t host,
                          std::string_view agent) {
  std::string target = "/robots.txt";
  for (int hop = 0; hop <= 5; ++hop) {
    const RobotsFile file = RobotsFileOf(web, host, target);
    if (file.status == 302) {
      target = file.text;
      continue;
    }
    if (file.status >= 500) return RobotsRules::ForbidAll();
    if (file.status >= 400) return RobotsRules::AllowAll();
    return RobotsRules::Parse(file.text, agent);
  }
  return RobotsRules::AllowAll();
}

}  // namespace gannet::fake_web
