// How many bytes a batch has on the wire, and what for: URLs that sites pass to
// each other, and pages that move in a hand-off. They are counted apart, so
// that moved pages do not distort the bytes per URL. A function; thread-safe.
#pragma once

#include <cstdint>

#include "proto/peers.pb.h"

namespace gannet::federation {

struct BatchBytes {
  uint64_t urls = 0;
  uint64_t pages = 0;
};

// The rest of a batch (its number, its epoch) is counted with the URLs, if it
// has any.
inline BatchBytes BytesOf(const peers::Batch& batch) {
  BatchBytes bytes;
  const uint64_t all = batch.ByteSizeLong();
  bytes.pages = batch.urls().empty() ? all : batch.moved().size();
  bytes.urls = all - bytes.pages;
  return bytes;
}

}  // namespace gannet::federation
