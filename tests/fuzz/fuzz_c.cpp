// Fuzzer of the C interface: DLPack's tensors and arrays of any description, right or wrong, are refused with a message, or give what their
// elements, taken one by one, give.
//   fuzz_c [--seconds N] [--seed S]
#include "support/fuzz.hpp"

#include <samesum/samesum.h>
#include <samesum/accumulator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

// As in DLPack's header.
struct DLManagedTensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t rank;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
  void* manager_context;
  void (*deleter)(DLManagedTensor*);
};

namespace samesum {
namespace {

using hard::Random;
using test::Mismatch;

constexpr std::size_t kElements = 4096;  // of float64, in the memory that tensors lie in

// A status with what belongs to it.
bool succeeded(samesum_status status) {
  if (status == SAMESUM_OK) return true;
  const std::string_view message = samesum_message();
  if (status > SAMESUM_CANCELLED || status == SAMESUM_DEVICE)
    throw Mismatch(fmt::format("status {}: {}", static_cast<unsigned>(status), message));
  if (message.empty() || message.size() > 2000) throw Mismatch("a failure without a message");
  if (std::ranges::any_of(message, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    throw Mismatch("a message that cannot be printed");
  return false;
}

std::int64_t odd_number(Random& random) {
  constexpr std::int64_t kOdd[] = {0, 1, -1, 2, INT32_MAX, INT32_MIN, std::int64_t{1} << 32, INT64_MAX, INT64_MIN, INT64_MAX / 8 + 1, -5};
  return random.below(8) == 0 ? static_cast<std::int64_t>(random.bits(64)) : kOdd[random.below(std::size(kOdd))];
}

// Memory, and a tensor of some of it.
struct Given {
  std::vector<double> memory;
  std::vector<std::int64_t> shape, strides;
  DLManagedTensor tensor = {};
  int deleted = 0;
};

// A tensor all of whose elements lie in the memory.
void make_right(Random& random, Given& given) {
  given.memory.resize(kElements);
  for (double& x : given.memory) x = std::ldexp(random.between(-1000, 1000), random.between(-60, 60));
  std::int64_t least = 0, greatest = 0, count = 1;
  for (std::uint64_t axis = random.below(5); axis-- > 0;) {
    const auto extent = static_cast<std::int64_t>(random.below(random.below(8) == 0 ? 2 : 9));
    const std::int64_t stride = random.between(-40, 40);
    if (count * extent > 512) break;
    if (const std::int64_t reach = (extent - 1) * stride; extent > 0) {
      if (least + std::min<std::int64_t>(reach, 0) < -1900 || greatest + std::max<std::int64_t>(reach, 0) > 1900) break;
      least += std::min<std::int64_t>(reach, 0);
      greatest += std::max<std::int64_t>(reach, 0);
    }
    count *= extent;
    given.shape.push_back(extent);
    given.strides.push_back(stride);
  }
  DLManagedTensor& tensor = given.tensor;
  tensor = {.data = given.memory.data(),
            .device_type = 1,
            .device_id = 0,
            .rank = static_cast<std::int32_t>(given.shape.size()),
            .code = 2,
            .bits = 64,
            .lanes = 1,
            .shape = given.shape.data(),
            .strides = given.strides.data(),
            .byte_offset = 8 * (2000 + random.below(90)),
            .manager_context = &given.deleted,
            .deleter = [](DLManagedTensor* self) { ++*static_cast<int*>(self->manager_context); }};
}

// Makes something of it odd, after which its elements may lie anywhere.
void make_odd(Random& random, Given& given) {
  DLManagedTensor& tensor = given.tensor;
  const auto one_of = [&](std::vector<std::int64_t>& numbers) {
    if (!numbers.empty()) numbers[random.below(numbers.size())] = odd_number(random);
  };
  switch (random.below(9)) {
    case 0:
      one_of(given.shape);
      break;
    case 1:
      one_of(given.strides);
      break;
    case 2:
      tensor.rank = static_cast<std::int32_t>(random.below(2) == 0 ? -1 - random.between(0, 3) : random.between(65, 1000));
      break;
    case 3:
      tensor.code = static_cast<std::uint8_t>(random.bits(8));
      break;
    case 4:
      tensor.bits = static_cast<std::uint8_t>(random.bits(8));
      break;
    case 5:
      tensor.lanes = static_cast<std::uint16_t>(random.bits(16));
      break;
    case 6:
      tensor.device_type = static_cast<std::int32_t>(random.below(2) == 0 ? 5 + random.below(8) : random.bits(32)) | 1 << 5;
      break;
    case 7:
      tensor.data = nullptr;
      break;
    default:
      tensor.shape = nullptr;
      break;
  }
}

// The elements in C order, each by its own address.
std::vector<double> elements(const samesum_array& array) {
  std::uint64_t count = 1;
  for (std::uint32_t axis = 0; axis < array.rank; ++axis) count *= array.shape[axis];
  std::vector<double> found(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i;
    std::int64_t offset = 0;
    for (std::uint32_t axis = array.rank; axis-- > 0; rest /= array.shape[axis]) {
      offset += static_cast<std::int64_t>(rest % array.shape[axis]) * array.strides[axis];
    }
    std::memcpy(&found[i], static_cast<const char*>(array.data) + offset, sizeof(double));
  }
  return found;
}

void compare(std::string_view name, double found, double expected) {
  if (std::bit_cast<std::uint64_t>(found) != std::bit_cast<std::uint64_t>(expected))
    throw Mismatch(fmt::format("{}: {} instead of {}", name, found, expected));
}

// Calls with an array whose elements may be read.
void check_array(Random& random, const samesum_array& array) {
  const std::vector<double> values = elements(array);
  Accumulator sum;
  for (const double x : values) sum.add(x);
  const samesum_options one_thread = {
      .size = sizeof(samesum_options), .device = nullptr, .skip_nan = 0, .threads = 1, .progress = nullptr, .context = nullptr};
  const samesum_options* options = random.below(2) == 0 ? nullptr : &one_thread;
  double result = -1;
  if (!succeeded(samesum_sum(&array, options, &result))) throw Mismatch("no sum");
  compare("sum", result, sum.round());
  if (succeeded(samesum_mean(&array, options, &result)) != !values.empty()) throw Mismatch("a mean of no elements, or none of some");
  const std::uint64_t count = values.size();
  const samesum_array row = {
      .data = values.data(), .type = SAMESUM_FLOAT64, .rank = 1, .shape = &count, .strides = nullptr, .device = nullptr, .offset = 0};
  double mean_of_row = 0;
  if (!values.empty()) compare("mean", result, succeeded(samesum_mean(&row, options, &mean_of_row)) ? mean_of_row : -1);
  samesum_extremum extremum = {};
  if (succeeded(samesum_min(&array, options, &extremum)) != !values.empty()) throw Mismatch("an extremum of no elements, or none of some");
  if (!values.empty()) {
    const auto least = std::ranges::min_element(values, [](double a, double b) { return std::strong_order(a, b) < 0; });
    compare("min", extremum.value.real, *least);
    if (extremum.index != static_cast<std::uint64_t>(least - values.begin())) throw Mismatch("the index of the minimum");
  }
  if (succeeded(samesum_sum(random.below(2) == 0 ? nullptr : &array, options, nullptr))) throw Mismatch("a result to nowhere");
}

// As users fill in the struct itself: types and ranks that there are not.
void check_struct(Random& random, samesum_array array) {
  std::vector<std::uint64_t> shape(array.shape, array.shape + array.rank);
  switch (random.below(4)) {
    case 0:
      array.type = static_cast<samesum_type>(12 + random.bits(20));
      break;
    case 1:
      array.rank = static_cast<std::uint32_t>(65 + random.bits(16));
      break;
    case 2:
      shape.assign(3, std::uint64_t{1} << random.between(22, 63));
      array.rank = 3;
      array.shape = shape.data();
      array.strides = nullptr;
      break;
    default:
      if (array.rank == 0) return;
      array.shape = nullptr;
      break;
  }
  double result = 0;
  samesum_value value = {};
  if (succeeded(samesum_sum(&array, nullptr, &result)) || succeeded(samesum_product(&array, nullptr, &value)))
    throw Mismatch("an array that is none was read");
}

void check_one(Random& random) {
  Given given;
  make_right(random, given);
  const bool right = random.below(2) == 0;
  if (!right) make_odd(random, given);
  samesum_array array = {};
  samesum_tensor* owner = nullptr;
  if (!succeeded(samesum_array_from_dlpack(random.below(64) == 0 ? nullptr : &given.tensor, nullptr, &array, &owner))) {
    if (owner != nullptr || given.deleted != 0) throw Mismatch("a tensor that was refused was taken");
    return;
  }
  if (array.rank != static_cast<std::uint32_t>(given.tensor.rank)) throw Mismatch("another rank");
  if (right) check_array(random, array);
  if (right) check_struct(random, array);
  samesum_tensor_free(owner);
  if (given.deleted != 1) throw Mismatch(fmt::format("the tensor was freed {} times", given.deleted));
}

}  // namespace
}  // namespace samesum

int main(int argc, char** argv) { return samesum::test::fuzz("fuzz_c", argc, argv, samesum::check_one); }
