// Formulas as source of the kernel dialect.
#pragma once

#include "formula/program.hpp"

#include <samesum/types.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace samesum::formula {

/// What kernels with these programs begin with: the files of a device::Source ahead of text by print().
std::vector<std::string_view> files_of(const std::vector<const Program*>& programs);

/// A program as a function of the kernel dialect, and for a tuple the type of what it returns:
///
///     typedef struct { float r0; long r1; } NAME_result;              // of one result: typedef float NAME_result;
///     FN NAME_result NAME(float x0, long x1, long i, float p0, uint* error)
///
/// Its parameters are the components of Program::inputs, converted to their types; the index, if the program uses it; Program::parameters;
/// and where integer operations that failed leave their bits (Fault): none is ever taken away. A bool is a uchar, as input and result. No
/// word of it is the user's.
std::string print(const Program& program, std::string_view name);

/// A number of this type and with these bits.
std::string literal(Scalar type, std::uint64_t bits);
/// "float", …: what the dialect calls a type.
std::string_view dialect_name(Scalar type) noexcept;
/// What a kernel reads elements of this type as ("uchar", "ushort" of the 16-bit floats), and such a word as what the formula computes in.
std::string_view stored_name(DType type) noexcept;
std::string loaded(DType type, std::string_view word);

}  // namespace samesum::formula
