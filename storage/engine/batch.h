// Batch: writes that reach an OrderedStore together or not at all. It holds
// plain bytes and knows no engine, so that the same batch can be written to a
// disk, kept in a log, or taken apart by a test. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace gannet::storage {

// Which column of a store: an index into the list that it was opened with. A
// room that uses a store names its columns with an enumeration of its own.
struct ColumnId {
  uint8_t index = 0;

  explicit constexpr ColumnId(size_t index)
      : index(static_cast<uint8_t>(index)) {}
  template <typename Enum>
  requires std::is_enum_v<Enum>
  // Implicit, so that an enumerator can be passed as it is.
  constexpr ColumnId(Enum column) : index(static_cast<uint8_t>(column)) {}
  friend bool operator==(ColumnId, ColumnId) = default;
};

class Batch {
 public:
  void Put(ColumnId column, std::string_view key, std::string_view value);
  void Delete(ColumnId column, std::string_view key);
  // All keys from `from` up to and without `to`. REQUIRES: `from` <= `to`.
  void DeleteRange(ColumnId column, std::string_view from, std::string_view to);
  // Adds to the counter of that row (count.h); without a row it was zero. The
  // row need not be read for it.
  // REQUIRES: the column has counters (ColumnTraits::has_counters).
  void AddCount(ColumnId column, std::string_view key, int64_t change);

  bool empty() const { return bytes_.empty(); }
  size_t bytes() const { return bytes_.size(); }

  // Called for each write, in their order. It need not know ranges and counts.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    virtual void Put(ColumnId column, std::string_view key,
                     std::string_view value) = 0;
    virtual void Delete(ColumnId column, std::string_view key) = 0;
    virtual void DeleteRange(ColumnId /*column*/, std::string_view /*from*/,
                             std::string_view /*to*/) {}
    virtual void AddCount(ColumnId /*column*/, std::string_view /*key*/,
                          int64_t /*change*/) {}
  };
  void Visit(Visitor& visitor) const;

 private:
  enum class Kind : uint8_t { kPut, kDelete, kDeleteRange, kAddCount };
  void Append(Kind kind, ColumnId column, std::string_view first,
              std::string_view second);

  // For each write: kind, column, two lengths of four bytes, two strings.
  std::string bytes_;
};

}  // namespace gannet::storage
