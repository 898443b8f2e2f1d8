// A term's source, and its arrays as kernels take them: those of one run as they lie, those of rows (a matrix's part, a row or a column
// for all rows or columns) along their rows, others gathered part by part.
#include "formula/map/term.hpp"

#include "device/memory/buffer.hpp"
#include "device/memory/run.hpp"
#include "formula/map/map_device.hpp"
#include "formula/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace samesum::formula {
namespace {

using statistics::Term;
using statistics::TermCode;

constexpr std::size_t kMaxArrays = 16;       // 40 bytes of arguments each, of the 1024 that OpenCL promises
constexpr std::size_t kManyOperations = 24;  // for which a kernel needs more registers than a sum does
constexpr std::uint64_t kMaxPositions = std::uint64_t{1} << 31;

// One element of array k, from an address.
std::string element_from(DType type, std::size_t k, std::string_view offset) {
  return loaded(type, fmt::format("*(GLOBAL const {}*)(a.a{} + ({}))", stored_name(type), k, offset));
}

std::string offset_of(Reading reading, std::size_t k, DType type) {
  switch (reading) {
    case Reading::loads:
      return fmt::format("(long)at * {}", size_of(type));
    case Reading::strided:
      return fmt::format("(long)at * a.s{}", k);
    default:
      return fmt::format("(long)row * a.r{0} + (long)(at - row * walk.elements.length) * a.s{0}", k);
  }
}

// Element `k` of words that were read at once.
std::string element_of_words(DType type, std::size_t array) {
  const auto word = [&](std::string_view index) { return fmt::format("w{}[{}]", array, index); };
  switch (size_of(type)) {
    case 8: {
      const std::string bits = fmt::format("((ulong){} << 32 | {})", word("2 * k + 1"), word("2 * k"));
      return loaded(type, type == DType::float64 ? fmt::format("as_double({})", bits) : fmt::format("({}){}", stored_name(type), bits));
    }
    case 4:
      return loaded(type,
                    type == DType::float32 ? fmt::format("as_float({})", word("k")) : fmt::format("({}){}", stored_name(type), word("k")));
    case 2:
      return loaded(type, fmt::format("({})({} >> (k % 2 * 16))", stored_name(type), word("k / 2")));
    default:
      return loaded(type, fmt::format("({})({} >> (k % 4 * 8))", stored_name(type), word("k / 4")));
  }
}

// Statements that read the words of array `k` for a load of the result.
std::string words_of(DType type, std::size_t k, std::uint64_t bytes) {
  const std::string from = fmt::format("a.a{} + (long)at * {}", k, size_of(type));
  std::string text = fmt::format("  uint w{}[{}];\n", k, std::max<std::uint64_t>(bytes / 4, 1));
  if (bytes < 4) return text + fmt::format("  w{}[0] = *(GLOBAL const {}*)({});\n", k, bytes == 2 ? "ushort" : "uchar", from);
  if (bytes < 16) {
    for (std::uint64_t word = 0; word < bytes / 4; ++word)
      text += fmt::format("  w{}[{}] = ((GLOBAL const uint*)({}))[{}];\n", k, word, from, word);
    return text;
  }
  for (std::uint64_t load = 0; load < bytes / 16; ++load) {
    const std::string name = fmt::format("l{}_{}", k, load), place = fmt::format("(GLOBAL const uint4*)({}) + {}", from, load);
    text += fmt::format("  const uint4 {} = CACHED && j < walk.cached ? *({}) : load_streaming({});\n", name, place, place);
    for (std::uint64_t word = 0; word < 4; ++word) text += fmt::format("  w{}[{}] = {}.{};\n", k, 4 * load + word, name, "xyzw"[word]);
  }
  return text;
}

std::string bits_text(Scalar type) {
  switch (type) {
    case Scalar::float32:
      return "as_uint(value)";
    case Scalar::float64:
      return "as_ulong(value)";
    case Scalar::boolean:
      return "(uint)value";
    default:
      return "(ulong)value";
  }
}

}  // namespace

