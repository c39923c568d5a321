#include "storage/engine/ordered_store.h"

namespace gannet::storage {

std::string AfterPrefix(std::string_view prefix) {
  std::string key(prefix);
  while (!key.empty() && key.back() == '\xff') key.pop_back();
  if (!key.empty()) ++key.back();
  return key;
}

absl::Status ForEachRow(OrderedStore& store, ColumnId column,
                        const KeyRange& range, const RowVisitor& visit,
                        const ReadOptions& options) {
  const std::unique_ptr<Cursor> row = store.NewCursor(column, range, options);
  for (row->Seek(range.from); row->Valid(); row->Next()) {
    if (!visit(row->key(), row->value())) break;
  }
  return row->status();
}

}  // namespace gannet::storage
