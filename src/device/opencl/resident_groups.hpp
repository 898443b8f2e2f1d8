// How many groups of a kernel are to be resident on a compute unit, which bounds the registers of a work-item. CUDA's compiler is told by
// FIXED_GROUP. OpenCL C has no word for it, and NVIDIA's option for the most registers has no effect on kernels of a fixed group size; but
// its binaries are PTX, which has one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace samesum::device::opencl {

/// What a program's defines say of its kernels (RESIDENT, with GROUP_SIZE or GROUP); 0 where they say nothing. `source`: as assemble()
/// makes it.
std::uint32_t resident_groups_of(std::string_view source);

/// The PTX with `.minnctapersm` for each kernel of a fixed group size. A unit that holds fewer work-items ignores it.
/// PTX ISA, "Performance-Tuning Directives".
std::string with_resident_groups(std::string_view ptx, std::uint32_t groups);

}  // namespace samesum::device::opencl
