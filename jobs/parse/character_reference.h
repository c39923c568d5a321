// Character references of HTML: &amp; &#233; &#xE9; &eacute (the HTML standard,
// 13.2.5.72 and on). The names come from Python's table at build time
// (make_entities.py); it is the standard's own list of 2,231.
// Functions only; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "jobs/parse/arena.h"

namespace gannet::jobs {

enum class ReferencePlace {
  kText,
  // "&copy=1" and "&copyright" stay as they are: queries are full of them.
  kAttribute,
};

// Appends `raw` with its references replaced, CR LF and CR as LF, and NUL as
// U+FFFD, as the tokenizer would deliver it. Linear.
void AppendDecodedReferences(std::string_view raw, ReferencePlace place,
                             std::string& out);

// The same into the arena; returns `raw` itself if there is nothing to replace,
// which is the rule. Without data() if the arena is full.
std::string_view DecodeReferences(std::string_view raw, ReferencePlace place,
                                  Arena& arena);

}  // namespace gannet::jobs
