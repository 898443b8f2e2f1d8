#include "io/npy.hpp"

#include <samesum/array_file.hpp>

#include <samesum/error.hpp>
#include <samesum/source.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace samesum::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxDimensions = 64;  // numpy's own limit

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::usage, message); }

// numpy's name of the type in a descr; empty where it is not a plain type.
std::string dtype_name(std::string_view descr) {
  if (!descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos) descr.remove_prefix(1);
  if (descr.empty()) return "";
  unsigned bytes = 0;
  const auto [end, error] = std::from_chars(descr.data() + 1, descr.data() + descr.size(), bytes);
  const bool sized = error == std::errc() && end == descr.data() + descr.size() && bytes <= 32;
  switch (descr[0]) {
    case 'b':
      return "bool";
    case 'i':
      return sized ? fmt::format("int{}", 8 * bytes) : "";
    case 'u':
      return sized ? fmt::format("uint{}", 8 * bytes) : "";
    case 'f':
      return sized ? fmt::format("float{}", 8 * bytes) : "";
    case 'c':
      return sized ? fmt::format("complex{}", 8 * bytes) : "";
    case 'O':
      return "Python objects";
    case 'S':
    case 'a':
      return "byte strings";
    case 'U':
      return "text";
    case 'M':
      return "dates";
    case 'm':
      return "time differences";
    case 'V':
      return "records";
    default:
      return "";
  }
}

struct Element {
  RawType raw;
  bool complex = false;  // two of them
};

// numpy has no bfloat16; ml_dtypes writes it as a record of two bytes, which is too ambiguous to be read as bfloat16.
Element parse_descr(std::string_view descr) {
  const std::string name = dtype_name(descr);
  if (name == "bool") return {{DType::uint8, false}};  // stored as 0 and 1
  const bool complex = name == "complex64" || name == "complex128";
  const std::string_view part = name == "complex64" ? "float32" : complex ? "float64" : std::string_view(name);
  const auto known = std::find_if(kDTypes.begin(), kDTypes.end(), [&](DType type) { return name_of(type) == part; });
  if (known == kDTypes.end()) {
    if (name.empty()) refuse(fmt::format("unknown element type '{}'", descr.substr(0, 40)));
    refuse(
        fmt::format("its elements are {} ('{}'); samesum reads bool, integers of 8 to 64 bits, float16, float32, float64, complex64 and "
                    "complex128",
                    name, descr.substr(0, 40)));
  }
  if (std::string_view("<=|>").find(descr[0]) == std::string_view::npos) refuse(fmt::format("bad header: no byte order in '{}'", descr));
  return {{*known, descr[0] == '>' && size_of(*known) > 1}, complex};
}

