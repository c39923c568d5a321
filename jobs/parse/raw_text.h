// Where text ends in which tags are no tags: comments, and the content of
// script, style, textarea and the like (the HTML standard, 13.2.5.9 to .31 and
// .41 to .52). Functions only; safe from any thread.
#pragma once

#include <string_view>

namespace gannet::jobs {

// `at` is behind "<!--". Returns where the comment is over: behind its "-->",
// "--!>", or the '>' of "<!-->" and "<!--->"; `end` if it never is.
const char* EndOfComment(const char* at, const char* end);

// `at` is behind a start tag. Returns the '<' of the end tag that closes it, or
// `end`. REQUIRES: `name` is in lower case.
const char* EndOfRawText(const char* at, const char* end,
                         std::string_view name);

// The same for script, where "<!-- <script>" hides a "</script>".
const char* EndOfScript(const char* at, const char* end);

}  // namespace gannet::jobs
