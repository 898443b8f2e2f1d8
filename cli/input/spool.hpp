// Stores numbers for a second pass: from a pipe, in a temporary file where they are many, in bounded memory.
#pragma once

#include <samesum/source.hpp>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::cli {

class Spool final : public Source {
 public:
  /// Reads `source` to its end. More than 16 MiB are stored in an unnamed file in TMPDIR, which disappears when the process ends in any
  /// way.
  /// @throws Error (usage) where there is no room for it; `hint` ends the message, and says how to avoid the file.
  explicit Spool(Source& source, std::string_view hint = {});
  ~Spool() override;

  /// Moves to the beginning.
  void rewind();
  std::optional<Array> next() override;
  std::string_view format() const noexcept override { return format_; }
  std::optional<DType> type() const noexcept override { return type_; }
  std::string part() const override { return part_; }
  std::uint64_t missing() const noexcept override { return missing_; }

  /// All elements as one array, valid as long as this object: in memory, or the file mapped. Numbers of a text, which have several types,
  /// are brought to one: of integers alone, if `integers`, int64, or uint64; else float64. @throws Error (usage) for other elements of
  /// several types, and for a number that the type does not hold: `place` says where it stands, else its index does.
  Array all(bool integers = false, const std::function<std::string(std::uint64_t index)>& place = {});

 private:
  struct Run {
    DType type;
    std::uint64_t bytes;
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void read(std::byte* to, std::size_t bytes);
  void* data();
  void convert(bool integers, const std::function<std::string(std::uint64_t)>& place);

  std::string format_, part_;
  std::optional<DType> type_;  // the source's type
  std::uint64_t missing_ = 0;
  std::vector<std::byte> memory_;           // all of it,
  std::unique_ptr<std::FILE, Close> file_;  // or the file
  void* mapped_ = nullptr;                  // all of the file
  std::uint64_t bytes_ = 0;
  std::uint64_t at_ = 0;   // the next byte to read
  std::vector<Run> runs_;  // of one type each
  std::size_t run_ = 0;
  std::uint64_t done_ = 0;  // bytes read of the current run
  std::vector<std::byte> chunk_;
};

/// A source over `spool`, from its beginning; one at a time.
std::unique_ptr<Source> from_start(std::shared_ptr<Spool> spool);

}  // namespace samesum::cli
