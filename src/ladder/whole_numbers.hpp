// Data whose sums are exact in any order, on which a kernel of the user's own is checked a second time: an error bound has room for
// elements that are left out.
#pragma once

#include "core/view.hpp"
#include "device/device.hpp"
#include "ladder/reduce/textbook.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace samesum::bench {

/// As many numbers as there are data, or, of more than `most`, fewer with the same remainder: a loop ends as it does on the data.
std::uint64_t whole_count(std::uint64_t size, std::uint64_t most);

/// The numbers 1, 2 and 3, mixed, as float32 or float64. In float32 the sum of up to 2^22 of them is exact in any order.
std::vector<char> whole_numbers(DType type, std::uint64_t count, std::uint64_t seed);

/// Why a kernel that adds up all of `size` elements of `type`, float32 or float64, does not add up such numbers; empty if it does.
/// `prepare` makes the launches for that many elements. Requires that the device's mutex is held.
std::string why_not_whole_sum(device::Device& device, DType type, std::uint64_t size,
                              const std::function<std::shared_ptr<reduction::TextbookSum>(const device::Memory&, std::uint64_t)>& prepare);

}  // namespace samesum::bench