// Parses the header's dict literal, with exactly the three entries that numpy writes. No recursion: the values are a string, a bool, and a
// tuple of integers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Npy parse() {
    std::optional<Element> type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !type) {
        type = descr();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        refuse(fmt::format("bad header: {} key '{}'", known(key) ? "repeated" : "unknown", printable(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (skip_spaces() != '\0' || position_ != text_.size()) bad("nothing but spaces after the closing '}'");
    if (!type) refuse("bad header: no 'descr'");
    if (!fortran_order) refuse("bad header: no 'fortran_order'");
    if (!shape) refuse("bad header: no 'shape'");
    if (type->complex) shape->push_back(2);
    return {type->raw.type, type->complex, type->raw.big_endian, *fortran_order, std::move(*shape), 0, 0};
  }

 private:
  static bool known(std::string_view key) { return key == "descr" || key == "fortran_order" || key == "shape"; }

  static std::string printable(std::string_view text) {
    std::string result(text.substr(0, 40));
    for (char& c : result) c = c >= ' ' && c <= '~' ? c : '?';
    return result;
  }

  [[noreturn]] void bad(std::string_view wanted) const {
    const std::string found = position_ < text_.size() ? fmt::format("'{}'", printable(text_.substr(position_, 20))) : "its end";
    refuse(fmt::format("bad header: {} expected at its byte {}, found {}", wanted, position_, found));
  }

  // The next character that is not a space; '\0' at the end.
  char skip_spaces() {
    while (position_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[position_]) != std::string_view::npos) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool accept(char wanted) {
    if (skip_spaces() != wanted || position_ == text_.size()) return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) bad(fmt::format("'{}'", wanted));
  }

  std::string_view string() {
    const char quote = skip_spaces();
    if (quote != '\'' && quote != '"') bad("a quoted string");
    const std::size_t begin = position_ + 1;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) bad("a string that ends");
    const std::string_view value = text_.substr(begin, end - begin);
    if (value.find_first_of("\\\n") != std::string_view::npos) bad("a string without escapes");
    position_ = end + 1;
    return value;
  }

  Element descr() {
    const char next = skip_spaces();
    if (next == '[' || next == '(')
      refuse(
          "its elements are records (a structured dtype); numpy.save('x.npy', a['NAME']) makes a file of one field, which samesum reads");
    return parse_descr(printable(string()));
  }

  bool boolean() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>("True", true), {"False", false}}) {
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return value;
      }
    }
    bad("True or False");
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMaxDimensions) refuse(fmt::format("bad header: over {} dimensions", kMaxDimensions));
      shape.push_back(dimension());
      if (accept(',')) continue;
      if (shape.size() == 1) bad("',' after the only dimension");  // (3) is an integer in Python, (3,) a tuple
      expect(')');
      break;
    }
    return shape;
  }

  std::uint64_t dimension() {
    if (skip_spaces() == '-') bad("a dimension that is not negative");
    const char* const begin = text_.data() + position_;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) bad("a dimension");
    if (error == std::errc::result_out_of_range) bad("a dimension under 2^64");
    position_ += static_cast<std::size_t>(end - begin);
    if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2's suffix of integers
    return value;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

std::uint64_t element_count(std::span<const std::uint64_t> shape, DType type) {
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  const std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / size_of(type);
  std::uint64_t count = 1;
  for (const std::uint64_t dimension : shape) {
    if (dimension > limit / count) refuse(fmt::format("bad header: shape {} has more elements than memory can hold", shape_text(shape)));
    count *= dimension;
  }
  return count;
}

// The axes of the numbers: without that of a complex number's parts.
std::span<const std::uint64_t> axes_of(const Npy& npy) { return std::span(npy.shape).first(npy.shape.size() - (npy.complex ? 1 : 0)); }

std::string type_of(const Npy& npy) {
  return npy.complex ? fmt::format("complex{}", 16 * size_of(npy.type)) : std::string(name_of(npy.type));
}

std::uint64_t little_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

}  // namespace

void refuse_complex(const Npy& npy) {
  if (!npy.complex) return;
  refuse(
      fmt::format("its elements are {}, of which each has two numbers: 'samesum sum', 'mean', 'norm' and 'prod' take one file of them, and "
                  "ComplexArray from ArrayFile::of_complex(); for all else save a.real and a.imag with numpy.save as two files",
                  type_of(npy)));
}

bool is_npy(std::span<const std::byte> file) noexcept {
  return file.size() >= kMagic.size() && std::memcmp(file.data(), kMagic.data(), kMagic.size()) == 0;
}

std::uint64_t npy_offset(std::span<const std::byte> start) {
  if (!is_npy(start)) refuse("not a .npy file");
  const std::size_t version_at = kMagic.size();
  const std::size_t length_at = version_at + 2;
  if (start.size() < length_at) refuse("truncated .npy file: it ends within the header");
  const auto major = std::to_integer<unsigned>(start[version_at]);
  const auto minor = std::to_integer<unsigned>(start[version_at + 1]);
  if (major < 1 || major > 3 || minor != 0)
    refuse(fmt::format("unknown version {}.{} of the .npy format; 1.0, 2.0 and 3.0 are known", major, minor));

  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (start.size() < length_at + length_bytes) refuse("truncated .npy file: it ends within the header");
  return length_at + length_bytes + little_endian(start.subspan(length_at, length_bytes));
}

