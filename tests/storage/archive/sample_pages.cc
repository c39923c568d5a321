#include "tests/storage/archive/sample_pages.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "storage/archive/outlinks.h"

namespace gannet::storage {
namespace {

// Made-up words; as in real languages, the frequent ones are short.
std::string Word(uint32_t rank) {
  std::minstd_rand letters(rank + 1);
  std::string word;
  const uint32_t size = 2 + rank % 4 + (rank > 50 ? 3 : 0);
  for (uint32_t i = 0; i < size; ++i) {
    const std::string_view from = i % 2 == 0 ? "bcdfglmnprst" : "aeiou";
    word += from[letters() % from.size()];
  }
  return word;
}

const std::vector<std::string>& Words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> made;
    for (uint32_t i = 0; i < 1500; ++i) made.push_back(Word(i));
    return made;
  }();
  return words;
}

}  // namespace

SamplePage MakeSamplePage(uint32_t seed, size_t body_bytes) {
  std::mt19937 random(seed);
  const auto word = [&random]() -> const std::string& {
    // Roughly by Zipf's law.
    const double u = (random() + 1.0) / 4294967297.0;
    return Words()[static_cast<size_t>(std::pow(1500.0, u)) % 1500];
  };
  SamplePage page;
  page.url =
      fmt::format("http://host{}.example/{}/{}.html", seed % 97, word(), seed);
  page.request = fmt::format(
      "GET /{}.html HTTP/1.1\r\nHost: host{}.example\r\nUser-Agent: "
      "examplebot/1.0 (+https://example.org/bot)\r\nAccept: text/html\r\n"
      "Accept-Encoding: gzip, br\r\n\r\n",
      seed, seed % 97);
  page.body = "<!DOCTYPE html>\n<html><head><title>" + word() +
              "</title></head>\n<body>\n";
  int links = 0;
  while (page.body.size() < body_bytes) {
    page.body += fmt::format(
        "<div class=\"section\">\n<h3 class=\"title\"><a id=\"{0}\"></a>{0}"
        "</h3>\n<p class=\"text\">",
        word());
    for (int i = 0; i < 30; ++i)
      page.body += word() + (i % 11 == 10 ? ". " : " ");
    page.body += fmt::format(
        "<code class=\"literal\">{}</code> {} <em>{}</em>.</p>\n<ul "
        "class=\"links\">\n<li class=\"link\"><a class=\"xref\" "
        "href=\"/{}.html\">{}</a></li>\n",
        word(), word(), word(), word(), word());
    const std::string target = fmt::format("http://host{}.example/{}/{}.html",
                                           random() % 97, word(), random());
    if (links++ < 22) AppendOutlink(page.outlinks, target);
    page.body += fmt::format(
        "<li class=\"link\"><a class=\"xref\" "
        "href=\"{}\">{}</a></li>\n</ul>\n</div>\n",
        target, word());
  }
  page.body.resize(body_bytes);
  page.head = fmt::format(
      "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 31 Jan 2026 "
      "23:59:59 GMT\r\nContent-Type: text/html; charset=utf-8\r\n"
      "Content-Length: {}\r\nLast-Modified: Fri, 30 Jan 2026 10:00:00 GMT\r\n"
      "ETag: \"{:x}-{:x}\"\r\nConnection: keep-alive\r\n\r\n",
      body_bytes, body_bytes, seed * 2654435761u);
  return page;
}

std::vector<NewRecord> RecordsOf(const SamplePage& page, absl::Time date) {
  return {{.type = RecordType::kRequest,
           .url = page.url,
           .date = date,
           .ip = "192.0.2.1",
           .head = page.request,
           .concurrent_to = kSampleResponse},
          {.type = RecordType::kResponse,
           .url = page.url,
           .date = date,
           .ip = "192.0.2.1",
           .head = page.head,
           .payload = page.body},
          {.type = RecordType::kMetadata,
           .url = page.url,
           .date = date,
           .head = page.outlinks,
           .concurrent_to = kSampleResponse}};
}

}  // namespace gannet::storage