TermCode term_code(const Program& program, std::span<const DType> inputs, std::span<const Reading> readings) {
  const Scalar type = program.nodes[program.results[0]].type;
  const std::uint64_t in_load = 16 / bytes_of(type);
  const bool rows = std::ranges::find(readings, Reading::rows) != readings.end();
  std::string members, parameters, values, one, several, words;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    members += fmt::format("  GLOBAL const uchar* a{0};\n  long s{0}, r{0};\n", k);
    parameters += fmt::format("GLOBAL const uchar* a{0}, ulong o{0}, long s{0}, long r{0}, ", k);
    values += fmt::format("a{0} + o{0}, s{0}, r{0}, ", k);
    const std::string single = element_from(inputs[k], k, offset_of(readings[k], k, inputs[k]));
    one += single + ", ";
    if (readings[k] == Reading::loads) {
      words += words_of(inputs[k], k, in_load * size_of(inputs[k]));
      several += element_of_words(inputs[k], k) + ", ";
    } else {
      several += single + ", ";
    }
  }
  if (program.uses_index) {
    one += "(long)(a.index + at), ";
    several += "(long)(a.index + at), ";
  }
  for (std::size_t k = 0; k < program.parameters.size(); ++k) {
    const std::string_view name = dialect_name(program.parameters[k].type);
    members += fmt::format("  {} p{};\n", name, k);
    parameters += fmt::format("{} p{}, ", name, k);
    values += fmt::format("p{}, ", k);
    one += fmt::format("a.p{}, ", k);
    several += fmt::format("a.p{}, ", k);
  }
  const std::string row = rows ? "    const ulong row = row_number(walk.elements, at);\n" : "";
  const std::string check = program.may_fail ? "  if (error != 0) atomic_max_global32(a.failed, 0xffffffffu - (uint)at);\n" : "";
  std::string text = print(program, "term_value");
  text += fmt::format("typedef struct {{\n{}  ulong index;\n  GLOBAL uint* failed;\n}} ARRAY;\n", members);
  text += fmt::format("#define TERM_PARAMETERS {}ulong index, GLOBAL uint* failed\n#define TERM_VALUE {{{}index, failed}}\n", parameters,
                      values);
  text += fmt::format(
      "FN ELEMENT element_at(ARRAY a, WALK walk, ulong at) {{\n{}  uint error = 0;\n  const term_value_result value = "
      "term_value({}&error);\n{}"
      "  return (ELEMENT){};\n}}\n",
      row, one, check, bits_text(type));
  // In a loop that is unrolled, `at` is the position and k its number in the load.
  const std::string put = bytes_of(type) == 8
                              ? "    const ulong bits = VALUE;\n    r[2 * k] = (uint)bits;\n    r[2 * k + 1] = (uint)(bits >> 32);\n"
                          : bytes_of(type) == 4 ? "    r[k] = VALUE;\n"
                                                : "    r[k / 4] |= VALUE << (k % 4 * 8);\n";
  std::string bits = put;
  bits.replace(bits.find("VALUE"), 5, bits_text(type));
  text += fmt::format(
      "FN uint4 load_at(ARRAY a, WALK walk, ulong j) {{\n  const ulong first = walk.head + j * ELEMENTS_PER_LOAD;\n  ulong at = first;\n{}"
      "  uint r[4] = {{0, 0, 0, 0}};\n"
      "#pragma unroll\n"
      "  for (int k = 0; k < ELEMENTS_PER_LOAD; ++k) {{\n    at = first + k;\n{}    uint error = 0;\n"
      "    const term_value_result value = term_value({}&error);\n{}{}  }}\n  return make_uint4(r[0], r[1], r[2], r[3]);\n}}\n",
      words, row, several, check, bits);
  // What an array's elements are named after walk.h.
  text +=
      "FN ulong index_of_load(WALK walk, ulong j) { return walk.head + j * ELEMENTS_PER_LOAD; }\n"
      "FN ulong index_of_rest(WALK walk, ulong loads, ulong all_loads, ulong s) { return walk.head + loads * ELEMENTS_PER_LOAD + s; }\n";
  const bool slow = program.nodes.size() > kManyOperations ||
                    std::any_of(program.nodes.begin(), program.nodes.end(), [](const Node& node) { return is_transcendental(node.op); });
  return {dtype_of(type),
          files_of({&program}),
          std::move(text),
          static_cast<std::uint32_t>(std::max<std::size_t>(inputs.size(), 1)),
          slow,
          rows};
}

namespace {

class FormulaTerms final : public statistics::Terms {
 public:
  FormulaTerms(const Formula& formula, const Program& program, std::span<const Value> parameters, std::span<const Array> arrays,
               std::span<const std::uint64_t> shape)
      : formula_(formula),
        program_(program),
        values_(parameters.begin(), parameters.end()),
        shape_(shape.begin(), shape.end()),
        device_(arrays[0].buffer().device()),
        size_(arrays[0].size()),
        most_(kMaxPositions) {
    require_types(program, device_.info());
    for (const Array& array : arrays) {
      types_.push_back(array.type());
      std::optional<device::Run> run = device::single_run(array, core::Order::index);
      if (!run) {
        run = device::run_of_rows(array, core::Order::index);
        if (run && run->row_length != 0 && (row_length_ == 0 || row_length_ == run->row_length)) {
          row_length_ = run->row_length;
        } else {
          run.reset();
        }
      }
      runs_.push_back(run);
      gathers_.emplace_back();
      if (run) continue;
      gathers_.back().emplace(array, core::Order::index);
      most_ = std::min(most_, device::Gather::most(array.type()));
    }
    fits_ = row_length_ <= most_;
  }

