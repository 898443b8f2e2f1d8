// Integers added up over ranks: by NCCL, or in the memory of the host.
#include "core/float_environment.hpp"
#include "device/cuda/cuda.hpp"
#include "device/memory/buffer.hpp"
#include "nccl/library.hpp"

#include <samesum/error.hpp>
#include <samesum/nccl.hpp>

#include <fmt/format.h>

#include <barrier>
#include <mutex>
#include <utility>
#include <variant>

namespace samesum::nccl {

using device::Lock;

// What the threads of one process share.
struct Meeting {
  explicit Meeting(std::size_t size) : ranks(size), all(static_cast<std::ptrdiff_t>(size)) {}

  std::mutex mutex;
  std::vector<std::uint64_t> sums;
  std::size_t added = 0, ranks;
  std::barrier<> all;
};

// An ncclComm_t that this process made.
struct Owned {
  explicit Owned(void* made) : communicator(made) {}
  ~Owned() { library().destroy(communicator); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  void* communicator;
};

struct Communicator::State {
  void* communicator = nullptr;
  std::shared_ptr<Owned> owned = nullptr;
  std::shared_ptr<Meeting> meeting = nullptr;
};

namespace {

void add_up_by_nccl(void* communicator, const Buffer& words, std::uint64_t count, std::uint64_t offset) {
  device::Device& device = words.device().implementation();
  const Lock lock(device.mutex());
  const std::optional<void*> stream = device::cuda::stream_of(device);
  if (!stream) {
    throw Error(ErrorKind::usage, fmt::format("NCCL adds up on CUDA devices, and the words lie on {}: Communicator::in_process() takes any",
                                              words.device().info().selector));
  }
  auto* const at = static_cast<std::byte*>(words.state().memory.handle.get()) + offset;
  library().check(library().all_reduce(at, at, count, kInt64, kSum, communicator, *stream), "ncclAllReduce");
}

// Twice all ranks wait for each other: until all have added theirs, and until all have read the sums.
void add_up_here(Meeting& meeting, const Buffer& words, std::uint64_t count, std::uint64_t offset) {
  std::vector<std::uint64_t> own(count);
  words.read(own.data(), 8 * count, offset);
  {
    const std::lock_guard lock(meeting.mutex);
    if (meeting.added++ == 0) meeting.sums.assign(count, 0);
    for (std::uint64_t i = 0; i < count; ++i) meeting.sums[i] += own[i];
    if (meeting.added == meeting.ranks) meeting.added = 0;
  }
  meeting.all.arrive_and_wait();
  words.write(meeting.sums.data(), 8 * count, offset);
  meeting.all.arrive_and_wait();
}

}  // namespace

std::vector<Communicator> Communicator::of_gpus(const std::vector<std::uint32_t>& ordinals) {
  const core::DefaultFloatEnvironment environment;
  if (ordinals.empty()) throw Error(ErrorKind::usage, "a communicator of no GPUs: name some, as in of_gpus({0, 1})");
  const std::vector<int> numbers(ordinals.begin(), ordinals.end());
  std::vector<void*> made(numbers.size());
  library().check(library().init_all(made.data(), static_cast<int>(numbers.size()), numbers.data()), "ncclCommInitAll");
  std::vector<Communicator> ranks;
  for (void* const one : made) ranks.push_back(Communicator(std::make_shared<State>(State{one, std::make_shared<Owned>(one)})));
  return ranks;
}

Communicator Communicator::wrap(void* communicator) {
  if (communicator == nullptr) throw Error(ErrorKind::usage, "the ncclComm_t is null");
  static_cast<void>(library());
  return Communicator(std::make_shared<State>(State{communicator}));
}

std::vector<Communicator> Communicator::in_process(std::size_t ranks) {
  if (ranks == 0) throw Error(ErrorKind::usage, "a communicator of no ranks");
  const auto meeting = std::make_shared<Meeting>(ranks);
  return std::vector<Communicator>(ranks, Communicator(std::make_shared<State>(State{nullptr, nullptr, meeting})));
}

void Communicator::all_reduce(const Buffer& words, std::uint64_t count, std::uint64_t offset) const {
  const core::DefaultFloatEnvironment environment;
  if (offset % 8 != 0 || offset > words.bytes() || count > (words.bytes() - offset) / 8) {
    throw Error(ErrorKind::usage, fmt::format("{} integers from byte {} on, and the buffer has {} bytes", count, offset, words.bytes()));
  }
  if (state_->meeting != nullptr) return add_up_here(*state_->meeting, words, count, offset);
  add_up_by_nccl(state_->communicator, words, count, offset);
}

}  // namespace samesum::nccl
