// The words that host names, paths, titles and text are made of. Lower-case
// ASCII without digits, so that the only long number in a path is its page's.
// Thread-safe (constants).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gannet::fake_web {

inline constexpr std::array<std::string_view, 128> kWords = {
    "amber",   "anchor",   "apple",    "archer",  "ashen",   "autumn",
    "badger",  "bamboo",   "barley",   "basalt",  "beacon",  "birch",
    "bramble", "breeze",   "bridge",   "bronze",  "candle",  "canyon",
    "carbon",  "castle",   "cedar",    "cherry",  "cinder",  "citrus",
    "clover",  "cobalt",   "comet",    "copper",  "coral",   "cotton",
    "crater",  "cricket",  "crystal",  "cypress", "daisy",   "dapple",
    "delta",   "desert",   "drift",    "dusk",    "eagle",   "ember",
    "falcon",  "feather",  "fennel",   "fern",    "flint",   "forest",
    "fossil",  "frost",    "gannet",   "garnet",  "ginger",  "glacier",
    "granite", "gravel",   "harbor",   "hazel",   "heather", "hollow",
    "honey",   "horizon",  "indigo",   "iron",    "island",  "ivory",
    "jasmine", "juniper",  "kelp",     "kestrel", "lagoon",  "lantern",
    "larch",   "lavender", "lemon",    "lichen",  "linen",   "lotus",
    "lunar",   "magnet",   "maple",    "marble",  "marsh",   "meadow",
    "mercury", "mineral",  "mint",     "mirror",  "mosaic",  "moss",
    "nectar",  "nimbus",   "oak",      "ocean",   "olive",   "onyx",
    "opal",    "orchard",  "osprey",   "oxide",   "paper",   "pebble",
    "pepper",  "pine",     "plover",   "pollen",  "poplar",  "prairie",
    "quartz",  "raven",    "reef",     "ripple",  "river",   "saffron",
    "sage",    "salmon",   "sapphire", "shale",   "silver",  "slate",
    "sparrow", "spruce",   "summit",   "thistle", "timber",  "tundra",
    "velvet",  "willow",
};

// First-level directories; none is in kWords, so that no path repeats a
// segment.
inline constexpr std::array<std::string_view, 16> kSections = {
    "articles", "blog",     "catalogue", "community", "documents", "events",
    "guides",   "help",     "library",   "magazine",  "news",      "products",
    "projects", "research", "reviews",   "stories",
};

inline std::string_view Word(uint64_t bits) { return kWords[bits & 127]; }

}  // namespace gannet::fake_web
