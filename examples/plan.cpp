// Sums of arrays that lie on a device: a plan is prepared once, and each launch leaves a SumRecord in the device's memory, where the next
// kernel can read it. Here the columns of a matrix, which lie in strides, without copying any.
#include <samesum/samesum.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::uint64_t kRows = 1000, kColumns = 8;
  std::vector<float> matrix(kRows * kColumns);
  for (std::uint64_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i % kColumns) + 0.5f;  // column c is all c + 1/2

  bool right = true;
  for (const samesum::Device& device : samesum::open_devices("all", 0)) {
    const samesum::Buffer buffer(device, matrix.size() * sizeof(float));  // or Buffer::wrap: memory that you have there already
    const samesum::Buffer records(device, kColumns * sizeof(samesum::SumRecord));
    buffer.write(matrix.data(), buffer.bytes());

    samesum::Plan plan(device, samesum::ops::sum, samesum::DType::float32, kRows, {}, samesum::Layout::strided);
    for (std::uint64_t c = 0; c < kColumns; ++c) {
      const samesum::Array column(buffer, kRows, samesum::DType::float32, c * sizeof(float), kColumns * sizeof(float));
      plan.enqueue(column, records, c * sizeof(samesum::SumRecord));  // enqueued: nothing waits
    }
    std::vector<samesum::SumRecord> sums(kColumns);
    records.read(sums.data(), records.bytes());
    for (std::uint64_t c = 0; c < kColumns; ++c) right = right && sums[c].value == kRows * (static_cast<double>(c) + 0.5);

    // Of what the host rounds when it is asked for.
    samesum::Plan statistics(device, samesum::Fields{.extrema = false, .sum = true, .squares = true}, samesum::DType::float32, kRows);
    statistics.enqueue({buffer, kRows, samesum::DType::float32, 0, kColumns * sizeof(float)});
    const auto found = statistics.result<samesum::Statistics>();
    right = right && found.mean() == 0.5 && found.variance() == 0;
    samesum::Plan dot(device, samesum::ops::dot, samesum::DType::float32, kColumns);
    const samesum::Array row(buffer, kColumns, samesum::DType::float32),
        next(buffer, kColumns, samesum::DType::float32, kColumns * sizeof(float));
    dot.enqueue(row, next);
    right = right && dot.result<samesum::ProductAccumulator>().round() == 170;  // 0.5^2 + 1.5^2 + ... + 7.5^2
    std::printf("%-10s the columns add up to %g ... %g\n", device.info().selector.c_str(), sums.front().value, sums.back().value);
  }
  return right ? 0 : 1;
}
