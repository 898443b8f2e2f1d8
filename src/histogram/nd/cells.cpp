#include "histogram/nd/cells.hpp"

#include "core/array/pack.hpp"
#include "core/array/together.hpp"
#include "histogram/nd/along_axis.hpp"

#include <samesum/error.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/map_source.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace samesum::binning {
namespace {

// A source of somebody else's, for who takes sources over.
class Borrowed final : public Source {
 public:
  explicit Borrowed(Source& from) : from_(from) {}
  std::optional<Array> next() override { return from_.next(); }
  std::string_view format() const noexcept override { return from_.format(); }
  std::optional<DType> type() const noexcept override { return from_.type(); }
  std::span<const Column> columns() const override { return from_.columns(); }
  std::uint64_t missing() const noexcept override { return from_.missing(); }

 private:
  Source& from_;
};

constexpr std::string_view kWhat = "a histogram of several inputs";

void require_as_many(std::size_t coordinates, std::size_t axes) {
  if (coordinates == axes) return;
  throw Error(ErrorKind::usage,
              fmt::format("a histogram of {} axes takes as many coordinates of each sample; here are {}", axes, coordinates));
}

}  // namespace

Bins bins_of_values(const Bins& by_formula) {
  std::vector<double> edges(by_formula.count() + 2);
  std::iota(edges.begin(), edges.end(), 0.0);
  return Bins::between(std::move(edges));
}

CellFinder::CellFinder(std::span<const Bins> axes, std::span<const DType> types) : cells_(cell_count(axes, HistogramNd::kMaxCells)) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool formula = axes[i].formula() != nullptr;
    Axis axis;
    axis.plan = std::make_unique<Plan>(formula ? bins_of_values(axes[i]) : axes[i], types[i]);
    axis.finder = std::make_unique<SlotFinder>(*axis.plan);
    axis.places = static_cast<std::uint32_t>(places(axes[i]));
    axis.merge_last = formula;
    axes_.push_back(std::move(axis));
  }
}

void CellFinder::find(std::span<const View> columns, std::uint64_t first, std::size_t count, std::uint32_t* cells) const {
  std::uint32_t slots[kBlock];
  std::byte packed[8 * kBlock];
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    View block = columns[i].part(first, count);
    if (!block.contiguous()) block = core::pack_here(block, packed);
    std::uint32_t* const found = i == 0 ? cells : slots;
    axis.finder->find(static_cast<const std::byte*>(block.data()), count, found);
    if (axis.merge_last) {
      for (std::size_t k = 0; k < count; ++k) found[k] -= found[k] >= axis.places - 1 ? 1 : 0;
    }
    if (i == 0) continue;
    for (std::size_t k = 0; k < count; ++k) cells[k] = cells[k] * axis.places + slots[k];
  }
}

struct Samples::State {
  std::vector<Bins> axes;
  std::vector<std::unique_ptr<Source>> own;
  std::vector<core::Together::Input> inputs;
  std::optional<core::Together> together;
  std::map<std::vector<DType>, std::unique_ptr<CellFinder>> finders;
  std::uint64_t bytes = 0;

  void add(Source& source) { inputs.push_back({fmt::format("input {}", inputs.size() + 1), &source}); }
  void add(std::unique_ptr<Source> source) {
    add(*source);
    own.push_back(std::move(source));
  }
  // By its own name or number: the bins' formula is evaluated where the numbers come from.
  template <class Input>
  std::unique_ptr<Source> values(const Bins& bins, Input input) {
    std::vector<Input> inputs_of_formula;
    inputs_of_formula.push_back(std::move(input));
    return map(bins.formula()->formula, std::move(inputs_of_formula), bins.formula()->parameters);
  }
};

Samples::Samples(const std::vector<Array>& coordinates, const std::vector<Bins>& axes, const std::vector<Array>& extra)
    : state_(std::make_unique<State>()) {
  std::vector<Array> all = coordinates;
  all.insert(all.end(), extra.begin(), extra.end());
  require_alike(all, axes, coordinates.size());
  state_->axes = axes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    state_->bytes += all[i].bytes();
    if (i < axes.size() && axes[i].formula() != nullptr) {
      state_->add(state_->values(axes[i], FormulaInput("x", all[i])));
    } else {
      state_->add(std::make_unique<core::ArrayChunks>(all[i]));
    }
  }
  state_->together.emplace(std::string(kWhat), state_->inputs);
}

Samples::Samples(const std::vector<Source*>& coordinates, const std::vector<Bins>& axes, const std::vector<Source*>& extra)
    : state_(std::make_unique<State>()) {
  require_as_many(coordinates.size(), axes.size());
  state_->axes = axes;
  std::vector<Source*> all = coordinates;
  all.insert(all.end(), extra.begin(), extra.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    state_->bytes += all[i]->resident_bytes();
    if (i < axes.size() && axes[i].formula() != nullptr) {
      state_->add(state_->values(axes[i], SourceInput{"x", std::make_unique<Borrowed>(*all[i])}));
    } else {
      state_->add(*all[i]);
    }
  }
  state_->together.emplace(std::string(kWhat), state_->inputs);
}

Samples::Samples(Samples&& other) noexcept = default;
Samples::~Samples() = default;

void Samples::require_alike(const std::vector<Array>& arrays, const std::vector<Bins>& axes, std::size_t coordinates) {
  require_as_many(coordinates, axes.size());
  for (const Array& array : arrays) {
    if (std::ranges::equal(array.shape(), arrays[0].shape())) continue;
    throw Error(ErrorKind::usage, fmt::format("{} takes arrays of one shape: these have ({}) and ({})", kWhat,
                                              fmt::join(arrays[0].shape(), ", "), fmt::join(array.shape(), ", ")));
  }
}

std::uint64_t Samples::resident_bytes() const { return state_->bytes; }

bool Samples::next(std::uint64_t most, Part& part) {
  const std::span<const Array> columns = state_->together->next(most);
  if (columns.empty()) return false;
  const std::size_t rank = state_->axes.size();
  part.columns.clear();
  part.extra.clear();
  std::vector<DType> types;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    (i < rank ? part.columns : part.extra).emplace_back(columns[i]);
    if (i < rank) types.push_back(columns[i].type());
  }
  std::unique_ptr<CellFinder>& finder = state_->finders[types];
  if (!finder) finder = std::make_unique<CellFinder>(state_->axes, types);
  part.finder = finder.get();
  return true;
}

}  // namespace samesum::binning
