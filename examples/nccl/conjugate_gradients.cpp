// Conjugate gradients over several GPUs: with exact dot products they take the same steps, with the same bits, on any number of them.
//
//   conjugate_gradients cuda:0 cuda:1 4096     # a part of the matrix on each; NCCL adds up. Default: all CUDA devices with 2048 x 2048
//                                              # unknowns, else two parts on OpenCL with 24 x 24
//   conjugate_gradients --launches cuda:0      # launch by launch, without a graph
//
// On GPUs a step is recorded once, as a CUDA graph, and replayed: the host only reads the residual.
//
// The matrix is that of a heat equation in two dimensions: SIDE x SIDE unknowns, of which each device has some rows, with coefficients that
// vary. Beside it run the same steps with plain sums: each device adds up its part, and then all add up theirs.
#include "conjugate_gradients_kernels.hpp"

#include <samesum/barrier.hpp>
#include <samesum/nccl.hpp>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using samesum::Array;
using samesum::Buffer;
using samesum::DType;
using samesum::nccl::Communicator;
using samesum::nccl::Sum;

struct Outcome {
  unsigned steps = 0;
  std::uint64_t residual = 0, hash = 0;  // the bits of the last residual; of all unknowns
  double seconds = 0;
};

// One device's rows [first, last) of all, with a row of the neighbours' on either side.
class Part {
 public:
  Part(const samesum::Device& device, const Communicator& rank, std::size_t number, std::size_t parts, unsigned side, bool exact)
      : device_(device),
        rank_(rank),
        side_(side),
        first_(static_cast<unsigned>(side * number / parts)),
        rows_(static_cast<unsigned>(side * (number + 1) / parts) - first_),
        number_(static_cast<unsigned>(number)),
        count_(std::uint64_t{side} * rows_),
        exact_(exact),
        x_(device, 8 * count_),
        r_(device, 8 * count_),
        q_(device, 8 * count_),
        p_(device, 8 * (count_ + 2 * side)),
        rims_(device, 16 * side * parts),
        scalars_(device, 8 * 8),
        groups_(device, 8 * kGroups),
        residual_(device, DType::float64, Sum::Of::products, count_),
        curvature_(device, DType::float64, Sum::Of::products, count_),
        apply_(kernel("cg_apply")),
        begin_(kernel("cg_begin")),
        to_rims_(kernel("cg_to_rims")),
        from_rims_(kernel("cg_from_rims")),
        step_(kernel("cg_step")),
        turn_(kernel("cg_turn")),
        plain_dot_(kernel("cg_plain_dot")),
        plain_end_(kernel("cg_plain_end")) {}

  Outcome solve(unsigned most, double tolerance, bool recorded) {
    run(begin_, {x_, r_, p_, side_, first_, rows_});
    dot(r_, 0, r_, 0, kNew);
    exchange();  // so that NCCL has made its connections before a recording begins
    std::optional<samesum::Recording> graph;
    if (recorded) graph = samesum::record(device_, [this] { step(); });
    samesum::finish(device_);
    const auto start = std::chrono::steady_clock::now();
    Outcome outcome;
    double residual = 0, least = 0;
    for (outcome.steps = 0; outcome.steps < most; ++outcome.steps) {
      graph ? graph->replay() : step();
      scalars_.read(&residual, 8, 8 * kNew);
      if (outcome.steps == 0) least = residual * tolerance;
      if (residual <= least) break;
    }
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::memcpy(&outcome.residual, &residual, 8);
    std::vector<std::uint64_t> unknowns(count_);
    x_.read(unknowns.data(), 8 * count_);
    for (std::uint64_t i = 0; i < count_; ++i) outcome.hash += unknowns[i] * (2 * (side_ * std::uint64_t{first_} + i) + 1);
    return outcome;
  }

 private:
  enum { kOld, kNew, kCurvature };  // scalars
  static constexpr std::uint32_t kGroups = 512;

  samesum::Kernel kernel(const char* entry) const { return {device_, kSource, entry}; }
  void run(const samesum::Kernel& kernel, const std::vector<samesum::KernelArgument>& arguments) const {
    launch(device_, kernel, arguments, static_cast<std::uint32_t>((count_ + 255) / 256), 256);
  }

  void step() {
    launch(device_, next_, {scalars_}, 1, 1);
    exchange();
    run(apply_, {p_, q_, side_, first_, rows_});
    dot(p_, side_, q_, 0, kCurvature);
    run(step_, {x_, r_, p_, q_, scalars_, side_, count_});
    dot(r_, 0, r_, 0, kNew);
    run(turn_, {r_, p_, scalars_, side_, count_});
  }

