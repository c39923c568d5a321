#include "federation/exchange/zstd_frame.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>

#include "absl/status/status.h"

namespace gannet::federation {
namespace {

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Out of memory, or a parameter that zstd does not know: no peer can cause
// either.
void Require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

std::string CompressZstd(std::string_view bytes, int level) {
  const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  Require(context != nullptr);
  Require(!ZSTD_isError(
      ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level)));
  Require(!ZSTD_isError(
      ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1)));
  // The receiver would refuse it.
  Require(!ZSTD_isError(
      ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0)));
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(),
                                     bytes.data(), bytes.size());
  Require(!ZSTD_isError(size));
  frame.resize(size);
  return frame;
}

absl::StatusOr<std::string> DecompressZstd(std::string_view frame,
                                           size_t most) {
  // zstd would also read its legacy formats, with code that checks no bounds.
  if (!frame.starts_with("\x28\xb5\x2f\xfd")) {
    return absl::InvalidArgumentError(
        "not a zstd frame: its first bytes are wrong");
  }
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  Require(context != nullptr);
  // zstd allocates the window that the frame asks for. No more than the next
  // power of two above `most` is ever needed.
  const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
  const int window = static_cast<int>(std::bit_width(most));
  Require(!ZSTD_isError(ZSTD_DCtx_setParameter(
      context.get(), ZSTD_d_windowLogMax,
      std::clamp(window, bounds.lowerBound, bounds.upperBound))));

  std::string bytes;
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  for (size_t size = 0;;) {
    if (size == bytes.size()) {
      // One byte more than allowed, to see whether there is one.
      bytes.resize(std::min(most + 1, std::max<size_t>(4096, 2 * size)));
    }
    ZSTD_outBuffer out{bytes.data(), bytes.size(), size};
    const size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left)) {
      return absl::InvalidArgumentError(
          fmt::format("not a zstd frame: {}", ZSTD_getErrorName(left)));
    }
    const bool moved = out.pos > size;
    size = out.pos;
    if (size > most) {
      return absl::ResourceExhaustedError(
          fmt::format("unpacks to more than {} bytes", most));
    }
    if (left == 0) {
      if (in.pos != in.size) {
        return absl::InvalidArgumentError("bytes after the zstd frame");
      }
      bytes.resize(size);
      return bytes;
    }
    if (!moved && in.pos == in.size && size < bytes.size()) {
      return absl::InvalidArgumentError("zstd frame is cut off");
    }
  }
}

}  // namespace gannet::federation
