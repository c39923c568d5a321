// Arena hands out memory that is given back all at once: a page's tree and its
// decoded attribute values live exactly as long as the page is read. The first
// blocks are kept between pages, so that an ordinary page allocates nothing; a
// limit keeps one hostile page from taking the machine's memory.
// Not thread-safe: one per worker.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace gannet::jobs {

class Arena {
 public:
  explicit Arena(size_t max_bytes) : max_bytes_(max_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Aligned for any type. Null if the limit would be passed.
  void* Allocate(size_t bytes) {
    bytes = (bytes + kAlignment - 1) & ~(kAlignment - 1);
    if (bytes <= static_cast<size_t>(end_ - next_)) {
      char* at = next_;
      next_ += bytes;
      return at;
    }
    return AllocateInNewBlock(bytes);
  }

  // Everything handed out becomes invalid. Keeps kKeptBytes for the next page.
  void Reset();

  // Blocks held now, used or not.
  size_t held_bytes() const { return held_bytes_; }

 private:
  static constexpr size_t kAlignment = alignof(std::max_align_t);
  static constexpr size_t kBlockBytes = size_t{256} << 10;
  static constexpr size_t kKeptBytes = size_t{4} << 20;

  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };

  void* AllocateInNewBlock(size_t bytes);

  const size_t max_bytes_;
  std::vector<Block> blocks_;
  size_t block_ = 0;  // The one that next_ and end_ point into.
  char* next_ = nullptr;
  char* end_ = nullptr;
  size_t held_bytes_ = 0;
};

}  // namespace gannet::jobs