Npy parse_npy_header(std::span<const std::byte> start) {
  const std::uint64_t offset = npy_offset(start);
  const std::size_t header_at = kMagic.size() + (start[kMagic.size()] == std::byte{1} ? 4 : 6);
  if (offset > start.size()) {
    refuse(
        fmt::format("truncated .npy file: its header should be {} bytes long, {} are there", offset - header_at, start.size() - header_at));
  }
  Npy npy = HeaderParser({reinterpret_cast<const char*>(start.data()) + header_at, static_cast<std::size_t>(offset - header_at)}).parse();
  npy.offset = offset;
  npy.count = element_count(npy.shape, npy.type);
  return npy;
}

Npy parse_npy(std::span<const std::byte> file) {
  Npy npy = parse_npy_header(file);
  const std::uint64_t expected = npy.count * size_of(npy.type);
  const std::uint64_t present = file.size() - npy.offset;
  if (expected > present) refuse(too_short(npy, present));
  if (expected < present) refuse(too_long(npy, fmt::format("{}", present - expected)));
  return npy;
}

std::string too_short(const Npy& npy, std::uint64_t present) {
  return fmt::format("truncated .npy file: {} of shape {} take {} bytes, {} are there", type_of(npy), shape_text(axes_of(npy)),
                     npy.count * size_of(npy.type), present);
}

std::string too_long(const Npy& npy, std::string_view more) {
  return fmt::format("{} bytes follow the array ({} of shape {}): several arrays in one file, or a damaged header?", more, type_of(npy),
                     shape_text(axes_of(npy)));
}

std::vector<std::int64_t> strides_of(const std::vector<std::uint64_t>& shape, DType type, bool fortran_order, bool complex) {
  std::vector<std::int64_t> strides(shape.size());
  auto apart = static_cast<std::int64_t>(size_of(type));
  std::size_t axes = shape.size();
  if (complex) {
    strides[--axes] = apart;
    apart *= 2;
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = fortran_order ? i : axes - 1 - i;
    strides[axis] = apart;
    apart *= static_cast<std::int64_t>(shape[axis]);
  }
  return strides;
}

bool lies_in_fortran_order(const Npy& npy) noexcept {
  return npy.fortran_order && npy.count != 0 && std::ranges::count_if(axes_of(npy), [](std::uint64_t size) { return size > 1; }) > 1;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace samesum::io

namespace samesum {

// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html: magic, version, length, the header, padded to 64 bytes.
std::vector<std::byte> npy_header(DType type, const std::vector<std::uint64_t>& shape, bool complex) {
  if (type == DType::bfloat16) throw Error(ErrorKind::usage, ".npy files have no bfloat16");
  const char kind = complex ? 'c' : is_integer(type) ? (is_signed(type) ? 'i' : 'u') : 'f';
  const std::size_t bytes = size_of(type) * (complex ? 2 : 1);
  std::string header = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': {}, }}", bytes == 1 ? '|' : '<', kind, bytes,
                                   io::shape_text(shape));
  constexpr std::size_t kBefore = 8, kAlignment = 64, kMaxOfFormat1 = 0xffff;
  const auto padded = [&](std::size_t length_bytes) {
    return (kBefore + length_bytes + header.size() + kAlignment) / kAlignment * kAlignment - kBefore - length_bytes;
  };
  const bool is_short = padded(2) <= kMaxOfFormat1;
  const std::size_t length_bytes = is_short ? 2 : 4;
  header.resize(padded(length_bytes), ' ');
  header.back() = '\n';
  std::string all = {'\x93', 'N', 'U', 'M', 'P', 'Y', static_cast<char>(is_short ? 1 : 2), 0};
  for (std::size_t i = 0; i < length_bytes; ++i) all += static_cast<char>(header.size() >> 8 * i & 0xff);
  all += header;
  const auto* const first = reinterpret_cast<const std::byte*>(all.data());
  return {first, first + all.size()};
}

}  // namespace samesum
