// Order is how a site ranks the pages that wait: which of them generate takes
// first. It is a property of the crawl DB, fixed with the first page, for every
// row of the frontier is filed under it. Functions only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace gannet::storage {

enum class Order : uint8_t {
  kOpic,          // Important pages first (score.h).
  kBreadthFirst,  // Those nearest to a seed first.
  kRandom,        // By the hash of the URL: a baseline.
};

// Stored on disk: never change a name.
inline constexpr std::array<std::pair<std::string_view, Order>, 3> kOrderNames =
    {{{"opic", Order::kOpic},
      {"breadth-first", Order::kBreadthFirst},
      {"random", Order::kRandom}}};

inline std::string_view OrderName(Order order) {
  return kOrderNames[static_cast<size_t>(order)].first;
}

inline std::optional<Order> OrderFromName(std::string_view name) {
  for (const auto& [known, order] : kOrderNames) {
    if (known == name) return order;
  }
  return std::nullopt;
}

}  // namespace gannet::storage
