#!/usr/bin/env python3
"""Writes include/samesum/samesum_core.hpp: the exact accumulators of src/exact as one header that needs nothing but the standard library.

    tools/write-core-header.py            writes it
    tools/write-core-header.py --check    exit code 1 if it is not up to date

Declarations and definitions are copied from the library's files, so that there is one source of the arithmetic. What needs other parts of
the library is left out by name (LEFT_OUT).
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = ROOT / "include/samesum/samesum_core.hpp"

# Serialized forms take XXH3, integers in decimal {fmt}, and numbers of mixed types Value.
LEFT_OUT = re.compile(r"\b(serialize|deserialize|to_int64|to_uint64|integer_of|result_type|decimal|Value)\b|friend class|is_same_v|EXACT_DIGITS ==")

BEGIN = '''// samesum_core.hpp: exact sums and dot products in one header, which needs a C++20 compiler (GCC or Clang) and nothing else.
//
//   #include "samesum_core.hpp"
//
//   const std::vector<double> x{1e100, 1.0, -1e100};
//   samesum_core::sum(x);                          // 1.0: the exact sum, rounded once
//   samesum_core::Accumulator total;               // a sum as a value: the same bits in any order, merged from any parts
//   for (const double one : x) total.add(one);
//   total.round();
//
// These are the accumulators of the library samesum (its arithmetic on the CPU, without its vectors and threads): the same bits, and words()
// that the library reads. The library sums at the speed of memory; this header takes a few nanoseconds for each element. With -ffast-math
// (GCC's -fno-signed-zeros) a compiler may change the sign of a result that is zero, and nothing else.
//
// Written by tools/write-core-header.py from src/exact: change it there.
// clang-format off
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace samesum_core {

static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<float>::is_iec559, "numbers are those of IEEE 754");

enum class ErrorKind {
  usage,      ///< bad input
  no_answer,  ///< the input is fine, but has no correct answer
};

/// Thrown by all functions that fail.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// What a NaN among the elements does: the result is NaN, or the NaN is left out.
enum class NanPolicy { propagate, skip };

'''

END = '''/// The exact sum of a range of numbers, rounded once to the nearest double. O(n).
template <class Range>
double sum(const Range& numbers, NanPolicy nan = NanPolicy::propagate) {
  Accumulator total;
  for (const auto number : numbers) total.add(number);
  return total.round(nan);
}

/// The exact sum of a[i] * b[i], rounded once to the nearest double. O(n). @throws Error (usage) for ranges of different sizes.
inline double dot(std::span<const double> a, std::span<const double> b, NanPolicy nan = NanPolicy::propagate) {
  if (a.size() != b.size()) throw Error(ErrorKind::usage, "the arrays of a dot product have different sizes");
  ProductAccumulator total;
  for (std::size_t i = 0; i < a.size(); ++i) total.add(a[i], b[i]);
  return total.round(nan);
}

}  // namespace samesum_core
'''


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def blocks(text):
    """The definitions of a file: what stands between blank lines, outside of braces; without includes, namespaces and the file's comment."""
    text = re.sub(r"\A(//.*\n)+", "", text)
    text = re.sub(r"^#(include|pragma|define XXH).*\n", "", text, flags=re.M)
    text = re.sub(r"^(}  // namespace.*|namespace [\w: ]*\{|class SumMessage;)\n", "\n", text, flags=re.M)
    found, depth, block = [], 0, []
    for line in text.splitlines():
        if not line.strip() and depth == 0:
            found += ["\n".join(block)] if block else []
            block = []
            continue
        depth += line.count("{") - line.count("}")
        block.append(line)
    return found + (["\n".join(block)] if block else [])


def first_code_line(block):
    return next((line for line in block.splitlines() if not line.startswith("//")), "")


def pieces(block):
    """A block without a blank line may hold several definitions."""
    found, depth, piece = [], 0, []
    for line in block.splitlines():
        depth += line.count("{") + line.count("(") - line.count("}") - line.count(")")
        piece.append(line)
        if depth == 0 and re.search(r"[;}]\s*(//.*)?$", line):
            found.append("\n".join(piece))
            piece = []
    return found + (["\n".join(piece)] if piece else [])


def definitions(path):
    """The functions of a source file, inline."""
    text = re.sub(r"\bSAMESUM_(EXPORT|HIDDEN) ", "", read(path))
    out = []
    for block in blocks(text):
        kept = []
        for piece in pieces(block):
            code = first_code_line(piece)
            if LEFT_OUT.search(code) or code.startswith("template double") or code.startswith("template float"):
                continue
            if re.match(r"(auto|bool|void|double|float|int|std::|Real|BigInteger|Leading|Parts|Accumulator|ProductAccumulator|Uint128|\[\[noreturn\]\])[\w:<>, ]* ", code) \
                    or re.match(r"(BigInteger|Accumulator|ProductAccumulator)::", code):
                piece = piece.replace(code, "inline " + code, 1)
            kept.append(re.sub(r"^constexpr", "inline constexpr", piece, flags=re.M))
        if kept:
            out.append("\n".join(kept))
    return "\n\n".join(out) + "\n"


