// What the commands under `samesum bench` share.
#pragma once

#include "command.hpp"

#include <samesum/device.hpp>

#include <string>
#include <string_view>

namespace samesum::cli {

/// A benchmark wants the fastest device, whatever its start-up, where the user does not say which.
Device choose_for_bench(const std::string& selector);

/// Says on a terminal what is being measured; its end wipes that away.
class Progress {
 public:
  static void show(std::string_view what);
  ~Progress();
};

void add_bench_barrier(CLI::App& parent, Action& action);

}  // namespace samesum::cli
