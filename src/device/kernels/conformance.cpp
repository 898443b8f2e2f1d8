#include "device/kernels/conformance.hpp"

#include "device/kernels/hash.hpp"
#include "device/kernels/kernel_cache.hpp"
#include "device/kernels/program.hpp"

#include <samesum/error.hpp>
#include <samesum/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>

namespace samesum::device {
namespace {

constexpr std::string_view kFormat = "samesum conformance 2";
constexpr std::uint32_t kCases = 256;
constexpr std::size_t kOperations = 6;
constexpr std::uint32_t kSubgroup = 32;

struct Section {
  Capability capability;  // removed where the section does not compile
  const char* define;
};

constexpr Section kSections[] = {
    {Capability::kernels, "CONFORMANCE_FLOAT32"},       {Capability::fp64, "CONFORMANCE_FLOAT64"},
    {Capability::int64_atomics, "CONFORMANCE_ATOMICS"}, {Capability::subgroups, "CONFORMANCE_SUBGROUPS"},
    {Capability::device_fence, "CONFORMANCE_FENCE"},
};

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <typename T>
struct Operands {
  T x, y, z;
};

// The operations in the kernel's order; `text`, with the operands inserted, is quoted in a reason.
template <typename T>
struct Operation {
  Capability capability;
  const char* text;
  T (*right)(Operands<T>);
};

template <typename T>
constexpr Operation<T> kArithmetic[kOperations] = {
    {Capability::unfused, "{} * {} + {}", [](Operands<T> o) { return o.x * o.y + o.z; }},
    {Capability::division, "{} / {}", [](Operands<T> o) { return o.x / o.y; }},
    {Capability::square_root, "sqrt(|{}|)", [](Operands<T> o) { return std::sqrt(std::fabs(o.x)); }},
    {Capability::fma, "fma({}, {}, {})", [](Operands<T> o) { return std::fma(o.x, o.y, o.z); }},
    {Capability::kernels, "{} + {}", [](Operands<T> o) { return o.x + o.y; }},
    {Capability::kernels, "{} * {}", [](Operands<T> o) { return o.x * o.y; }},
};

// A third of the cases cancel in x*y + z, which exposes a fused operation, and a third are around the smallest normal number.
template <typename T>
std::vector<Operands<T>> make_cases() {
  constexpr int kMinExponent = std::numeric_limits<T>::min_exponent - 1;
  std::mt19937_64 random(20260101);
  const auto number = [&](int lowest, int highest) {
    const auto span = static_cast<std::uint64_t>(highest - lowest + 1);
    const T fraction = std::ldexp(static_cast<T>(random() >> (65 - std::numeric_limits<T>::digits)), 1 - std::numeric_limits<T>::digits);
    const T magnitude = std::ldexp(1 + fraction, lowest + static_cast<int>(random() % span));
    return random() & 1 ? -magnitude : magnitude;
  };
  std::vector<Operands<T>> cases = {{1, 3, 1}, {T(0.1), T(0.2), T(0.3)}, {2, T(0.1), -1}};
  while (cases.size() < kCases) {
    Operands<T> o{number(-20, 20), number(-20, 20), number(-20, 20)};
    if (cases.size() % 3 == 1) o.z = -(o.x * o.y);
    if (cases.size() % 3 == 2) o = {number(kMinExponent - 20, kMinExponent + 20), number(-20, 20), number(kMinExponent - 20, kMinExponent)};
    if (cases.size() % 24 == 2) std::swap(o.x, o.y);
    cases.push_back(o);
  }
  return cases;
}

// One array per operand, as the kernel reads them.
template <typename T>
std::vector<Bits<T>> bits_of(const std::vector<Operands<T>>& cases) {
  std::vector<Bits<T>> bits;
  for (T Operands<T>::*operand : {&Operands<T>::x, &Operands<T>::y, &Operands<T>::z}) {
    for (const Operands<T>& o : cases) bits.push_back(std::bit_cast<Bits<T>>(o.*operand));
  }
  return bits;
}

// Whether a case tests denormals rather than its operation.
template <typename T>
bool around_denormals(Operands<T> o, T right) {
  const T values[] = {o.x, o.y, o.z, o.x * o.y, right};
  return std::any_of(std::begin(values), std::end(values), [](T value) { return std::fpclassify(value) == FP_SUBNORMAL; });
}

// The reason why the device fails one operation: the first wrong result, on normal numbers if there is one.
template <typename T>
void check_operation(const Operation<T>& operation, const std::vector<Operands<T>>& cases, const Bits<T>* results,
                     std::vector<Missing>& missing) {
  for (const bool denormals : {false, true}) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Operands<T> o = cases[i];
      const T right = operation.right(o);
      const auto right_bits = std::bit_cast<Bits<T>>(right);
      if (results[i] == right_bits || around_denormals(o, right) != denormals) continue;
      const Capability capability = std::is_same_v<T, double> ? Capability::fp64 : denormals ? Capability::denormals : operation.capability;
      const auto same = [=](const Missing& known) { return known.capability == capability; };
      if (std::any_of(missing.begin(), missing.end(), same)) return;
      const std::string calculation = fmt::format(fmt::runtime(operation.text), o.x, o.y, o.z);
      missing.push_back({capability, fmt::format("conformance: {} is {:#x}, not {:#x}", calculation, results[i], right_bits)});
      return;
    }
  }
}

