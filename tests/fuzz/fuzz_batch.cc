// Any bytes as a peer's batch of URLs: either they are refused, or they mean a
// list within the limits that can be encoded and decoded again; and if the
// batch is not compressed, no other bytes mean the same list.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "federation/exchange/batch_codec.h"
#include "storage/crawl_db/keys.h"

namespace {

using namespace gannet::federation;  // NOLINT
using gannet::storage::FoundUrl;

void Require(bool truth) {
  if (!truth) abort();
}

constexpr BatchLimits kLimits = {
    .urls = 1000, .bytes = 64 << 10, .key_bytes = 300};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto urls = DecodeBatch(bytes, kLimits);
  if (!urls.ok()) return 0;
  Require(urls->size() <= kLimits.urls);
  size_t key_bytes = 0;
  for (size_t i = 0; i < urls->size(); ++i) {
    const FoundUrl& url = (*urls)[i];
    Require(gannet::storage::IsPageKey(url.page.bytes));
    Require(url.page.bytes.size() <= kLimits.key_bytes);
    Require(i == 0 || (*urls)[i - 1].page < url.page);
    Require(url.cash >= 0);
    key_bytes += url.page.bytes.size();
  }
  Require(key_bytes <= kLimits.bytes);
  const auto plain = EncodeBatch(*urls, {.zstd = false});
  Require(plain.ok());
  Require(bytes[1] != 0 || *plain == bytes);
  const auto again = DecodeBatch(*plain, kLimits);
  Require(again.ok() && again->size() == urls->size());
  return 0;
}
