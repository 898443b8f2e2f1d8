// Cooperative groups' grid.sync beside samesum's grid barrier: one barrier's time, for several shapes of the grid, with nothing between
// barriers and where groups work for unequal times; and the rounds of the textbook's neighbour sums. Before a scheme is timed, every thread
// checks at every barrier what three others wrote before it.
// A program of its own: of samesum it has the device-side header alone.
#include <samesum/device/grid_barrier.h>

#include <cooperative_groups.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(2);
}

struct Cooperative {
  cooperative_groups::grid_group grid;
  unsigned group, groups;
  __device__ explicit Cooperative(unsigned*) : grid(cooperative_groups::this_grid()), group(blockIdx.x), groups(gridDim.x) {}
  __device__ bool synchronize() {
    grid.sync();
    return true;
  }
};

struct Samesum {
  GridBarrier grid;
  unsigned group, groups;
  __device__ explicit Samesum(unsigned* state) {
    __shared__ unsigned scratch[GRID_BARRIER_LOCAL_WORDS];
    grid_barrier_begin(&grid, state, scratch);
    group = grid.group;
    groups = grid.groups;
  }
  __device__ bool synchronize() { return grid_barrier(&grid); }
};

template <class Scheme>
__global__ __launch_bounds__(1024, 2) void barriers(unsigned* state, unsigned rounds, unsigned*) {
  Scheme scheme(state);
  for (unsigned round = 0; round < rounds; ++round) {
    if (!scheme.synchronize()) return;
  }
}

// Between barriers each group works for up to 511 clock cycles, a different number in each round.
template <class Scheme>
__global__ __launch_bounds__(1024, 2) void uneven_barriers(unsigned* state, unsigned rounds, unsigned*) {
  Scheme scheme(state);
  unsigned random = (blockIdx.x + 1) * 2654435761u;
  for (unsigned round = 0; round < rounds; ++round) {
    random = random * 1664525 + 1013904223;
    const unsigned cycles = random >> 23, start = clock();
    while (static_cast<unsigned>(clock()) - start < cycles) {
    }
    if (!scheme.synchronize()) return;
  }
}

// data[n] counts what was read stale.
template <class Scheme>
__global__ __launch_bounds__(1024, 2) void check_order(unsigned* state, unsigned rounds, unsigned* data) {
  Scheme scheme(state);
  const unsigned n = scheme.groups * blockDim.x, me = scheme.group * blockDim.x + threadIdx.x;
  unsigned stale = 0;
  for (unsigned round = 1; round <= rounds; ++round) {
    data[me] = round * 2654435761u + me;
    if (!scheme.synchronize()) return;
    for (const unsigned other : {(me + 1) % n, (me + blockDim.x) % n, (me * 7 + round * 10007) % n}) {
      stale += data[other] != round * 2654435761u + other;
    }
    if (!scheme.synchronize()) return;
  }
  if (stale != 0) atomicAdd(&data[n], stale);
}

template <class Scheme>
__global__ __launch_bounds__(1024, 2) void neighbour_sums(unsigned* state, unsigned rounds, unsigned* x) {
  Scheme scheme(state);
  const unsigned n = scheme.groups * blockDim.x, me = scheme.group * blockDim.x + threadIdx.x;
  const unsigned before = (me + n - 1) % n, after = (me + 1) % n;
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned sum = x[before] + x[me] + x[after];
    if (!scheme.synchronize()) return;
    x[me] = sum;
    if (!scheme.synchronize()) return;
  }
}

struct Shape {
  unsigned groups, size;
};
using Kernel = void (*)(unsigned*, unsigned, unsigned*);