template <typename T>
void compare(const std::vector<Operands<T>>& cases, const std::vector<Bits<T>>& results, std::vector<Missing>& missing) {
  for (std::size_t i = 0; i < kOperations; ++i) check_operation(kArithmetic<T>[i], cases, results.data() + i * cases.size(), missing);
}

// The kernel's sub-group operations, in its order, and their expected results: each work-item has a word of `words`.
constexpr const char* kOfLanes[] = {
    "shuffle", "shuffle of 64 bits, low", "shuffle of 64 bits, high", "ballot", "least", "greatest", "greatest of int", "sum of int",
    "sum",     "sum of 64 bits, low",     "sum of 64 bits, high"};

std::vector<std::uint32_t> right_lanes(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint32_t> right(std::size(kOfLanes) * kCases);
  for (std::uint32_t i = 0; i < kCases; ++i) {
    const std::uint32_t* const lanes = words.data() + i / kSubgroup * kSubgroup;
    const auto signed_less = [](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b); };
    std::uint32_t ballot = 0;
    std::uint64_t sum = 0;
    for (std::uint32_t lane = 0; lane < kSubgroup; ++lane) {
      ballot |= (lanes[lane] & 1) << lane;
      sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(lanes[lane])));
    }
    const std::uint32_t low = i ^ 9;
    const std::uint32_t found[] = {words[i ^ 21],
                                   low,
                                   words[low],
                                   ballot,
                                   *std::min_element(lanes, lanes + kSubgroup),
                                   *std::max_element(lanes, lanes + kSubgroup),
                                   *std::max_element(lanes, lanes + kSubgroup, signed_less),
                                   static_cast<std::uint32_t>(sum),
                                   static_cast<std::uint32_t>(sum),
                                   static_cast<std::uint32_t>(16 * sum),
                                   static_cast<std::uint32_t>(16 * sum >> 32)};
    static_assert(std::size(found) == std::size(kOfLanes));
    for (std::size_t k = 0; k < std::size(found); ++k) right[k * kCases + i] = found[k];
  }
  return right;
}

void compare_lanes(const std::vector<std::uint32_t>& right, const std::vector<std::uint32_t>& found, std::vector<Missing>& missing) {
  const auto wrong = static_cast<std::size_t>(std::mismatch(right.begin(), right.end(), found.begin()).first - right.begin());
  if (wrong == right.size()) return;
  missing.push_back({Capability::subgroups, fmt::format("conformance: sub-groups of {}: {}: work-item {} has {:#x}, not {:#x}", kSubgroup,
                                                        kOfLanes[wrong / kCases], wrong % kCases, found[wrong], right[wrong])});
}

// Sets IEEE 754 arithmetic on the host, also where a library linked with -ffast-math has made the process flush denormals.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&saved_); }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  std::fenv_t saved_;
};

template <typename T>
std::vector<T> download(Device& device, const Memory& memory) {
  std::vector<T> values(memory.bytes / sizeof(T));
  device.read(memory, 0, values.data(), memory.bytes);
  return values;
}

template <typename T>
Memory upload(Device& device, const std::vector<T>& values) {
  Memory memory = device.allocate(values.size() * sizeof(T));
  device.write(memory, 0, values.data(), memory.bytes);
  return memory;
}

