// GumboTree builds a page's tree with gumbo, within bounds. gumbo itself has
// none: it does not look whether its allocator returned null, a few kilobytes
// of misnested <b id=N> make gigabytes of clones, deep nesting makes it
// quadratic, and freeing a deep tree recurses through the stack. So:
//
//   - all its memory comes from an Arena, given back at once: nothing recurses;
//   - when the arena is full, or the page has taken more processor time than
//   its
//     size allows, the allocator leaves gumbo by longjmp. That is sound: gumbo
//     is C, holds no locks and no memory but the arena's;
//   - so does a failed assertion of gumbo's: pages exist that fail one.
//
// Not thread-safe: one per worker.
#pragma once

#include <gumbo.h>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "jobs/parse/arena.h"

namespace gannet::jobs {

class GumboTree {
 public:
  // Ordinary pages take some ten times their size.
  static constexpr size_t kDefaultMaxBytes = size_t{128} << 20;

  explicit GumboTree(size_t max_bytes = kDefaultMaxBytes) : arena_(max_bytes) {}

  // The document, valid until the next call; null if the page exceeds the
  // bounds. REQUIRES: `html` is UTF-8 and outlives the tree.
  const GumboNode* Parse(std::string_view html);

  // More memory of the tree's lifetime; null if there is none.
  Arena& arena() { return arena_; }

 private:
  static void* Allocate(void* self, size_t bytes);
  static void Deallocate(void* self, void* memory);
  bool IsLate() const;

  Arena arena_;
  std::jmp_buf leave_;
  uint64_t allocations_ = 0;
  int64_t deadline_ns_ = 0;
};

}  // namespace gannet::jobs
