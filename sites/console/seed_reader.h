// SeedReader reads what `gannet inject` was given: a URL is itself, a file
// holds one a line ('#' begins a comment line), '-' is standard input. Not
// thread-safe.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace gannet::sites {

class SeedReader {
 public:
  // Takes a line that should be a URL, and its place for people: "seeds.txt:7",
  // "command line". An error ends the reading.
  using TakeLine = std::function<absl::Status(std::string_view url,
                                              const std::string& where)>;

  explicit SeedReader(TakeLine take_line) : take_line_(std::move(take_line)) {}

  // Not standard input, nor a pipe.
  static bool CanBeReadAgain(const std::string& file_or_url);

  // A URL, a file's path, or "-". kNotFound if it is no URL and there is no
  // such file; otherwise an error of TakeLine.
  absl::Status Read(const std::string& file_or_url);

 private:
  absl::Status ReadLines(std::istream& in, const std::string& name);

  const TakeLine take_line_;
};

}  // namespace gannet::sites
