// Any bytes as a WARC file, gzip or plain by the first bytes. The reader must
// not crash, hang, or give more bytes than a header promised; an error must be
// kDataLoss or name a limit. The records that come out also go through the
// HTTP, outlink and CDXJ code, which get such bytes in reality too.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "storage/archive/cdxj.h"
#include "storage/archive/http_message.h"
#include "storage/archive/outlinks.h"
#include "storage/archive/warc_reader.h"

namespace gannet::storage {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void UseBlock(const WarcHeader& header, const std::string& block) {
  const HttpHead head = SplitHttpResponse(block);
  Require(head.body_offset <= block.size());
  Require(HttpBody(block).size() <= block.size());
  for (const std::string& url : ParseOutlinks(block)) {
    Require(!url.empty() && url.size() <= block.size());
  }
  auto line = CdxjFront(RecordType::kResponse, header.TargetUri(),
                        header.Get("WARC-Date"),
                        header.Get("WARC-Payload-Digest"), block);
  Require(line.has_value());
  FinishCdxjLine(*line, 1, 2, "x");
  for (const char c : *line) Require(c >= 0x20 && c < 0x7f);
}

void ReadAll(std::string_view bytes, bool stream) {
  ReaderLimits limits;
  limits.header_bytes = 4096;
  limits.block_bytes = 1 << 16;
  WarcReader reader(MemorySource(bytes), limits);
  // Each step reads at least a byte, but a small input can inflate to very many
  // tiny records.
  for (int steps = 0; steps < 2000; ++steps) {
    auto more = reader.Next();
    absl::Status status = more.status();
    if (more.ok()) {
      if (!*more) return;
      Require(reader.offset() <= bytes.size());
      if (stream) {
        char buffer[100];
        uint64_t size = 0;
        absl::StatusOr<size_t> n = size_t{1};
        while ((n = reader.ReadBlock(buffer, sizeof buffer)).ok() && *n > 0) {
          size += *n;
        }
        status = n.status();
        if (status.ok()) Require(size == reader.header().content_length);
      } else if (auto block = reader.ReadWholeBlock(); block.ok()) {
        Require(block->size() == reader.header().content_length);
        UseBlock(reader.header(), *block);
      } else {
        status = block.status();
      }
      if (status.code() == absl::StatusCode::kOutOfRange) continue;
    }
    if (status.ok()) {
      auto end = reader.Finish();
      if (end.ok()) Require(*end <= bytes.size());
      status = end.status();
    }
    if (status.ok()) continue;
    Require(status.code() == absl::StatusCode::kDataLoss);
    if (!reader.Resync().value()) return;
  }
}

}  // namespace
}  // namespace gannet::storage

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  gannet::storage::ReadAll(bytes, /*stream=*/false);
  gannet::storage::ReadAll(bytes, /*stream=*/true);
  return 0;
}
