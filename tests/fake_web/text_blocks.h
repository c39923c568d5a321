// Paragraphs that pages are made of. Making text word by word for each request
// would cost more than sending it (measured: see README), so each web makes a
// few hundred paragraphs once, and each page is a choice of them. Immutable
// after it is made, so thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gannet::fake_web {

class TextBlocks {
 public:
  explicit TextBlocks(uint64_t seed);

  // A paragraph: <p>...</p> with entities, emphasis, now and then a comment, a
  // table or a script. 250 to 1,200 bytes. None has a link, but some have text
  // that looks like one (in a comment, in a script): a crawler that asks for
  // /never/... has taken that for a link.
  std::string_view Block(uint64_t choice) const {
    return blocks_[choice % blocks_.size()];
  }

 private:
  std::vector<std::string> blocks_;
};

}  // namespace gannet::fake_web