def members(text):
    """A class without the members that are left out, and their comments."""
    lines, out, comment = text.splitlines(), [], []
    skipping = False
    for line in lines:
        if skipping:
            skipping = not line.rstrip().endswith((";", "}"))
            continue
        if re.match(r"\s*//", line):
            comment.append(line)
            continue
        if LEFT_OUT.search(line):
            comment = []
            skipping = not re.search(r"[;}]\s*(///<.*)?$", line)
            continue
        out += comment + [line]
        comment = []
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out + comment))


def declaration(path, begin, end="\n};\n"):
    text = read(path)
    start = text.index(begin)
    return members(text[start:text.index(end, start) + len(end)]) + "\n"


def arithmetic():
    text = read("src/exact/exact.h")
    text = text[text.index("#define EXACT_DIGITS"):]
    text = re.sub(r"^#define (\w+) (\d+)", r"inline constexpr int \1 = \2;", text, flags=re.M)
    for old, new in ((r"\bLOCAL ", ""), (r"\bFN\b", "inline"), (r"\bulong\b", "std::uint64_t"), (r"(?<!::)\blong\b", "std::int64_t"),
                     (r"\buint\b", "std::uint32_t"), (r"\bclz64\(", "std::countl_zero("), ("0xffffffffL", "0xffffffff")):
        text = re.sub(old, new, text)
    return "namespace dialect {\n\n" + text.rstrip() + "\n\n}  // namespace dialect\n\nusing namespace dialect;\n"


def shared():
    host = read("src/exact/exact_host.hpp")
    constants = host[host.index("/// The position of 2^0"):host.rindex("\n}  // namespace")].rstrip()
    big = read("src/exact/big_integer.hpp")
    big = big[big.index("/// Sign and magnitude"):big.rindex("\n}  // namespace")].rstrip()
    counted = read("src/exact/counted.hpp")
    counted = counted[counted.index("/// Throws Error"):counted.rindex("\n}  // namespace")].rstrip()
    words = read("src/exact/words.hpp")
    words = words[words.index("/// Writes numbers"):words.rindex("\n}  // namespace")].rstrip()
    words_source = read("src/exact/words.cpp")
    split = words_source.index("}  // namespace exact")
    parts = [arithmetic(), "namespace exact {\n", constants + "\n", counted + "\n", members(big) + "\n", words + "\n"]
    return parts, words_source[:split], words_source[split:]


def text_of():
    parts, _, _ = shared()
    # The definitions of namespace exact come first, then the classes, and then their own.
    words = definitions("src/exact/words.cpp")
    at = words.index("inline auto Accumulator::words()")
    parts += [definitions("src/exact/counted.cpp"), definitions("src/exact/big_integer.cpp"), words[:at].replace(
        "__extension__ typedef unsigned __int128 Uint128;  // no standard name for it\n\n", ""), "}  // namespace exact\n",
              declaration("include/samesum/accumulator.hpp", "/// The exact sum of any numbers"),
              declaration("include/samesum/product_accumulator.hpp", "/// The exact sum of products a"),
              "using exact::Uint128;\n"]
    for path in ("src/exact/accumulator.cpp", "src/exact/product_accumulator.cpp", "src/exact/consistent.cpp"):
        source = definitions(path)
        source = source.replace("__extension__ typedef unsigned __int128 Uint128;  // no standard name for it\n\n", "")
        source = source.replace("using exact::BigInteger;\nusing exact::kUnit;\n\n", "using exact::BigInteger;\n\n")
        if path.endswith("consistent.cpp"):  # in a class of its own unit: see ProductAccumulator::kUnit
            source = re.sub(r"\bkUnit\b", "exact::kUnit", source)
        parts.append(source)
    parts.append(words[at:])
    text = "\n".join(parts).replace(" private:\n\n", " private:\n")
    # Constants instead of macros, with the names of constants.
    text = re.sub(r"\bEXACT_(\w+)", lambda name: "kExact" + "".join(word.capitalize() for word in name[1].split("_")), text)
    return BEGIN + text + "\n" + END


def main():
    wanted = text_of()
    if "--check" in sys.argv[1:]:
        if HEADER.read_text(encoding="utf-8") != wanted:
            sys.exit(f"{HEADER}: not what src/exact has; run tools/write-core-header.py")
        return
    HEADER.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
