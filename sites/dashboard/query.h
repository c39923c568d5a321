// The query of a request: its parameters, decoded and asked for by name. A
// handler refuses parameters that it does not know, so that a typo does not
// silently answer another question. Not thread-safe: one belongs to one
// request.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gannet::sites {

class Query {
 public:
  // `text` is what stands after the question mark, as HTML forms write it
  // ("a=b+c&d=%20"). kInvalidArgument: a broken %XX, a key that is there twice,
  // or what is not UTF-8.
  static absl::StatusOr<Query> Parse(std::string_view text);

  // kInvalidArgument if any other key was given.
  absl::Status HasOnly(const std::set<std::string>& keys) const;

  // Empty if it is not there.
  std::string Text(const std::string& key) const;

  // kInvalidArgument if it is there and no number from `least` to `most`.
  absl::StatusOr<uint64_t> Number(const std::string& key, uint64_t otherwise,
                                  uint64_t least, uint64_t most) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace gannet::sites
