// Kernels of the caller's own: launches with several axes, local memory, numbers of all sizes, arrays.
#include "support/devices.hpp"

#include <samesum/barrier.hpp>
#include <samesum/error.hpp>
#include <samesum/kernel.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace samesum {
namespace {

// Each work-item of a launch along three axes leaves its place, in the order x, y, z.
constexpr std::string_view kPlaces = R"(
KERNEL void places(GLOBAL uint* to) {
  const ulong row = global_id_of(1) + global_id_of(2) * global_size_of(1), at = global_id_of(0) + row * global_size_of(0);
  GLOBAL uint* mine = to + 9 * at;
  for (uint axis = 0; axis < 3; ++axis) {
    mine[axis] = local_id_of(axis) + 100 * group_size_of(axis);
    mine[3 + axis] = group_id_of(axis) + 100 * group_count_of(axis);
    mine[6 + axis] = (uint)global_id_of(axis);
  }
})";

// A matrix transposed by tiles in local memory of a size that the launch names.
constexpr std::string_view kTranspose = R"(
KERNEL void transpose(GLOBAL const float* from, GLOBAL float* to, uint rows, uint columns DYNLOCAL_PARAMETER(memory)) {
  DYNLOCAL(memory);
  LOCAL float* tile = (LOCAL float*)memory;
  const uint side = group_size_of(0), row = (uint)global_id_of(1), column = (uint)global_id_of(0);
  if (row < rows && column < columns) tile[local_id_of(1) * (side + 1) + local_id_of(0)] = from[row * columns + column];
  barrier_local();
  const uint to_row = group_id_of(0) * side + local_id_of(1), to_column = group_id_of(1) * side + local_id_of(0);
  if (to_row < columns && to_column < rows) to[to_row * rows + to_column] = tile[local_id_of(0) * (side + 1) + local_id_of(1)];
})";

// float16 by its bits, and numbers of all sizes.
constexpr std::string_view kNumbers = R"(
KERNEL void numbers(GLOBAL ushort* halves, ushort factor, int a, uint b, long c, ulong d, float e, GLOBAL ulong* to) {
  const uint i = (uint)global_id();
  halves[i] = float_to_half(half_to_float(halves[i]) * half_to_float(factor));
  if (i == 0) {
    to[0] = (ulong)(long)a;
    to[1] = b;
    to[2] = (ulong)c;
    to[3] = d;
    to[4] = as_uint(e);
  }
})";

std::vector<Device> with_kernels() {
  std::vector<Device> found;
  for (const Device& device : test::devices()) {
    if (device.info().has(Capability::kernels)) found.push_back(device);
  }
  return found;
}

