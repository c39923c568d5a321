// What storage/url is compared with: the URL Standard's basic URL parser,
// transcribed state by state, on code points, with none of the short cuts of
// the real one; and the canonical form written with split and join. Slow and
// obvious on purpose. It shares one function with the real parser:
// international domains go to the same AppendDomainToAscii, which idna_test.cc
// checks with the data of web-platform-tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gannet::storage::reference {

struct RefUrl {
  std::string scheme, username, password, host;
  std::optional<unsigned> port;
  std::vector<std::string> path;
  std::optional<std::string> query, fragment;

  std::string Href() const;
};

enum class RefOutcome { kOk, kFailure, kOtherScheme };

// `base` is null or http(s).
RefOutcome RefParse(std::string_view input, const RefUrl* base, RefUrl& url);

// The canonical form by the default rules; nullopt if DNS cannot hold the host.
std::optional<std::string> RefCanonical(const RefUrl& url);

// UTF-8 with replacement, by the Encoding Standard's decoder.
std::u32string RefDecode(std::string_view bytes);

}  // namespace gannet::storage::reference
