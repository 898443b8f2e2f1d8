// samesum: correctly rounded sums at memory speed, the same bits on CPU, OpenCL and CUDA.
//
//   #include <samesum/samesum.hpp>
//   double total = samesum::sum(values);  // values: a std::vector<float>, say
//
// Threads. Every function that is no member may be called from any number of threads at once, with the same device too: work on one device
// is done one call after the other (the calling thread waits), work on different ones, and all work on "cpu", at the same time. Objects are
// as those of the standard library: const members may be called at once on one object; what changes an object needs it alone. An object
// that is a handle says so. A function that a measurement of samesum/bench*.hpp calls back (progress) runs while that has the device, and
// gets Error (usage) if it uses it; that of pairs() may use the device. Environment variables are read in most calls, so no thread may
// change them (setenv) meanwhile. After fork() a child that does not exec must not use samesum if its parent has: the threads of oneTBB and
// of the drivers are not there.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array_file.hpp>
#include <samesum/buffer.hpp>
#include <samesum/collect_plan.hpp>
#include <samesum/device.hpp>
#include <samesum/driver_calls.hpp>
#include <samesum/error.hpp>
#include <samesum/extremes.hpp>
#include <samesum/formula.hpp>
#include <samesum/histogram.hpp>
#include <samesum/image.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/quantile.hpp>
#include <samesum/reduce.hpp>
#include <samesum/source.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>
#include <samesum/version.hpp>
#include <samesum/array.hpp>
