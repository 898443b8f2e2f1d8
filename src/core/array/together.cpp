#include "core/array/together.hpp"

#include "core/array/array_blocks.hpp"
#include "core/array/pack.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace samesum::core {

Together::Together(std::string what, std::vector<Input> inputs)
    : what_(std::move(what)), inputs_(std::move(inputs)), rests_(inputs_.size()) {}

std::span<const Array> Together::next(std::uint64_t most) {
  std::uint64_t count = most;
  std::size_t ended = 0;
  std::string which;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    std::optional<Array>& chunk = rests_[k].of_chunk;
    while (!chunk || chunk->size() == 0) {
      chunk = inputs_[k].source->next();
      // A missing number has no place among those at the same positions.
      if (const std::uint64_t missing = inputs_[k].source->missing(); missing != 0) {
        throw Error(ErrorKind::usage, fmt::format("{} takes all numbers of its inputs: {} missing in {}", what_, missing, inputs_[k].name));
      }
      if (!chunk) break;
      if (chunk->on_device()) throw Error(ErrorKind::usage, fmt::format("{} over sources takes chunks in host memory", what_));
      flatten(rests_[k]);
    }
    if (chunk) {
      count = std::min(count, chunk->size() / inputs_[k].width);
    } else {
      ++ended;
      which += (which.empty() ? "" : ", ") + inputs_[k].name;
    }
  }
  if (ended == inputs_.size()) {
    for (const Input& input : inputs_) require_one_column(*input.source);
    return {};
  }
  if (ended != 0) {
    throw Error(ErrorKind::usage, fmt::format("the inputs of {} have different lengths: {} ends after {} numbers", what_, which, done_));
  }
  parts_.clear();
  for (std::size_t k = 0; k < rests_.size(); ++k) {
    std::optional<Array>& chunk = rests_[k].of_chunk;
    const std::uint64_t elements = count * inputs_[k].width;
    parts_.push_back(chunk->part(0, elements));
    chunk = chunk->part(elements, chunk->size() - elements);
  }
  before_ = done_;
  done_ += count;
  return parts_;
}

void Together::flatten(Rest& rest) {
  const Array& chunk = *rest.of_chunk;
  if (chunk.rank() == 1) return;
  if (const auto view = single_view(chunk, Order::index)) {
    rest.of_chunk = *view;
    return;
  }
  rest.flat.resize(chunk.bytes());
  std::byte* to = rest.flat.data();
  for_blocks(chunk, Order::index, [&](View block) {
    pack(block, to);
    to += block.bytes();
  });
  rest.of_chunk = Array(rest.flat.data(), chunk.size(), chunk.type());
}

ArrayChunks::ArrayChunks(const Array& data) : data_(data), blocks_(std::make_unique<ArrayBlocks>(data, Order::index)) {}
ArrayChunks::~ArrayChunks() = default;

std::optional<Array> ArrayChunks::next() {
  if (const std::optional<View> block = blocks_->next()) return *block;
  return std::nullopt;
}

}  // namespace samesum::core
