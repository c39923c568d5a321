#include "storage/engine/batch.h"

#include <cstring>

#include "storage/engine/count.h"

namespace gannet::storage {
namespace {

constexpr size_t kHeaderBytes = 2 + 2 * sizeof(uint32_t);

}  // namespace

void Batch::Append(Kind kind, ColumnId column, std::string_view first,
                   std::string_view second) {
  char header[kHeaderBytes];
  header[0] = static_cast<char>(kind);
  header[1] = static_cast<char>(column.index);
  const uint32_t lengths[] = {static_cast<uint32_t>(first.size()),
                              static_cast<uint32_t>(second.size())};
  std::memcpy(header + 2, lengths, sizeof(lengths));
  bytes_.append(header, sizeof(header));
  bytes_.append(first);
  bytes_.append(second);
}

void Batch::Put(ColumnId column, std::string_view key, std::string_view value) {
  Append(Kind::kPut, column, key, value);
}

void Batch::Delete(ColumnId column, std::string_view key) {
  Append(Kind::kDelete, column, key, {});
}

void Batch::DeleteRange(ColumnId column, std::string_view from,
                        std::string_view to) {
  Append(Kind::kDeleteRange, column, from, to);
}

void Batch::AddCount(ColumnId column, std::string_view key, int64_t change) {
  Append(Kind::kAddCount, column, key, EncodeCount(change));
}

void Batch::Visit(Visitor& visitor) const {
  for (std::string_view rest = bytes_; !rest.empty();) {
    const auto kind = static_cast<Kind>(rest[0]);
    const ColumnId column(static_cast<uint8_t>(rest[1]));
    uint32_t lengths[2];
    std::memcpy(lengths, rest.data() + 2, sizeof(lengths));
    const std::string_view first = rest.substr(kHeaderBytes, lengths[0]);
    const std::string_view second =
        rest.substr(kHeaderBytes + lengths[0], lengths[1]);
    rest.remove_prefix(kHeaderBytes + lengths[0] + lengths[1]);
    switch (kind) {
      case Kind::kPut:
        visitor.Put(column, first, second);
        break;
      case Kind::kDelete:
        visitor.Delete(column, first);
        break;
      case Kind::kDeleteRange:
        visitor.DeleteRange(column, first, second);
        break;
      case Kind::kAddCount:
        visitor.AddCount(column, first, DecodeCount(second));
        break;
    }
  }
}

}  // namespace gannet::storage
