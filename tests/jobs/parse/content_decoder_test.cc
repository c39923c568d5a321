#include "jobs/parse/content_decoder.h"

#include <brotli/encode.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

namespace gannet::jobs {
namespace {

constexpr int kGzip = MAX_WBITS + 16;
constexpr int kZlib = MAX_WBITS;
constexpr int kRaw = -MAX_WBITS;

std::string Deflate(std::string_view text, int window_bits) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string Brotli(std::string_view text) {
  size_t size = BrotliEncoderMaxCompressedSize(text.size()) + 64;
  std::string out(size, '\0');
  BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, text.size(),
                        reinterpret_cast<const uint8_t*>(text.data()), &size,
                        reinterpret_cast<uint8_t*>(out.data()));
  out.resize(size);
  return out;
}

std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(
      ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string Page() {
  std::string page;
  for (int i = 0; i < 20'000; ++i) page += "<p>" + std::to_string(i * 7919);
  return page;
}

class ContentDecoderTest : public ::testing::Test {
 protected:
  DecodeOutcome Decode(std::string_view codings, std::string_view body) {
    return decoder_.Decode(codings, body, decoded_);
  }

  static constexpr size_t kLimit = size_t{1} << 20;
  ContentDecoder decoder_{kLimit};
  std::string_view decoded_;
  const std::string page_ = Page();
};

TEST_F(ContentDecoderTest, EveryCodingGivesBackThePage) {
  const std::pair<const char*, std::string> cases[] = {
      {"gzip", Deflate(page_, kGzip)},
      {"X-GZip", Deflate(page_, kGzip)},
      {"deflate", Deflate(page_, kZlib)},
      {"deflate", Deflate(page_, kRaw)},
      {"br", Brotli(page_)},
      {" zstd ", Zstd(page_)},
      {"", page_},
      {"identity", page_}};
  for (const auto& [coding, body] : cases) {
    ASSERT_EQ(Decode(coding, body), DecodeOutcome::kOk) << coding;
    EXPECT_TRUE(decoded_ == page_) << coding;
  }
}

TEST_F(ContentDecoderTest, IdentityIsAViewOfTheInput) {
  ASSERT_EQ(Decode("identity", page_), DecodeOutcome::kOk);
  EXPECT_EQ(decoded_.data(), page_.data());
}

TEST_F(ContentDecoderTest, CodingsAreUndoneFromTheLastToTheFirst) {
  const std::string body = Zstd(Brotli(Deflate(page_, kGzip)));
  ASSERT_EQ(Decode("gzip, br, identity,zstd", body), DecodeOutcome::kOk);
  EXPECT_TRUE(decoded_ == page_);
  EXPECT_EQ(Decode("gzip, gzip, gzip, gzip", body),
            DecodeOutcome::kUnknownCoding);
}

TEST_F(ContentDecoderTest, GzipMembersInARowAreOneText) {
  const std::string body =
      Deflate("first ", kGzip) + Deflate("second", kGzip) + "rubbish";
  ASSERT_EQ(Decode("gzip", body), DecodeOutcome::kOk);
  EXPECT_EQ(decoded_, "first second");
}

TEST_F(ContentDecoderTest, ExactlyTheLimitPassesAndOneByteMoreDoesNot) {
  const std::string most(kLimit, 'x');
  const std::string more(kLimit + 1, 'x');
  const auto both = [&](const char* coding, auto encode) {
    const std::string body = encode(most);
    EXPECT_EQ(Decode(coding, body), DecodeOutcome::kOk) << coding;
    EXPECT_TRUE(decoded_ == most) << coding;
    EXPECT_EQ(Decode(coding, encode(more)), DecodeOutcome::kTooLarge) << coding;
    EXPECT_TRUE(decoded_.empty());
  };
  both("gzip", [](const std::string& t) { return Deflate(t, kGzip); });
  both("deflate", [](const std::string& t) { return Deflate(t, kZlib); });
  both("deflate", [](const std::string& t) { return Deflate(t, kRaw); });
  both("br", [](const std::string& t) { return Brotli(t); });
  both("zstd", [](const std::string& t) { return Zstd(t); });
  both("identity", [](const std::string& t) { return t; });
}

TEST_F(ContentDecoderTest, AnInnerBombIsTooLargeToo) {
  const std::string bomb(kLimit * 20, ' ');
  EXPECT_EQ(Decode("gzip, gzip", Deflate(Deflate(bomb, kGzip), kGzip)),
            DecodeOutcome::kTooLarge);
}

TEST_F(ContentDecoderTest, WhatIsCutShortOrRubbishIsDamagedAndGivesNothing) {
  const std::pair<const char*, std::string> cases[] = {
      {"gzip", Deflate(page_, kGzip)},
      {"deflate", Deflate(page_, kZlib)},
      {"deflate", Deflate(page_, kRaw)},
      {"br", Brotli(page_)},
      {"zstd", Zstd(page_)}};
  for (const auto& [coding, body] : cases) {
    for (const size_t length : {size_t{1}, body.size() / 2, body.size() - 5}) {
      EXPECT_EQ(Decode(coding, body.substr(0, length)), DecodeOutcome::kDamaged)
          << coding << " " << length;
      EXPECT_TRUE(decoded_.empty());
    }
    EXPECT_EQ(Decode(coding, "<!DOCTYPE html><p>not coded at all, but said so"),
              DecodeOutcome::kDamaged)
        << coding;
  }
  std::string flipped = Deflate(page_, kGzip);
  flipped[flipped.size() / 2] = static_cast<char>(~flipped[flipped.size() / 2]);
  EXPECT_EQ(Decode("gzip", flipped), DecodeOutcome::kDamaged);
}

TEST_F(ContentDecoderTest, UnknownCodingsAreReportedAsUnknown) {
  EXPECT_EQ(Decode("compress", page_), DecodeOutcome::kUnknownCoding);
  EXPECT_EQ(Decode("gzip, utf-8", page_), DecodeOutcome::kUnknownCoding);
}

TEST_F(ContentDecoderTest, AnEmptyBodyIsEmptyInEveryCoding) {
  for (const char* coding : {"gzip", "br", "zstd", "deflate", ""}) {
    EXPECT_EQ(Decode(coding, ""), DecodeOutcome::kOk) << coding;
    EXPECT_TRUE(decoded_.empty());
  }
}

}  // namespace
}  // namespace gannet::jobs
