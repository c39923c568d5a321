// Paragraphs that pages are put together from. Making text word by word for
// each request would cost more than sending it; so each web makes a few hundred
// paragraphs once, and a page is a choice of them (measured: see README).
// Immutable after it is made, so thread-safe.
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
  // table or a script. 250 to 1,200 bytes. None holds a link, but some hold
  // what only looks like one (in a comment, in a script): a crawler that asks
  // for /never/... has read what is not there.
  std::string_view Block(uint64_t choice) const {
    return blocks_[choice % blocks_.size()];
  }

 private:
  std::vector<std::string> blocks_;
};

}  // namespace gannet::fake_web
