// The robots.txt of each host of a fake web: how it is answered, and what it
// allows a crawler to ask for. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fake_web/robots_rules.h"
#include "tests/fake_web/web.h"

namespace gannet::fake_web {

struct RobotsFile {
  int status = 200;
  std::string text;   // The body, or for a redirect its target.
  bool slow = false;  // Sending takes options.slow.
  Nasty kind = Nasty::kRobots;
};

// `target` is /robots.txt or one of the files it redirects to (/robots-1.txt).
// Status 404 for files that this host does not have.
RobotsFile RobotsFileOf(const Web& web, uint32_t host, std::string_view target);

// Is `target` a robots file's address?
bool IsRobotsTarget(std::string_view target);

// The rules that follow from it by RFC 9309, redirects and errors included.
RobotsRules RobotsRulesOf(const Web& web, uint32_t host,
                          std::string_view agent);

}  // namespace gannet::fake_web
