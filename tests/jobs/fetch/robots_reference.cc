#include "tests/jobs/fetch/robots_reference.h"

#include <optional>
#include <vector>

namespace gannet::jobs::reference {
namespace {

class Matcher {
 public:
  Matcher(std::string_view pattern, std::string_view path)
      : pattern_(pattern),
        path_(path),
        known_(pattern.size() + 1,
               std::vector<std::optional<bool>>(path.size() + 1)) {}

  // Does the pattern from `p` on match the path from `t` on?
  bool From(size_t p, size_t t) {
    std::optional<bool>& known = known_[p][t];
    if (!known.has_value()) {
      known = false;  // No cycle comes back here, but the compiler cannot know.
      known_[p][t] = Try(p, t);
    }
    return *known_[p][t];
  }

 private:
  bool Try(size_t p, size_t t) {
    if (p == pattern_.size()) return true;
    if (pattern_[p] == '$' && p + 1 == pattern_.size()) {
      return t == path_.size();
    }
    if (pattern_[p] == '*') {
      return From(p + 1, t) || (t < path_.size() && From(p, t + 1));
    }
    return t < path_.size() && pattern_[p] == path_[t] && From(p + 1, t + 1);
  }

  const std::string_view pattern_;
  const std::string_view path_;
  std::vector<std::vector<std::optional<bool>>> known_;
};

}  // namespace

bool Matches(std::string_view pattern, std::string_view path) {
  return Matcher(pattern, path).From(0, 0);
}

}  // namespace gannet::jobs::reference
