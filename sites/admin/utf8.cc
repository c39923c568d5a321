#include "sites/admin/utf8.h"

#include "storage/url/percent.h"

namespace gannet::sites {

std::string Utf8(std::string_view bytes) {
  if (storage::IsUtf8(bytes)) return std::string(bytes);
  std::string text;
  for (size_t pos = 0; pos < bytes.size();) {
    storage::AppendUtf8(storage::NextCodePoint(bytes, pos), text);
  }
  return text;
}

}  // namespace gannet::sites
