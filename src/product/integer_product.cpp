#include "product/integer_product.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <bit>

namespace samesum::product_tree {
namespace {

constexpr int kMaxToldBits = 1 << 14;  // limit for a number in a message: nearly 5,000 digits

std::string limit() { return fmt::format("it has more than {} bits, all that are kept", IntegerProduct::kMaxBits); }

}  // namespace

void IntegerProduct::keep(std::uint64_t factor) {
  if (has_no_digits()) return;
  bits_ += static_cast<std::uint64_t>(std::bit_width(factor) - 1);
  tree_.append(exact::BigInteger(factor));
  if (bits_ < kMaxBits) return;
  too_large_ = true;
  tree_ = {};
}

void IntegerProduct::merge(const IntegerProduct& other) {
  if (other.tree_.size() != 0 && !has_no_digits()) {
    bits_ += other.bits_;
    tree_.append(other.tree_.root());
  }
  too_large_ |= other.too_large_ || bits_ >= kMaxBits;
  zero_ |= other.zero_;
  if (has_no_digits()) tree_ = {};
  multiply(other.magnitude_, other.negative_);
}

exact::BigInteger IntegerProduct::exact() const {
  const exact::BigInteger magnitude = tree_.root() * exact::BigInteger(magnitude_);
  return negative_ ? exact::BigInteger(0) - magnitude : magnitude;
}

void IntegerProduct::refuse(std::string_view type) const {
  if (too_large_) throw Error(ErrorKind::no_answer, fmt::format("the product does not fit into {}: {}", type, limit()));
  const exact::BigInteger value = exact();
  throw Error(ErrorKind::no_answer, fmt::format("the product does not fit into {}: it is {}", type,
                                                value.length() <= kMaxToldBits
                                                    ? fmt::format("exactly {}", value.decimal())
                                                    : fmt::format("{} number of {} bits", negative_ ? "a negative" : "a", value.length())));
}

Value IntegerProduct::value(std::optional<bool> is_signed) const {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if (zero_) return is_signed.value_or(true) ? Value{std::int64_t{0}, DType::int64} : Value{std::uint64_t{0}, DType::uint64};
  const bool in_64_bits = !too_large_ && tree_.size() == 0;
  const bool fits_signed = in_64_bits && magnitude_ <= kSign - (negative_ ? 0 : 1);
  const bool fits_unsigned = in_64_bits && !negative_;
  if (is_signed.value_or(fits_signed)) {
    if (!fits_signed) refuse("int64");
    return {static_cast<std::int64_t>(negative_ ? 0 - magnitude_ : magnitude_), DType::int64};
  }
  if (!fits_unsigned) refuse(is_signed ? "uint64" : "64 bits");
  return {magnitude_, DType::uint64};
}

std::string IntegerProduct::digits() const {
  if (zero_) return "0";
  if (too_large_) throw Error(ErrorKind::no_answer, fmt::format("the product has too many digits to be worked out: {}", limit()));
  return exact().decimal();
}

}  // namespace samesum::product_tree