template <class T>
std::vector<T> read(const Buffer& buffer, std::size_t count, std::uint64_t offset = 0) {
  std::vector<T> values(count);
  buffer.read(values.data(), count * sizeof(T), offset);
  return values;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(UserKernels, LaunchesHaveThreeAxes) {
  for (const Device& device : with_kernels()) {
    SCOPED_TRACE(device.info().selector);
    const Kernel kernel(device, kPlaces, "places");
    EXPECT_EQ(kernel.device().info().selector, device.info().selector);
    const LaunchShape shapes[] = {{.groups = {3}, .group_size = {4}},
                                  {.groups = {3, 5}, .group_size = {4, 2}},
                                  {.groups = {1, 1, 7}, .group_size = {1, 1, 2}},
                                  {.groups = {2, 3, 4}, .group_size = {4, 2, 3}}};
    for (const LaunchShape& shape : shapes) {
      const std::uint32_t groups[] = {shape.groups.x, shape.groups.y, shape.groups.z};
      const std::uint32_t sizes[] = {shape.group_size.x, shape.group_size.y, shape.group_size.z};
      const std::uint32_t all[] = {groups[0] * sizes[0], groups[1] * sizes[1], groups[2] * sizes[2]};
      const std::uint32_t items = all[0] * all[1] * all[2];
      const Buffer to(device, 36 * items);
      launch(kernel, {to}, shape);
      const std::vector<std::uint32_t> found = read<std::uint32_t>(to, 9 * items);
      for (std::uint32_t at = 0; at < items; ++at) {
        const std::uint32_t id[] = {at % all[0], at / all[0] % all[1], at / all[0] / all[1]};
        for (std::uint32_t axis = 0; axis < 3; ++axis) {
          ASSERT_EQ(found[9 * at + axis], id[axis] % sizes[axis] + 100 * sizes[axis]) << at << ' ' << axis;
          ASSERT_EQ(found[9 * at + 3 + axis], id[axis] / sizes[axis] + 100 * groups[axis]) << at << ' ' << axis;
          ASSERT_EQ(found[9 * at + 6 + axis], id[axis]) << at << ' ' << axis;
        }
      }
    }
    const Buffer few(device, 4096);
    EXPECT_THROW(launch(kernel, {few}, {.groups = {1, 0}, .group_size = {1}}), Error);
    EXPECT_THROW(launch(kernel, {few}, {.groups = {1}, .group_size = {1u << 12, 1u << 12}}), Error);
  }
}

TEST(UserKernels, LocalMemoryOfTheLaunch) {
  constexpr std::uint32_t kRows = 37, kColumns = 21, kSide = 4;
  std::vector<float> matrix(kRows * kColumns);
  std::iota(matrix.begin(), matrix.end(), 0.5f);
  for (const Device& device : with_kernels()) {
    SCOPED_TRACE(device.info().selector);
    const Kernel kernel(device, kTranspose, "transpose");
    const Buffer from(device, 4 * matrix.size()), to(device, 4 * matrix.size());
    from.write(matrix.data(), 4 * matrix.size());
    const LaunchShape shape{.groups = {(kColumns + kSide - 1) / kSide, (kRows + kSide - 1) / kSide},
                            .group_size = {kSide, kSide},
                            .local_bytes = 4 * kSide * (kSide + 1)};
    launch(kernel, {from, to, kRows, kColumns}, shape);
    const std::vector<float> found = read<float>(to, matrix.size());
    for (std::uint32_t row = 0; row < kRows; ++row) {
      for (std::uint32_t column = 0; column < kColumns; ++column) ASSERT_EQ(found[column * kRows + row], matrix[row * kColumns + column]);
    }
    LaunchShape large = shape;
    large.local_bytes = 1u << 30;
    EXPECT_NE(message_of([&] { launch(kernel, {from, to, kRows, kColumns}, large); }).find("local memory"), std::string::npos);
  }
}

TEST(UserKernels, NumbersOfAllSizesAndHalves) {
  // 1, 65504, the least denormal, -0, 2^-14 and inf, times 1.5.
  const std::vector<std::uint16_t> halves = {0x3c00, 0x7bff, 0x0001, 0x8000, 0x0400, 0x7c00}, products = {0x3e00, 0x7c00, 0x0002, 0x8000, 0x0600, 0x7c00};
  for (const Device& device : with_kernels()) {
    SCOPED_TRACE(device.info().selector);
    const Kernel kernel(device, kNumbers, "numbers");
    const Buffer data(device, 2 * halves.size()), to(device, 40);
    data.write(halves.data(), 2 * halves.size());
    const std::int64_t c = -0x123456789abcdef;
    const std::uint64_t d = 0xfedcba9876543210;
    launch(kernel, {Array(data, halves.size(), DType::float16), std::uint16_t{0x3e00}, -7, 0xfffffff9u, c, d, -0.0f, to},
           {.groups = {2}, .group_size = {3}});
    EXPECT_EQ(read<std::uint16_t>(data, halves.size()), products);
    EXPECT_EQ(read<std::uint64_t>(to, 5), (std::vector<std::uint64_t>{static_cast<std::uint64_t>(-7), 0xfffffff9, static_cast<std::uint64_t>(c), d, 0x80000000}));
  }
}

TEST(UserKernels, ArraysBeginWhereTheirFirstElementLies) {
  constexpr std::string_view kSource = "KERNEL void add(GLOBAL float* x, float a) { x[global_id()] += a; }";
  for (const Device& device : with_kernels()) {
    SCOPED_TRACE(device.info().selector);
    const Kernel kernel(device, kSource, "add");
    const std::vector<float> zeros(512);
    const Buffer buffer(device, 2048);
    buffer.write(zeros.data(), 2048);
    const Array all(buffer, {4, 128}, DType::float32);
    launch(kernel, {all.row(1), 1.0f}, {.groups = {8}, .group_size = {16}});
    launch(kernel, {all.row(3), 3.0f}, {.groups = {8}, .group_size = {16}});
    for (std::size_t row = 0; row < 4; ++row) {
      const float expected = row == 1 ? 1.0f : row == 3 ? 3.0f : 0.0f;
      EXPECT_EQ(read<float>(buffer, 128, 512 * row), std::vector<float>(128, expected)) << row;
    }
    const std::vector<float> here(16);
    EXPECT_NE(message_of([&] { launch(kernel, {here, 1.0f}, {}); }).find("copy it to a Buffer"), std::string::npos);
    const Buffer elsewhere(Device::open("cpu"), 1024);
    EXPECT_NE(message_of([&] { launch(kernel, {elsewhere, 1.0f}, {}); }).find("open one device"), std::string::npos);
  }
}

TEST(UserKernels, AnAddressThatOpenClDoesNotTake) {
  constexpr std::string_view kSource = "KERNEL void add(GLOBAL float* x, float a) { x[global_id()] += a; }";
  for (const Device& device : with_kernels()) {
    if (device.info().selector.starts_with("cuda")) continue;
    const Kernel kernel(device, kSource, "add");
    const Array array(Buffer(device, 1024), 255, DType::float32, 4);
    EXPECT_NE(message_of([&] { launch(kernel, {array, 1.0f}, {}); }).find("takes multiples of"), std::string::npos);
  }
}

TEST(UserKernels, TheCpuHasNone) {
  const std::string message = message_of([] { const Kernel kernel(Device::open("cpu"), kPlaces, "places"); });
  EXPECT_NE(message.find("runs no kernels"), std::string::npos) << message;
}

}  // namespace
}  // namespace samesum