class Bench {
 public:
  Bench() {
    check(cudaMalloc(&state_, sizeof(unsigned) * GRID_BARRIER_STATE_WORDS));
    check(cudaMalloc(&data_, sizeof(unsigned) * kRoom));
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&end_));
  }

  // Microseconds of a round; the best of three launches. Exits where the barrier failed.
  double time(Kernel kernel, Shape shape, unsigned rounds) {
    float best = INFINITY;
    for (int run = 0; run < 3; ++run) best = std::min(best, launch(kernel, shape, rounds));
    return 1e3 * best / rounds;
  }

  float launch(Kernel kernel, Shape shape, unsigned rounds) {
    check(cudaMemset(state_, 0, sizeof(unsigned) * GRID_BARRIER_STATE_WORDS));
    void* arguments[] = {&state_, &rounds, &data_};
    check(cudaEventRecord(start_));
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), shape.groups, shape.size, arguments, 0, nullptr));
    check(cudaEventRecord(end_));
    check(cudaEventSynchronize(end_));
    if (word(state_, GRID_BARRIER_FAILED) != 0) fail("a barrier gave up", shape);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, end_));
    return milliseconds;
  }

  void check_data(Kernel kernel, Shape shape) {
    check(cudaMemset(data_, 0, sizeof(unsigned) * kRoom));
    launch(kernel, shape, 3000);
    if (word(data_, shape.groups * shape.size) != 0) fail("stale data were read", shape);
  }

  // From all ones, every sum is 3^rounds.
  void check_sums(Kernel kernel, Shape shape, unsigned rounds) {
    std::vector<unsigned> ones(shape.groups * shape.size, 1);
    check(cudaMemcpy(data_, ones.data(), sizeof(unsigned) * ones.size(), cudaMemcpyHostToDevice));
    launch(kernel, shape, rounds);
    unsigned power = 1;
    for (unsigned i = 0; i < rounds; ++i) power *= 3;
    for (unsigned i = 0; i < ones.size(); ++i) {
      if (word(data_, i) != power) fail("a neighbour sum is wrong", shape);
    }
  }

 private:
  static constexpr std::size_t kRoom = 1 << 20;

  unsigned word(const unsigned* words, std::size_t index) {
    unsigned value = 0;
    check(cudaMemcpy(&value, words + index, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
  [[noreturn]] void fail(const char* what, Shape shape) {
    std::fprintf(stderr, "%s: %u groups of %u\n", what, shape.groups, shape.size);
    std::exit(1);
  }

  unsigned *state_ = nullptr, *data_ = nullptr;
  cudaEvent_t start_, end_;
};

}  // namespace

int main() {
  Bench bench;
  std::printf("us a barrier         grid.sync    samesum      ratio  with unequal work between barriers: the same\n");
  double product = 1, uneven_product = 1;
  const Shape shapes[] = {{2, 1024},  {16, 256},   {66, 256},  {132, 32},   {132, 256},  {132, 1024},
                          {264, 256}, {264, 1024}, {528, 256}, {1056, 128}, {1056, 256}, {2112, 128}};
  for (const Shape shape : shapes) {
    bench.check_data(check_order<Cooperative>, shape);
    bench.check_data(check_order<Samesum>, shape);
    const double theirs = bench.time(barriers<Cooperative>, shape, 20000), ours = bench.time(barriers<Samesum>, shape, 20000);
    const double theirs_uneven = bench.time(uneven_barriers<Cooperative>, shape, 20000);
    const double ours_uneven = bench.time(uneven_barriers<Samesum>, shape, 20000);
    product *= ours / theirs;
    uneven_product *= ours_uneven / theirs_uneven;
    std::printf("%5u x %-12u %9.3f  %9.3f  %9.3f  %9.3f  %9.3f  %9.3f\n", shape.groups, shape.size, theirs, ours, ours / theirs,
                theirs_uneven, ours_uneven, ours_uneven / theirs_uneven);
  }
  std::printf("geometric mean %38.3f  %31.3f\n\nus a round of neighbour sums, two barriers each\n",
              std::pow(product, 1.0 / std::size(shapes)), std::pow(uneven_product, 1.0 / std::size(shapes)));
  for (const Shape shape : {Shape{2, 1024}, {8, 256}, {32, 64}, {64, 32}}) {
    bench.check_sums(neighbour_sums<Cooperative>, shape, 10000);
    bench.check_sums(neighbour_sums<Samesum>, shape, 10000);
    const double theirs = bench.time(neighbour_sums<Cooperative>, shape, 100000), ours = bench.time(neighbour_sums<Samesum>, shape, 100000);
    std::printf("%5u x %-12u %9.3f  %9.3f  %9.3f\n", shape.groups, shape.size, theirs, ours, ours / theirs);
  }
}