  // Whether parts of whole rows fit what is gathered.
  bool fits() const { return fits_; }

  DType type() const override { return dtype_of(program_.nodes[program_.results[0]].type); }
  std::uint64_t size() const override { return size_; }
  device::Device& device() const override { return device_.implementation(); }
  std::uint64_t part_size(std::uint64_t most) const override {
    const std::uint64_t rows = std::max<std::uint64_t>(row_length_, 1);
    return std::max<std::uint64_t>(std::min(most, most_) / rows, 1) * rows;
  }

  Term part(std::uint64_t first, std::uint64_t count, std::optional<std::uint32_t> wanted_head, const device::Lock& lock) override {
    device::Device& device = device_.implementation();
    first_ = first;
    now_.clear();
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      now_.push_back(runs_[k] ? runs_[k]->part(first, count) : gathers_[k]->part(first, count, lock));
    }
    if (failed_at_ == nullptr) {
      failed_at_ = device.plans().take_or<device::Memory>(kFailedAt, [&] {
        const auto word = std::make_shared<device::Memory>(device.allocate(sizeof(std::uint32_t)));
        const std::uint32_t none = 0;
        device.write(*word, 0, &none, sizeof none);
        return word;
      });
    }
    Term term;
    term.count = count;
    term.row_length = std::max<std::uint64_t>(row_length_, 1);
    const std::uint64_t in_load = 16 / size_of(type());
    std::vector<Reading> readings;
    std::optional<std::uint64_t> head = wanted_head;
    for (std::size_t k = 0; k < now_.size(); ++k) {
      const std::uint64_t element = size_of(types_[k]), load = std::min<std::uint64_t>(16, in_load * element);
      const std::uint64_t beyond = (device.misalignment(now_[k].memory) + now_[k].offset) % load;
      if (now_[k].row_length != 0) {
        readings.push_back(Reading::rows);
      } else if (now_[k].stride != static_cast<std::int64_t>(element)) {
        readings.push_back(Reading::strided);
      } else {
        // Positions before the first boundary; where arrays differ in it, the first one's counts.
        const std::uint64_t own = (load - beyond) % load / element;
        if (!head) head = own;
        readings.push_back((beyond + *head * element) % load == 0 ? Reading::loads : Reading::strided);
      }
    }
    term.head = static_cast<std::uint32_t>(std::min<std::uint64_t>(head.value_or(0), count));
    term.code = term_code(program_, types_, readings);
    for (const device::Run& run : now_) {
      term.arguments.emplace_back(run.memory);
      term.arguments.emplace_back(run.offset);
      term.arguments.emplace_back(run.stride);
      term.arguments.emplace_back(run.row_stride);
    }
    add_parameters(program_, values_, term.arguments);
    term.arguments.emplace_back(first);
    term.arguments.emplace_back(*failed_at_);
    return term;
  }

  void check(const device::Lock&) override {
    std::uint32_t found = 0;
    if (program_.may_fail) device_.implementation().read(*failed_at_, 0, &found, sizeof found);
    // For the next call: it is 0 again.
    if (found == 0) device_.implementation().plans().give_back(std::string(kFailedAt), std::move(failed_at_));
    if (found != 0)
      throw failed_on_device(device_.implementation(), formula_, program_, values_, now_, types_, shape_, 0xffffffffu - found, first_);
  }

 private:
  const Formula& formula_;
  const Program& program_;
  std::vector<Value> values_;
  std::vector<std::uint64_t> shape_;
  Device device_;
  std::uint64_t size_, most_, row_length_ = 0, first_ = 0;
  bool fits_ = true;
  std::vector<DType> types_;
  std::vector<std::optional<device::Run>> runs_;
  std::vector<std::optional<device::Gather>> gathers_;
  std::vector<device::Run> now_;
  static constexpr std::string_view kFailedAt = "first position that failed";
  std::shared_ptr<device::Memory> failed_at_;
};

}  // namespace

std::unique_ptr<statistics::Terms> terms_of(const Formula& formula, const Program& program, std::span<const Value> parameters,
                                            std::span<const Array> arrays, std::span<const std::uint64_t> shape) {
  if (arrays.empty() || arrays.size() > kMaxArrays || program.parameters.size() > kMaxArrays) return nullptr;
  auto terms = std::make_unique<FormulaTerms>(formula, program, parameters, arrays, shape);
  return terms->fits() ? std::move(terms) : nullptr;
}

}  // namespace samesum::formula
