// samesum: correctly rounded sums at memory speed, the same bits on CPU, OpenCL and CUDA.
//
//   #include <samesum/samesum.hpp>
//   double total = samesum::sum(std::span<const float>(values));
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array_file.hpp>
#include <samesum/device.hpp>
#include <samesum/error.hpp>
#include <samesum/source.hpp>
#include <samesum/sum.hpp>
#include <samesum/types.hpp>
#include <samesum/version.hpp>
#include <samesum/view.hpp>
