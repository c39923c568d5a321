// Text from the web on its way to a terminal. A title or a URL may hold escape
// codes that clear the screen, rename the window or type commands; here they
// become visible characters. Functions only; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gannet::sites {

// Control characters (C0, DEL, C1, the bidirectional overrides, which make text
// read as what it is not) become \n, \t, \x1b, \u{202e}, and bytes that are not
// UTF-8 become \xff. The rest is left alone: a URL in any script stays
// readable.
std::string ForTerminal(std::string_view text);

// The same, but line ends stay: for messages of several lines.
std::string LinesForTerminal(std::string_view text);

// Code points: close enough to columns to align a table.
size_t DisplayWidth(std::string_view utf8);

}  // namespace gannet::sites
