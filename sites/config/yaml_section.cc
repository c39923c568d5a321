#include "sites/config/yaml_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "sites/config/quantity.h"

namespace gannet::sites {
namespace {

std::string AsWritten(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar: {
      std::string text = node.Scalar();
      if (text.size() > 60) text = text.substr(0, 60) + "...";
      return fmt::format("'{}'", text);
    }
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a section";
    default:
      return "nothing";
  }
}

std::optional<int64_t> ToNumber(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

// Edits between the two words: insert, remove, replace a letter.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string DidYouMean(const std::string& key,
                       const std::vector<std::string>& known) {
  std::string best;
  size_t least = std::max<size_t>(2, key.size() / 3) + 1;
  if (key.size() <= 40) {
    for (const std::string& name : known) {
      const size_t distance = Distance(key, name);
      if (distance < least) {
        least = distance;
        best = name;
      }
    }
  }
  if (!best.empty()) return fmt::format("did you mean '{}'?", best);
  return fmt::format("allowed are {}", fmt::join(known, ", "));
}

// Between double quotes YAML reads what JSON writes, and more.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

void YamlProblems::Add(const YAML::Mark& at, std::string_view key,
                       std::string_view what) {
  problems_.push_back(
      {at.line, at.column,
       fmt::format("{}:{}:{}: {}{}{}", file_, at.line + 1, at.column + 1, key,
                   key.empty() ? "" : ": ", what)});
}

absl::Status YamlProblems::ToStatus() const {
  if (problems_.empty()) return absl::OkStatus();
  std::vector<Problem> sorted = problems_;
  std::stable_sort(
      sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
        return std::pair(a.line, a.column) < std::pair(b.line, b.column);
      });
  std::string message;
  for (const Problem& problem : sorted) {
    if (!message.empty()) message += '\n';
    message += problem.text;
  }
  return absl::InvalidArgumentError(message);
}

YamlSection::YamlSection(const YAML::Node& node, std::string path,
                         YamlProblems& problems)
    : path_(std::move(path)), problems_(problems) {
  if (!node.IsDefined() || node.IsNull()) return;
  if (!node.IsMap()) {
    problems_.Add(node.Mark(), path_,
                  fmt::format("found {}, allowed is a section of keys and "
                              "values",
                              AsWritten(node)));
    return;
  }
  for (const auto& entry : node) {
    const std::string key =
        entry.first.IsScalar() ? entry.first.Scalar() : std::string();
    const bool again = std::any_of(
        entries_.begin(), entries_.end(),
        [&](const auto& earlier) { return earlier.first.Scalar() == key; });
    if (!entry.first.IsScalar()) {
      problems_.Add(entry.first.Mark(), path_,
                    fmt::format("found {} as a key, allowed is a word",
                                AsWritten(entry.first)));
    } else if (again) {
      problems_.Add(entry.first.Mark(), PathOf(key), "this key is there twice");
    } else {
      entries_.emplace_back(entry.first, entry.second);
    }
  }
}

std::string YamlSection::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

YAML::Node YamlSection::Find(const char* key) {
  asked_.emplace_back(key);
  problems_.NoteKey(PathOf(key));
  for (const auto& [name, value] : entries_) {
    if (name.Scalar() == key) return value;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

void YamlSection::Wrong(const char* key, const YAML::Node& node,
                        std::string_view allowed) {
  problems_.Add(
      node.Mark(), PathOf(key),
      fmt::format("found {}, allowed is {}", AsWritten(node), allowed));
}

std::optional<std::string> YamlSection::Scalar(const char* key,
                                               std::string_view allowed) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return std::nullopt;
  if (!node.IsScalar()) {
    Wrong(key, node, allowed);
    return std::nullopt;
  }
  return node.Scalar();
}

void YamlSection::Text(
    const char* key, std::string& value, std::string_view allowed,
    const std::function<bool(const std::string&)>& is_right) {
  Note(key, Quoted(value));
  const std::optional<std::string> text = Scalar(key, allowed);
  if (!text.has_value()) return;
  if (is_right(*text)) {
    value = *text;
  } else {
    Wrong(key, Find(key), allowed);
  }
}

void YamlSection::Flag(const char* key, bool& value) {
  Note(key, value ? "true" : "false");
  const std::string_view allowed = "true or false";
  const std::optional<std::string> text = Scalar(key, allowed);
  if (!text.has_value()) return;
  if (*text == "true" || *text == "false") {
    value = *text == "true";
  } else {
    Wrong(key, Find(key), allowed);
  }
}

void YamlSection::Number(const char* key, int64_t& value, int64_t least,
                         int64_t most) {
  Note(key, std::to_string(value));
  const std::string allowed =
      fmt::format("a whole number from {} to {}", least, most);
  const std::optional<std::string> text = Scalar(key, allowed);
  if (!text.has_value()) return;
  const std::optional<int64_t> number = ToNumber(*text);
  if (number.has_value() && *number >= least && *number <= most) {
    value = *number;
  } else {
    Wrong(key, Find(key), allowed);
  }
}

void YamlSection::Number(const char* key, std::optional<int64_t>& value,
                         int64_t least, int64_t most) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined() || (node.IsScalar() && node.Scalar() == "auto")) {
    Note(key, value.has_value() ? std::to_string(*value) : "auto");
    return;
  }
  int64_t number = least - 1;
  Number(key, number, least, most);
  if (number >= least) value = number;
}

