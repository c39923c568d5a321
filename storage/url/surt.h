// SURT keys: URLs in the order of the crawl DB. Host labels are reversed, so
// that a domain with all its hosts is one range of keys, and each label ends in
// a comma, so that "com,example," is no prefix of "com,examples,":
//
//   https://www.example.com/a?b   com,example,www,)https/a?b
//   http://example.com:8080/      com,example,)http:8080/
//   http://127.0.0.1/x            127.0.0.1,)http/x        (not reversed)
//   http://[::1]:81/              [::1],)http:81/
//
// A host may hold commas and parentheses (browsers allow them): in a label, ','
// is written %2C and ')' is %29; a host never holds a percent sign. The format
// is stored on disk and sent between sites: never change it.
// Functions only; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/url/url.h"

namespace gannet::storage {

// Credentials and fragment have no place in a key: they are left out.
// REQUIRES: url is parsed.
std::string SurtKey(const Url& url);
void AppendSurtKey(const Url& url, std::string& out);

// The prefix that all keys of a host or, given a domain, all keys of its hosts
// share: "com,example," for example.com.
void AppendSurtDomainPrefix(std::string_view host_or_domain, std::string& out);

// Reads keys back into URLs, many in a row: allocates nothing once its buffers
// have grown to their working size, and looks at a host, scheme and port once
// as long as the keys have the same. Not thread-safe.
class SurtReader {
 public:
  // False if `surt` is not the key of any URL; `out` then holds rubbish.
  bool Read(std::string_view surt, Url& out);

 private:
  // `origin` is what stands before a key's path.
  bool ReadOrigin(std::string_view origin);

  std::string origin_;  // Of the key before, and as a URL.
  Url origin_url_;
  std::string text_;
};

// The URL of a key. kInvalidArgument if `surt` is not the key of any URL.
absl::StatusOr<std::string> UrlFromSurt(std::string_view surt);

// Appends the host of a key, as its URL has it. Looks at nothing behind the
// host. False if there is none; `out` then holds rubbish behind its old end.
bool AppendHostFromSurt(std::string_view surt, std::string& out);

// The part up to and including ')': one host, all schemes and ports. Empty if
// `surt` is not a key.
std::string_view SurtHost(std::string_view surt);

}  // namespace gannet::storage
