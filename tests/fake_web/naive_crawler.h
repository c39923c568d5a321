// A crawler as simple as possible, which checks the ground truth: one URL at a
// time, over the network, with its own reading of HTML and URLs. It shares two
// things with the fake web: the reading of robots.txt's text (which
// robots_rules_test checks with other projects' cases), and the truth's limits
// on URLs (which truth_test checks one by one). Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fake_web/raw_client.h"
#include "tests/fake_web/robots_rules.h"
#include "tests/fake_web/truth.h"

namespace gannet::fake_web {

// The links of an HTML page that may be followed, as absolute URLs.
std::vector<std::string> ExtractLinks(std::string_view html,
                                      const std::string& page_url);
// Empty if it is neither an http nor an https URL.
std::string ResolveUrl(std::string_view href, const std::string& base);

class NaiveCrawler {
 public:
  // The server must have one thread: an answer on another connection then
  // proves that it is awake, and that a stalled page is stalled on purpose.
  // `tls` is needed if there are https URLs.
  NaiveCrawler(uint16_t port, CrawlRules rules, TlsTarget tls = {});

  // From URL to the name of its outcome.
  std::map<std::string, std::string> Crawl(std::vector<std::string> seeds);
  uint64_t requests() const { return requests_; }

 private:
  // `origin`: scheme and host. Null if no server answers there.
  const RobotsRules* RobotsOf(const std::string& origin);
  // nullopt if the connection or the TLS handshake failed.
  std::optional<WireResponse> Ask(const std::string& url);
  // Returns the outcome, and adds the URLs that it finds to `found`.
  std::string Visit(const std::string& url, std::vector<std::string>* found);

  const uint16_t port_;
  const uint16_t tls_port_;
  const TlsTrust trust_;
  const CrawlRules rules_;
  uint64_t requests_ = 0;
  std::map<std::string, std::optional<RobotsRules>> robots_;  // By origin.
};

}  // namespace gannet::fake_web