// Runs the sections that `source` enables.
std::vector<Missing> run(Device& device, const Source& source, const std::vector<Section>& sections) {
  const Kernel kernel = build(device, source, "conformance");
  const DefaultFloatingPoint floating_point;
  const auto cases32 = make_cases<float>();
  const auto cases64 = make_cases<double>();
  const Memory in32 = upload(device, bits_of(cases32));
  const Memory in64 = upload(device, bits_of(cases64));
  const Memory out32 = upload(device, std::vector<std::uint32_t>(kOperations * kCases));
  const Memory out64 = upload(device, std::vector<std::uint64_t>(kOperations * kCases));
  const Memory total = upload(device, std::vector<std::uint64_t>(1 + kCases));
  const Memory lanes = upload(device, std::vector<std::uint32_t>(std::size(kOfLanes) * kCases));
  const std::uint32_t most = std::min(64u, device.info().max_group_size), size = most < kSubgroup ? most : most / kSubgroup * kSubgroup;
  const Argument arguments[] = {in32, in64, out32, out64, total, lanes, kCases};
  device.launch(kernel, {(kCases + size - 1) / size, size}, arguments);
  device.finish();

  std::vector<Missing> missing;
  for (const Section& section : sections) {
    if (section.capability == Capability::kernels) compare(cases32, download<std::uint32_t>(device, out32), missing);
    if (section.capability == Capability::fp64) compare(cases64, download<std::uint64_t>(device, out64), missing);
    if (section.capability == Capability::subgroups) {
      compare_lanes(right_lanes(bits_of(cases32)), download<std::uint32_t>(device, lanes), missing);
    }
    if (section.capability == Capability::int64_atomics) {
      const std::uint64_t right = std::uint64_t{kCases} * (kCases + 1) / 2 * 0x1ffffffff;
      const std::uint64_t sum = download<std::uint64_t>(device, total)[0];
      if (sum != right)
        missing.push_back({section.capability, fmt::format("conformance: atomic additions came to {}, not {}", sum, right)});
    }
  }
  return missing;
}

Source source_of(const std::vector<Section>& sections) {
  Source source{{"device/kernels/conformance.cl"}, {}};
  for (const Section& section : sections) source.defines.emplace_back(section.define, "1");
  return source;
}

// The most useful line of a failure: the compiler's first error, or else the message.
std::string reason_of(const Error& error) {
  const std::string_view log = error.context().build_log;
  const std::size_t found = std::min(log.find("error"), log.find("fatal"));
  const std::string_view text = found == std::string_view::npos ? error.what() : log.substr(log.substr(0, found).rfind('\n') + 1);
  return fmt::format("conformance: {}", text.substr(0, text.find('\n')));
}

// One line per capability: its number and the reason.
std::string to_text(const std::vector<Missing>& missing) {
  std::string text;
  for (const Missing& one : missing) text += fmt::format("{} {}\n", static_cast<int>(one.capability), one.reason);
  return text;
}

std::vector<Missing> from_text(std::string_view text) {
  std::vector<Missing> missing;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::size_t end = text.find('\n');
    missing.push_back(
        {static_cast<Capability>(std::stoi(std::string(text.substr(0, space)))), std::string(text.substr(space + 1, end - space - 1))});
    text.remove_prefix(end + 1);
  }
  return missing;
}

}  // namespace

std::vector<Missing> check_conformance(Device& device) {
  const DeviceInfo info = device.info();
  std::vector<Section> sections;
  std::copy_if(std::begin(kSections), std::end(kSections), std::back_inserter(sections),
               [&](const Section& section) { return info.has(section.capability); });
  const std::string key = hash_of({kFormat, version(), assemble(device.language(), source_of(sections)), info.selector, info.name,
                                   info.platform, info.driver, device.compiler_identity()});
  const auto keep_known = [&](std::vector<Missing> missing) {
    std::erase_if(missing, [&](const Missing& one) { return !info.has(one.capability); });
    return missing;
  };
  if (const auto cached = find_cached(key)) return keep_known(from_text(cached->bytes));

  std::vector<Missing> missing;
  bool lasting = true;  // a failed compilation would fail again; a failed launch may succeed later
  try {
    missing = run(device, source_of(sections), sections);
  } catch (const Error&) {
    // Running one section at a time finds the failing one. A device that fails the first one runs no kernels, at least for now.
    for (const Section& section : sections) {
      try {
        const auto found = run(device, source_of({section}), {section});
        missing.insert(missing.end(), found.begin(), found.end());
      } catch (const Error& error) {
        missing.push_back({section.capability, reason_of(error)});
        lasting = lasting && !error.context().build_log.empty();
        if (section.capability == Capability::kernels) return missing;
      }
    }
  }
  if (lasting) keep_cached(key, {to_text(missing), {}});
  return keep_known(missing);
}

}  // namespace samesum::device