void YamlSection::Duration(const char* key, absl::Duration& value,
                           absl::Duration least, absl::Duration most) {
  Note(key, DurationText(value));
  const std::string allowed =
      fmt::format("a duration from {} to {}, such as 500ms, 30m or 1h30m",
                  DurationText(least), DurationText(most));
  const std::optional<std::string> text = Scalar(key, allowed);
  if (!text.has_value()) return;
  const std::optional<absl::Duration> duration = ParseDuration(*text);
  if (duration.has_value() && *duration >= least && *duration <= most) {
    value = *duration;
  } else {
    Wrong(key, Find(key), allowed);
  }
}

void YamlSection::Size(const char* key, uint64_t& value, uint64_t least,
                       uint64_t most) {
  Note(key, SizeText(value));
  const std::string allowed =
      fmt::format("a size from {} to {}, such as 0, 64KiB or 5MB",
                  SizeText(least), SizeText(most));
  const std::optional<std::string> text = Scalar(key, allowed);
  if (!text.has_value()) return;
  const std::optional<uint64_t> size = ParseSize(*text);
  if (size.has_value() && *size >= least && *size <= most) {
    value = *size;
  } else {
    Wrong(key, Find(key), allowed);
  }
}

void YamlSection::List(
    const char* key, std::vector<std::string>& value, std::string_view allowed,
    const std::function<bool(const std::string&)>& is_right) {
  List(key, value, [&](const std::string& entry) {
    return is_right(entry)
               ? std::string()
               : fmt::format("found '{}', allowed is {}", entry, allowed);
  });
}

void YamlSection::List(
    const char* key, std::vector<std::string>& value,
    const std::function<std::string(const std::string&)>& problem) {
  std::vector<std::string> quoted;
  for (const std::string& entry : value) quoted.push_back(Quoted(entry));
  Note(key, fmt::format("[{}]", fmt::join(quoted, ", ")));
  const YAML::Node node = Find(key);
  if (!node.IsDefined()) return;
  if (!node.IsSequence()) {
    Wrong(key, node, "a list, such as [one, two]");
    return;
  }
  std::vector<std::string> entries;
  for (const YAML::Node& entry : node) {
    if (!entry.IsScalar()) {
      Wrong(key, entry, "a word in each place of the list");
      continue;
    }
    const std::string why = problem(entry.Scalar());
    if (!why.empty()) problems_.Add(entry.Mark(), PathOf(key), why);
    entries.push_back(entry.Scalar());
  }
  value = std::move(entries);
}

std::optional<size_t> YamlSection::Choose(
    const char* key, const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(OrNothing(name));
  const std::string allowed = fmt::format("{}", fmt::join(shown, " or "));
  const std::optional<std::string> text = Scalar(key, allowed);
  if (!text.has_value()) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return found - names.begin();
  Wrong(key, Find(key), allowed);
  return std::nullopt;
}

void YamlSection::NotYet(const char* key, std::string_view neutral,
                         std::string_view what) {
  const YAML::Node node = Find(key);
  if (!node.IsDefined() || (node.IsScalar() && node.Scalar() == neutral)) {
    return;
  }
  problems_.Add(node.Mark(), PathOf(key),
                fmt::format("found {}, but {} not built yet; remove the key",
                            AsWritten(node), what));
}

void YamlSection::Pair(const char* key,
                       std::optional<std::pair<double, double>>& value,
                       std::string_view allowed) {
  Note(key, value.has_value()
                ? fmt::format("[{}, {}]", value->first, value->second)
                : "null");
  const YAML::Node node = Find(key);
  if (!node.IsDefined() || node.IsNull()) return;
  if (node.IsSequence() && node.size() == 2 && node[0].IsScalar() &&
      node[1].IsScalar()) {
    try {
      const std::pair pair(node[0].as<double>(), node[1].as<double>());
      if (std::abs(pair.first) <= 90 && std::abs(pair.second) <= 180) {
        value = pair;
        return;
      }
    } catch (const YAML::Exception&) {
      // Not two numbers.
    }
  }
  Wrong(key, node, allowed);
}

YamlSection YamlSection::Section(const char* key) {
  return YamlSection(Find(key), PathOf(key), problems_);
}

void YamlSection::End() {
  std::vector<std::string> known;
  for (const std::string& key : asked_) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      known.push_back(key);
    }
  }
  for (const auto& [name, value] : entries_) {
    const std::string& key = name.Scalar();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    problems_.Add(name.Mark(), PathOf(key),
                  "unknown key; " + DidYouMean(key, known));
  }
}

}  // namespace gannet::sites
