#include "jobs/parse/arena.h"

#include <algorithm>

namespace gannet::jobs {

void* Arena::AllocateInNewBlock(size_t bytes) {
  // A kept block may be too small for a large request: skip it.
  while (block_ + 1 < blocks_.size()) {
    Block& block = blocks_[++block_];
    if (block.size >= bytes) {
      next_ = block.bytes.get() + bytes;
      end_ = block.bytes.get() + block.size;
      return block.bytes.get();
    }
  }
  const size_t size = std::max(bytes, kBlockBytes);
  if (bytes > max_bytes_ || held_bytes_ + size > max_bytes_) return nullptr;
  // Not zeroed: make_unique would touch every page of it.
  blocks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
  held_bytes_ += size;
  block_ = blocks_.size() - 1;
  next_ = blocks_.back().bytes.get() + bytes;
  end_ = blocks_.back().bytes.get() + size;
  return blocks_.back().bytes.get();
}

void Arena::Reset() {
  while (held_bytes_ > kKeptBytes) {
    held_bytes_ -= blocks_.back().size;
    blocks_.pop_back();
  }
  block_ = 0;
  next_ = blocks_.empty() ? nullptr : blocks_[0].bytes.get();
  end_ = blocks_.empty() ? nullptr : next_ + blocks_[0].size;
}

}  // namespace gannet::jobs
