// Partial sums as files.
#pragma once

#include "output_file.hpp"

#include <samesum/accumulator.hpp>

#include <string>

namespace samesum::cli {

/// A file that a partial sum is going to be written to.
class PartialTarget : public OutputFile {
 public:
  using OutputFile::OutputFile;
  void save(Output& out, const Accumulator& sum) const;
};

/// The partial sum in the file `path`, which may be a pipe; "-" is standard input.
Accumulator load_partial(const std::string& path);

}  // namespace samesum::cli
