// What CUB's TransformReduce takes for statistics and for products of pairs: rounded at each addition.
#pragma once

#include <thrust/tuple.h>

#include <cmath>

template <class Extreme>
struct Statistics {
  Extreme least, greatest;
  double count, sum, squares;
  static Statistics of_none() { return {INFINITY, -INFINITY, 0, 0, 0}; }
};
template <class Extreme>
struct ToStatistics {
  __host__ __device__ Statistics<Extreme> operator()(Extreme x) const { return {x, x, 1, x, static_cast<double>(x) * x}; }
};
template <class Extreme>
struct MergeStatistics {
  __host__ __device__ Statistics<Extreme> operator()(const Statistics<Extreme>& a, const Statistics<Extreme>& b) const {
    return {fmin(a.least, b.least), fmax(a.greatest, b.greatest), a.count + b.count, a.sum + b.sum, a.squares + b.squares};
  }
};
struct Product {
  template <class Pair>
  __host__ __device__ auto operator()(const Pair& pair) const {
    return thrust::get<0>(pair) * thrust::get<1>(pair);
  }
};