  // A dot product over all devices, to a scalar of each.
  void dot(const Buffer& a, std::uint64_t a_first, const Buffer& b, std::uint64_t b_first, unsigned scalar) {
    if (exact_) {
      Sum& sum = scalar == kCurvature ? curvature_ : residual_;
      sum.assign(Array(a, a.bytes() / 8, DType::float64).part(a_first, count_),
                 Array(b, b.bytes() / 8, DType::float64).part(b_first, count_));
      sum.all_reduce(rank_);
      sum.round(scalars_, 8 * scalar);
      return;
    }
    // Doubles are no integers: each device's sum goes to a word of its own, and all add up these.
    const auto parts = static_cast<std::uint32_t>(rims_.bytes() / 16 / side_);
    launch(device_, plain_dot_, {a, a_first, b, b_first, count_, groups_}, kGroups, 256);
    launch(device_, plain_end_, {groups_, kGroups, rims_, number_, parts}, 1, 256);
    rank_.all_reduce(rims_, parts);
    launch(device_, add_up_, {rims_, parts, scalars_, scalar}, 1, 1);
  }

  // The first and the last row of each part, as integers: in a memory that is 0 elsewhere, so that the sum over all devices has them all.
  void exchange() {
    run(to_rims_, {p_, rims_, side_, rows_, number_, rims_.bytes() / 8});
    rank_.all_reduce(rims_, rims_.bytes() / 8);
    run(from_rims_, {p_, rims_, side_, rows_, number_, rims_.bytes() / 8});
  }

  samesum::Device device_;
  Communicator rank_;
  std::uint32_t side_, first_, rows_, number_;
  std::uint64_t count_;
  bool exact_;
  Buffer x_, r_, q_, p_, rims_, scalars_, groups_;
  Sum residual_, curvature_;
  samesum::Kernel apply_, begin_, to_rims_, from_rims_, step_, turn_, plain_dot_, plain_end_;
  samesum::Kernel next_ = kernel("cg_next"), add_up_ = kernel("cg_add_up");
};

Outcome solve(const std::vector<samesum::Device>& devices, const std::vector<Communicator>& ranks, unsigned side, bool exact,
              bool recorded) {
  std::vector<Outcome> outcomes(devices.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    threads.emplace_back(
        [&, i] { outcomes[i] = Part(devices[i], ranks[i], i, devices.size(), side, exact).solve(20 * side, 1e-20, recorded); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 1; i < outcomes.size(); ++i) outcomes[0].hash += outcomes[i].hash;
  return outcomes[0];
}

}  // namespace

int main(int argc, char** argv) {
  unsigned side = 0;
  bool recorded = true;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--launches") {
      recorded = false;
    } else if (argv[i][0] >= '0' && argv[i][0] <= '9') {
      side = static_cast<unsigned>(std::atoi(argv[i]));
    } else {
      names.emplace_back(argv[i]);
    }
  }
  if (names.empty()) {
    std::string other;
    for (const samesum::DeviceInfo& info : samesum::list_devices().devices) {
      if (!info.has(samesum::Capability::fp64) || !info.has(samesum::Capability::int64_atomics)) continue;
      if (info.selector.starts_with("cuda:")) names.push_back(info.selector);
      if (info.has(samesum::Capability::kernels) && other.empty()) other = info.selector;
    }
    if (names.empty() && !other.empty()) names = {other, other};
  }
  if (names.empty()) {
    std::puts("no device that runs kernels");
    return 0;
  }
  const bool gpus = names.front().starts_with("cuda:");
  recorded = recorded && gpus;  // elsewhere ranks meet in the host's memory
  if (side == 0) side = gpus ? 2048 : 24;
  bool right = true;
  Outcome of_one[2];
  for (std::size_t count = 1; count <= names.size(); ++count) {
    std::vector<samesum::Device> devices;
    std::vector<std::uint32_t> ordinals;
    for (std::size_t i = 0; i < count; ++i) {
      devices.push_back(samesum::Device::open(names[i]));
      if (gpus) ordinals.push_back(static_cast<std::uint32_t>(std::stoul(names[i].substr(5))));
    }
    const std::vector<Communicator> ranks = gpus ? Communicator::of_gpus(ordinals) : Communicator::in_process(count);
    for (const bool exact : {true, false}) {
      solve(devices, ranks, 16 < side ? 16 : side, exact, recorded);  // warms up
      const Outcome found = solve(devices, ranks, side, exact, recorded);
      std::printf("%zu x %-10s %-6s %5u steps, residual %016" PRIx64 ", solution %016" PRIx64 ", %.3f s\n", count, names[0].c_str(),
                  exact ? "exact" : "plain", found.steps, found.residual, found.hash, found.seconds);
      Outcome& first = of_one[exact ? 0 : 1];
      if (count == 1) first = found;
      if (exact)
        right = right && found.steps == first.steps && found.residual == first.residual && found.hash == first.hash && found.steps > 2;
    }
  }
  std::puts(right ? "with exact sums: the same steps and bits on any number of devices" : "with exact sums: other bits");
  return right ? 0 : 1;
}
