// Pages for the archive's tests and benchmark: HTML-like text that compresses
// as real pages do (about 4 : 1), the same for the same seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "storage/archive/record_packer.h"

namespace gannet::storage {

struct SamplePage {
  std::string url;
  std::string request;
  std::string head;
  std::string body;
  std::string outlinks;
};

SamplePage MakeSamplePage(uint32_t seed, size_t body_bytes = 14 << 10);

// Request, response and metadata, with views into `page`.
inline constexpr size_t kSampleResponse = 1;  // Its index.
std::vector<NewRecord> RecordsOf(const SamplePage& page, absl::Time date);

}  // namespace gannet::storage
