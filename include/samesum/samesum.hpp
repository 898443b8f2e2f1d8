// samesum: correctly rounded sums at memory speed, the same bits on CPU, OpenCL and CUDA.
//
//   #include <samesum/samesum.hpp>
//   double total = samesum::sum(values);  // values: a std::vector<float>, say
//
// Threads. Every free function may be called from any number of threads at once, with the same device too: calls on one device run one
// after the other (the calling thread waits), calls on different ones, and all calls on "cpu", run concurrently. Objects follow the rule of
// the standard library: const members may be called concurrently on one object; a modification needs exclusive access. A class that is a
// handle says so. A measurement of samesum/bench*.hpp holds its device while it calls back (progress): a callback that uses the device gets
// Error (usage); one of pairs() may use the device. Environment variables are read in most calls, so no thread may change them (setenv)
// meanwhile; configure() may be called at any time. The CPU's work takes all cores, or a oneTBB arena (tbb::task_arena) of fewer threads that
// the call is made in, or the threads that the options say. After fork() in a process that has used samesum, the child must exec before it uses samesum: the threads of oneTBB and of the
// drivers do not exist in it.
#pragma once

#include <samesum/accumulator.hpp>
#include <samesum/array.hpp>
#include <samesum/array_file.hpp>
#include <samesum/axes.hpp>
#include <samesum/axes_dot.hpp>
#include <samesum/axes_formula.hpp>
#include <samesum/buffer.hpp>
#include <samesum/by.hpp>
#include <samesum/by_formula.hpp>
#include <samesum/complex.hpp>
#include <samesum/device.hpp>
#include <samesum/driver_calls.hpp>
#include <samesum/element_words.hpp>
#include <samesum/error.hpp>
#include <samesum/formula.hpp>
#include <samesum/group_sums.hpp>
#include <samesum/histogram.hpp>
#include <samesum/histogram_distance.hpp>
#include <samesum/histogram_nd.hpp>
#include <samesum/image.hpp>
#include <samesum/map_source.hpp>
#include <samesum/operator.hpp>
#include <samesum/options.hpp>
#include <samesum/plan.hpp>
#include <samesum/product_accumulator.hpp>
#include <samesum/quantile.hpp>
#include <samesum/reduce.hpp>
#include <samesum/scan.hpp>
#include <samesum/settings.hpp>
#include <samesum/source.hpp>
#include <samesum/statistics.hpp>
#include <samesum/sum.hpp>
#include <samesum/sum_message.hpp>
#include <samesum/tiles.hpp>
#include <samesum/types.hpp>
#include <samesum/value.hpp>
#include <samesum/version.hpp>
#include <samesum/weighted_histogram.hpp>
