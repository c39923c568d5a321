// Undoes the Content-Encoding of a response (RFC 9110, 8.4): gzip, x-gzip,
// deflate, br, zstd, identity, and several of them one upon the other.
// Strangers wrote these bytes: a limit on what comes out keeps a bomb of 250 KB
// from becoming 256 MiB, and what is damaged is dropped whole, because half a
// page would look like a page that lost its links.
//
// Departures, as browsers do: "deflate" means the zlib format (RFC 1950), but
// raw deflate is read too; bytes behind a complete stream are ignored; several
// gzip members in a row are one text.
//
// Not thread-safe: one per worker, whose buffers are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gannet::jobs {

enum class DecodeOutcome : uint8_t {
  kOk,
  kTooLarge,       // More than the limit comes out.
  kDamaged,        // Cut short, or not of the coding at all.
  kUnknownCoding,  // Or more than kMaxCodings of them.
};

class ContentDecoder {
 public:
  // Servers that code twice exist; three times is an attack.
  static constexpr size_t kMaxCodings = 3;

  explicit ContentDecoder(size_t max_decoded_bytes)
      : max_bytes_(max_decoded_bytes) {}

  // `codings` is the value of Content-Encoding, in the order in which they were
  // applied. On kOk `decoded` is a view of `body` (identity) or of this
  // decoder's memory, valid until the next call; otherwise it is empty.
  // The limit holds for identity too.
  DecodeOutcome Decode(std::string_view codings, std::string_view body,
                       std::string_view& decoded);

 private:
  enum class Coding : uint8_t { kIdentity, kGzip, kDeflate, kBrotli, kZstd };

  static bool ParseCoding(std::string_view name, Coding& coding);
  DecodeOutcome DecodeOne(Coding coding, std::string_view in, std::string& out);
  DecodeOutcome DecodeGzip(std::string_view in, std::string& out);
  // `window_bits` as zlib's inflateInit2 takes them.
  DecodeOutcome Inflate(std::string_view in, int window_bits, std::string& out);
  DecodeOutcome DecodeBrotli(std::string_view in, std::string& out);
  DecodeOutcome DecodeZstd(std::string_view in, std::string& out);
  // Makes `out` larger for more; false if it has the limit's size already.
  bool Grow(std::string& out) const;

  const size_t max_bytes_;
  // Stacked codings go from one to the other.
  std::string buffers_[2];
};

}  // namespace gannet::jobs
