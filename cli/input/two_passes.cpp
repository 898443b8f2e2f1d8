#include "input/two_passes.hpp"

#include "input/spool.hpp"

namespace samesum::cli {

TwoPasses::TwoPasses(Input input) : input_(input.sources().front()), again_(input.all_resident()), source_(input_.open()) {}

std::optional<Range> TwoPasses::range() {
  if (!again_) {
    auto spool = std::make_unique<Spool>(*source_, "; with --range or --edges none is needed");
    const std::optional<Range> range = range_of(*spool);
    spool->rewind();
    source_ = std::move(spool);
    return range;
  }
  const std::optional<Range> range = range_of(*source_);
  source_ = input_.open();
  return range;
}

}  // namespace samesum::cli
