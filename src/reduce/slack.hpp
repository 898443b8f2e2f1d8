// How far sums may be off that have been rounded.
#pragma once

namespace samesum::statistics {

/// Bounds, themselves so much rounded that twice as much is certain.
struct Slack {
  double sum = 0, squares = 0;
};

}  // namespace samesum::statistics
