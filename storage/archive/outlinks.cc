#include "storage/archive/outlinks.h"

#include "storage/archive/http_message.h"
#include "storage/archive/warc_header.h"

namespace gannet::storage {
namespace {

constexpr std::string_view kField = "outlink";

}  // namespace

void AppendOutlink(std::string& block, std::string_view url) {
  AppendUriField(block, kField, url);
}

std::string OutlinksBlock(absl::Span<const std::string> urls) {
  std::string block;
  for (const std::string& url : urls) AppendOutlink(block, url);
  return block;
}

std::vector<std::string> ParseOutlinks(std::string_view block) {
  std::vector<std::string> urls;
  while (!block.empty()) {
    const size_t lf = block.find('\n');
    const std::string_view line = block.substr(0, lf);
    block.remove_prefix(lf == std::string_view::npos ? block.size() : lf + 1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (!SameName(TrimBlanks(line.substr(0, colon)), kField)) continue;
    std::string_view url = TrimBlanks(line.substr(colon + 1));
    url = url.substr(0, url.find_first_of(" \t"));
    if (!url.empty()) urls.emplace_back(url);
  }
  return urls;
}

}  // namespace gannet::storage
