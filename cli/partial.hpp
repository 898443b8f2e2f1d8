// Files of partial sums.
#pragma once

#include "output_file.hpp"

#include <samesum/accumulator.hpp>

#include <string>

namespace samesum::cli {

/// The output file for a partial sum.
class PartialTarget : public OutputFile {
 public:
  using OutputFile::OutputFile;
  void save(Output& out, const Accumulator& sum) const;
};

/// The partial sum in the file `path`, which may be a pipe; "-" is standard input.
Accumulator load_partial(const std::string& path);

}  // namespace samesum::cli
