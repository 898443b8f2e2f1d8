// Sums that carry their error along, in the type of the elements.
// W. Kahan, Further remarks on reducing truncation errors, CACM 8 (1965); A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur
// Summation endlicher Summen, ZAMM 54 (1974).
#include "places.hpp"

#include <cmath>

namespace peers {
namespace {

double kahan(samesum::Array data) {
  return typed(data, []<class T>(const T* from, std::uint64_t count) -> double {
    T sum = 0, error = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const T corrected = from[i] - error;
      const T next = sum + corrected;
      error = (next - sum) - corrected;
      sum = next;
    }
    return sum;
  });
}

double neumaier(samesum::Array data) {
  return typed(data, []<class T>(const T* from, std::uint64_t count) -> double {
    T sum = 0, error = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const T next = sum + from[i];
      error += std::abs(sum) >= std::abs(from[i]) ? (sum - next) + from[i] : (from[i] - next) + sum;
      sum = next;
    }
    return sum + error;
  });
}

}  // namespace

std::vector<HostPeer> compensated_peers() { return {{"Kahan", kOneThread, true, kahan}, {"Neumaier", kOneThread, true, neumaier}}; }

}  // namespace peers
