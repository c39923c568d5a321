// TextTable: rows of cells, printed with aligned columns; numbers to the right.
// Cells are made safe for a terminal here, so that no command forgets it. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gannet::sites {

class TextTable {
 public:
  // A heading that begins with '>' stands on the right, without the '>'.
  explicit TextTable(std::vector<std::string> headings);

  // REQUIRES: as many cells as headings.
  void Add(std::vector<std::string> cells);

  // A line each, two spaces between columns, none at the end of a line.
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

// "1,234,567"
std::string WithCommas(int64_t number);
// "1.5 GB": for people, rounded, in thousands.
std::string BytesForPeople(double bytes);
// "850 ms", "12 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"
std::string SecondsForPeople(double seconds);
// "2026-01-31 23:59:59", UTC; "-" for 0.
std::string TimeForPeople(int64_t ms);

}  // namespace gannet::sites
