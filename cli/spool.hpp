// Numbers that can be passed over twice: a pipe's, by way of a temporary file, in bounded memory.
#pragma once

#include <samesum/source.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace samesum::cli {

class Spool final : public Source {
 public:
  /// Reads `source` to its end. The file has no name, so that it goes with the process, however that ends.
  /// @throws Error (usage) where there is no room for it.
  explicit Spool(Source& source);
  /// To the beginning again.
  void rewind();
  std::optional<View> next() override;
  std::string_view format() const noexcept override { return format_; }

 private:
  struct Run {
    DType type;
    std::uint64_t bytes;
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string format_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<Run> runs_;  // of one type each
  std::size_t run_ = 0;
  std::uint64_t done_ = 0;  // bytes of the run
  std::vector<std::byte> chunk_;
};

}  // namespace samesum::cli
