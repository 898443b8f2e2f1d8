#include "group/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>

namespace samesum::cli {

std::uint64_t KeyNumbers::of(const Grouped::Key& key, std::vector<Grouped::Key>& keys) {
  const auto [at, added] = numbers_.try_emplace(key, keys.size());
  if (added) keys.push_back(key);
  return at->second;
}

std::vector<std::size_t> order_of(const std::vector<Grouped::Key>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (keys.empty()) return order;
  const auto number = [](const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !std::isnan(value) ? std::optional(value) : std::nullopt;
  };
  std::vector<bool> numeric(keys.front().size());
  for (std::size_t i = 0; i < numeric.size(); ++i)
    numeric[i] = std::ranges::all_of(keys, [&](const Grouped::Key& key) { return number(key[i]).has_value(); });
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    for (std::size_t i = 0; i < numeric.size(); ++i) {
      const std::string &x = keys[a][i], &y = keys[b][i];
      if (numeric[i] && *number(x) != *number(y)) return *number(x) < *number(y);
      if (x != y) return x < y;
    }
    return false;
  });
  return order;
}

std::string text_of(const Grouped::Key& key) { return fmt::format("{}", fmt::join(key, ", ")); }

std::string with_group_named(const std::string& message, const std::function<std::string(std::uint64_t)>& name) {
  constexpr std::string_view kGroup = "group ";
  const std::size_t at = message.find(kGroup);
  if (at == std::string::npos) return message;
  std::uint64_t group = 0;
  const auto [end, error] = std::from_chars(message.data() + at + kGroup.size(), message.data() + message.size(), group);
  return error == std::errc() ? fmt::format("{}{}{}", message.substr(0, at), name(group), std::string(end)) : message;
}

}  // namespace samesum::cli
