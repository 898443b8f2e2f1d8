// Terms on the CPU: an evaluator for each task, whose blocks go to the loops of sums while they lie in the first-level cache.
#include "formula/map/term.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace samesum::formula {
namespace {

class FormulaHostTerms final : public statistics::HostTerms {
 public:
  FormulaHostTerms(const Formula& formula, const Program& program, std::span<const Value> parameters, std::span<const Array> arrays,
                   std::span<const std::uint64_t> shape)
      : formula_(formula), program_(program), parameters_(parameters), arrays_(arrays), shape_(shape), walk_(arrays, shape) {
    for (const std::uint64_t extent : shape) size_ *= extent;
    element_ = size_of(type());
    bytes_ = size_ * element_;
    for (const Array& array : arrays) bytes_ += array.bytes();
  }

  DType type() const override { return dtype_of(program_.nodes[program_.results[0]].type); }
  std::uint64_t size() const override { return size_; }
  std::uint64_t bytes() const override { return bytes_; }

  void prepare(std::uint32_t tasks) override {
    while (tasks_.size() < tasks) tasks_.push_back(std::make_unique<Task>(program_, parameters_, arrays_));
  }

  bool evaluate(std::uint32_t number, std::uint64_t first, std::uint64_t count, void* to) override {
    Task& task = *tasks_[number];
    auto* at = static_cast<std::byte*>(to);
    for (const std::uint64_t end = first + count; first < end;) {
      if (first >= failed_at_.load(std::memory_order_relaxed)) return false;
      const std::uint64_t run = walk_.at(first, std::min<std::uint64_t>(end - first, Evaluator::kBlock), task.places);
      for (std::size_t k = 0; k < task.columns.size(); ++k) task.columns[k] = {task.places[k], arrays_[k].type(), walk_.stride(k)};
      if (const std::optional<Failure> failure = task.evaluator.run(task.columns, first, run, at)) {
        const std::lock_guard lock(mutex_);
        if (failure->position < failure_.position) failure_ = *failure;
        failed_at_.store(failure_.position, std::memory_order_relaxed);
        return false;
      }
      if (const void* const values = task.evaluator.results()[0]; values != at) std::memcpy(at, values, run * element_);
      at += run * element_;
      first += run;
    }
    return true;
  }

  void check() const override {
    if (failure_.faults != 0) throw failed(formula_, failure_.position, shape_, failure_.faults);
  }

 private:
  struct Task {
    Task(const Program& program, std::span<const Value> parameters, std::span<const Array> arrays)
        : evaluator(program, parameters), places(arrays.size()), columns(arrays.size()) {}
    Evaluator evaluator;
    std::vector<const std::byte*> places;
    std::vector<Column> columns;
  };

  const Formula& formula_;
  const Program& program_;
  std::span<const Value> parameters_;
  std::span<const Array> arrays_;
  std::span<const std::uint64_t> shape_;
  Walk walk_;
  std::uint64_t size_ = 1, bytes_ = 0, element_ = 1;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::mutex mutex_;
  Failure failure_{std::numeric_limits<std::uint64_t>::max(), 0};
  std::atomic<std::uint64_t> failed_at_{std::numeric_limits<std::uint64_t>::max()};
};

}  // namespace

std::unique_ptr<statistics::HostTerms> host_terms_of(const Formula& formula, const Program& program, std::span<const Value> parameters,
                                                     std::span<const Array> arrays, std::span<const std::uint64_t> shape) {
  return std::make_unique<FormulaHostTerms>(formula, program, parameters, arrays, shape);
}

}  // namespace samesum::formula
