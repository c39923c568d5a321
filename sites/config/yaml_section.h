// YamlSection reads one section of site.yaml: the reading function asks for
// each key that may be there, by the type that it must have, and what was never
// asked for is unknown. So the reading functions are the schema, and there is
// no second list to keep in step. All that is wrong is collected, with line and
// column. Not thread-safe.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace gannet::sites {

// What is wrong with the file, and which keys there are.
class YamlProblems {
 public:
  explicit YamlProblems(std::string_view file) : file_(file) {}

  void Add(const YAML::Mark& at, std::string_view key, std::string_view what);
  // OK, or kInvalidArgument with a line for each problem, in file order.
  absl::Status ToStatus() const;

  void NoteKey(std::string key) { keys_.push_back(std::move(key)); }
  const std::vector<std::string>& keys() const { return keys_; }

  // What each key had before it was looked up, as YAML: reading an empty file
  // into a configuration is how one is written down.
  void NoteValue(std::string key, std::string yaml) {
    values_.emplace_back(std::move(key), std::move(yaml));
  }
  const std::vector<std::pair<std::string, std::string>>& values() const {
    return values_;
  }

 private:
  struct Problem {
    int line, column;
    std::string text;
  };
  const std::string file_;
  std::vector<Problem> problems_;
  std::vector<std::string> keys_;
  std::vector<std::pair<std::string, std::string>> values_;
};

class YamlSection {
 public:
  // `path` is "" for the whole file, else "crawl", "urls.allow".
  // A section that is not there, or empty, leaves all as it was.
  YamlSection(const YAML::Node& node, std::string path, YamlProblems& problems);

  // Each leaves `value` alone unless the key is there and right.
  void Text(const char* key, std::string& value, std::string_view allowed,
            const std::function<bool(const std::string&)>& is_right);
  void Flag(const char* key, bool& value);
  void Number(const char* key, int64_t& value, int64_t least, int64_t most);
  void Number(const char* key, std::optional<int64_t>& value, int64_t least,
              int64_t most);
  void Duration(const char* key, absl::Duration& value, absl::Duration least,
                absl::Duration most);
  void Size(const char* key, uint64_t& value, uint64_t least, uint64_t most);
  void List(const char* key, std::vector<std::string>& value,
            std::string_view allowed,
            const std::function<bool(const std::string&)>& is_right);
  // Why an entry is wrong; empty if it is not.
  void List(const char* key, std::vector<std::string>& value,
            const std::function<std::string(const std::string&)>& problem);
  template <typename Enum>
  void Choice(const char* key, Enum& value,
              std::initializer_list<std::pair<const char*, Enum>> choices) {
    std::vector<std::string> names;
    for (const auto& choice : choices) {
      names.emplace_back(choice.first);
      if (choice.second == value) Note(key, OrNothing(names.back()));
    }
    const std::optional<size_t> chosen = Choose(key, names);
    if (chosen.has_value()) value = (choices.begin() + *chosen)->second;
  }
  // A key of a feature that is not built yet: only `neutral`, which turns it
  // off, is accepted.
  void NotYet(const char* key, std::string_view neutral, std::string_view what);
  // Two numbers in a list.
  void Pair(const char* key, std::optional<std::pair<double, double>>& value,
            std::string_view allowed);
  YamlSection Section(const char* key);

  // Every key that nobody asked for is a problem. The last call.
  void End();

 private:
  void Note(const char* key, std::string yaml) {
    problems_.NoteValue(PathOf(key), std::move(yaml));
  }
  // YAML takes an empty word for no value.
  static std::string OrNothing(const std::string& word) {
    return word.empty() ? "\"\"" : word;
  }
  // The value of the key, a scalar; null if it is not there or is none.
  std::optional<std::string> Scalar(const char* key, std::string_view allowed);
  YAML::Node Find(const char* key);
  std::optional<size_t> Choose(const char* key,
                               const std::vector<std::string>& names);
  std::string PathOf(std::string_view key) const;
  void Wrong(const char* key, const YAML::Node& node, std::string_view allowed);

  std::vector<std::pair<YAML::Node, YAML::Node>> entries_;
  const std::string path_;
  YamlProblems& problems_;
  std::vector<std::string> asked_;
};

}  // namespace gannet::sites
