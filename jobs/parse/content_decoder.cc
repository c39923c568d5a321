#include "jobs/parse/content_decoder.h"

#include <brotli/decode.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "storage/archive/http_message.h"

namespace gannet::jobs {
namespace {

constexpr size_t kFirstBytes = size_t{64} << 10;
// Buffers are kept up to this size between pages: one huge page must not occupy
// memory for ever.
constexpr size_t kKeptBytes = size_t{4} << 20;
// Deflate cannot expand more than this, by its format.
constexpr size_t kMostDeflateRatio = 1032;

const uint8_t* Bytes(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

}  // namespace

bool ContentDecoder::ParseCoding(std::string_view name, Coding& coding) {
  struct Name {
    std::string_view name;
    Coding coding;
  };
  static constexpr Name kNames[] = {
      {"gzip", Coding::kGzip},         {"x-gzip", Coding::kGzip},
      {"deflate", Coding::kDeflate},   {"br", Coding::kBrotli},
      {"zstd", Coding::kZstd},         {"identity", Coding::kIdentity},
      {"x-deflate", Coding::kDeflate}, {"none", Coding::kIdentity}};
  for (const Name& known : kNames) {
    if (!storage::SameName(known.name, name)) continue;
    coding = known.coding;
    return true;
  }
  return false;
}

DecodeOutcome ContentDecoder::Decode(std::string_view codings,
                                     std::string_view body,
                                     std::string_view& decoded) {
  decoded = {};
  for (std::string& buffer : buffers_) {
    if (buffer.capacity() > kKeptBytes) std::string().swap(buffer);
  }
  Coding stack[kMaxCodings];
  size_t count = 0;
  while (!codings.empty()) {
    const size_t comma = codings.find(',');
    const std::string_view name = storage::TrimBlanks(codings.substr(0, comma));
    codings =
        comma == codings.npos ? std::string_view() : codings.substr(comma + 1);
    if (name.empty()) continue;
    Coding coding = Coding::kIdentity;
    if (!ParseCoding(name, coding)) return DecodeOutcome::kUnknownCoding;
    if (coding == Coding::kIdentity) continue;
    if (count == kMaxCodings) return DecodeOutcome::kUnknownCoding;
    stack[count++] = coding;
  }
  std::string_view in = body;
  for (size_t i = count; i-- > 0;) {
    if (in.empty()) break;  // An empty body is often sent uncoded.
    std::string& out = buffers_[i % 2];
    const DecodeOutcome outcome = DecodeOne(stack[i], in, out);
    if (outcome != DecodeOutcome::kOk) return outcome;
    in = out;
  }
  if (in.size() > max_bytes_) return DecodeOutcome::kTooLarge;
  decoded = in;
  return DecodeOutcome::kOk;
}

DecodeOutcome ContentDecoder::DecodeOne(Coding coding, std::string_view in,
                                        std::string& out) {
  out.clear();
  switch (coding) {
    case Coding::kGzip:
      return DecodeGzip(in, out);
    case Coding::kDeflate: {
      const DecodeOutcome outcome = Inflate(in, MAX_WBITS, out);
      if (outcome != DecodeOutcome::kDamaged) return outcome;
      out.clear();
      return Inflate(in, -MAX_WBITS, out);
    }
    case Coding::kBrotli:
      return DecodeBrotli(in, out);
    case Coding::kZstd:
      return DecodeZstd(in, out);
    case Coding::kIdentity:
      break;
  }
  out.assign(in);
  return DecodeOutcome::kOk;
}

bool ContentDecoder::Grow(std::string& out) const {
  if (out.size() >= max_bytes_) return false;
  const size_t wanted = std::max({out.size() * 2, out.capacity(), kFirstBytes});
  out.resize(std::min(wanted, max_bytes_));
  return true;
}

// The last four bytes of a gzip file are its size, if it is one member: then
// libdeflate, twice as fast as zlib, can do it in one go. If anything about it
// is not so, zlib judges.
DecodeOutcome ContentDecoder::DecodeGzip(std::string_view in,
                                         std::string& out) {
  constexpr size_t kLeastBytes = 18;  // Header and trailer.
  if (in.size() >= kLeastBytes) {
    size_t size = 0;
    for (int i = 1; i <= 4; ++i) {
      size = size << 8 | static_cast<uint8_t>(in[in.size() - i]);
    }
    if (size > 0 && size <= max_bytes_ &&
        size <= in.size() * kMostDeflateRatio) {
      thread_local const std::unique_ptr<libdeflate_decompressor,
                                         void (*)(libdeflate_decompressor*)>
          decompressor(libdeflate_alloc_decompressor(),
                       libdeflate_free_decompressor);
      out.resize(size);
      size_t used = 0, made = 0;
      if (libdeflate_gzip_decompress_ex(decompressor.get(), in.data(),
                                        in.size(), out.data(), size, &used,
                                        &made) == LIBDEFLATE_SUCCESS &&
          used == in.size() && made == size) {
        return DecodeOutcome::kOk;
      }
      out.clear();
    }
  }
  return Inflate(in, MAX_WBITS + 16, out);
}

DecodeOutcome ContentDecoder::Inflate(std::string_view in, int window_bits,
                                      std::string& out) {
  z_stream stream = {};
  if (inflateInit2(&stream, window_bits) != Z_OK)
    return DecodeOutcome::kDamaged;
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream,
                                                             inflateEnd);
  size_t made = 0;
  size_t read = 0;
  while (true) {
    char extra;
    if (made == out.size() && !Grow(out)) {
      // Full. One more byte of room tells "exactly the limit" from "more".
      stream.next_out = reinterpret_cast<Bytef*>(&extra);
      stream.avail_out = 1;
    } else {
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
      stream.avail_out = static_cast<uInt>(
          std::min<size_t>(out.size() - made, size_t{1} << 30));
    }
    const uInt room = stream.avail_out;
    stream.next_in = const_cast<Bytef*>(Bytes(in) + read);
    stream.avail_in =
        static_cast<uInt>(std::min<size_t>(in.size() - read, size_t{1} << 30));
    const uInt offered = stream.avail_in;
    const int result = inflate(&stream, Z_NO_FLUSH);
    read += offered - stream.avail_in;
    const size_t step = room - stream.avail_out;
    if (made == max_bytes_ && step > 0) return DecodeOutcome::kTooLarge;
    made += step;
    if (result == Z_STREAM_END) {
      const std::string_view rest = in.substr(read);
      if (window_bits > MAX_WBITS && rest.size() > 2 && rest[0] == '\x1f' &&
          rest[1] == '\x8b') {
        inflateReset(&stream);  // The next member.
        continue;
      }
      break;
    }
    if (result != Z_OK) return DecodeOutcome::kDamaged;  // Z_BUF_ERROR: cut.
    if (step == 0 && offered == stream.avail_in) return DecodeOutcome::kDamaged;
  }
  out.resize(made);
  return DecodeOutcome::kOk;
}

DecodeOutcome ContentDecoder::DecodeBrotli(std::string_view in,
                                           std::string& out) {
  const std::unique_ptr<BrotliDecoderState, void (*)(BrotliDecoderState*)>
      state(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr),
            BrotliDecoderDestroyInstance);
  size_t made = 0;
  const uint8_t* next_in = Bytes(in);
  size_t in_left = in.size();
  while (true) {
    char extra;
    const bool full = made == out.size() && !Grow(out);
    auto* next_out =
        reinterpret_cast<uint8_t*>(full ? &extra : out.data() + made);
    size_t room = full ? 1 : out.size() - made;
    const size_t had = room;
    const BrotliDecoderResult result = BrotliDecoderDecompressStream(
        state.get(), &in_left, &next_in, &room, &next_out, nullptr);
    if (full && room < had) return DecodeOutcome::kTooLarge;
    made += had - room;
    if (result == BROTLI_DECODER_RESULT_SUCCESS) break;
    if (result != BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
      return DecodeOutcome::kDamaged;
    }
  }
  out.resize(made);
  return DecodeOutcome::kOk;
}

DecodeOutcome ContentDecoder::DecodeZstd(std::string_view in,
                                         std::string& out) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(
      ZSTD_createDCtx(), ZSTD_freeDCtx);
  // RFC 8878, 3.1.1.1.2 and RFC 9659: the window of a response is 8 MiB at
  // most.
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, 23);
  size_t made = 0;
  ZSTD_inBuffer input = {in.data(), in.size(), 0};
  while (true) {
    char extra;
    const bool full = made == out.size() && !Grow(out);
    ZSTD_outBuffer output = {full ? &extra : out.data() + made,
                             full ? 1 : out.size() - made, 0};
    const size_t before = input.pos;
    const size_t result = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(result)) {
      // Rubbish behind a complete frame fails here too, as a frame of its own.
      return DecodeOutcome::kDamaged;
    }
    if (full && output.pos > 0) return DecodeOutcome::kTooLarge;
    made += output.pos;
    if (result == 0 && input.pos == input.size) break;
    if (output.pos == 0 && input.pos == before) return DecodeOutcome::kDamaged;
  }
  out.resize(made);
  return DecodeOutcome::kOk;
}

}  // namespace gannet::jobs
