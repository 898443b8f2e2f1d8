#include "input/spool.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace samesum::cli {
namespace {

constexpr std::uint64_t kChunkBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxInMemory = std::uint64_t{16} << 20;

[[noreturn]] void no_temporary_file(const std::string& folder, std::string_view hint) {
  const int code = errno;
  throw Error(ErrorKind::usage, fmt::format("a temporary file in {} cannot be written: {} (TMPDIR names another folder{})", folder,
                                            std::generic_category().message(code), hint));
}

}  // namespace

Spool::Spool(Source& source, std::string_view hint) : format_(source.format()), type_(source.type()) {
  const char* given = std::getenv("TMPDIR");
  const std::string folder = given != nullptr && *given != '\0' ? given : "/tmp";
  // Copied through own memory: if a mapped file were truncated meanwhile, write() would fail with a bad address.
  const auto put = [&](const void* data, std::uint64_t bytes) {
    const auto* const from = static_cast<const std::byte*>(data);
    for (std::uint64_t done = 0; done < bytes; done += chunk_.size()) {
      chunk_.resize(std::min(kChunkBytes, bytes - done));
      std::memcpy(chunk_.data(), from + done, chunk_.size());
      if (std::fwrite(chunk_.data(), 1, chunk_.size(), file_.get()) != chunk_.size()) no_temporary_file(folder, hint);
    }
  };
  while (const std::optional<Array> view = source.next()) {
    if (view->size() == 0) continue;
    if (file_ == nullptr && memory_.size() + view->bytes() > kMaxInMemory) {
      std::string path = folder + "/samesum-XXXXXX";
      const int descriptor = mkstemp(path.data());
      if (descriptor < 0) no_temporary_file(folder, hint);
      unlink(path.c_str());
      file_.reset(fdopen(descriptor, "w+b"));
      if (file_ == nullptr) no_temporary_file(folder, hint);
      put(memory_.data(), memory_.size());
      memory_ = {};
    }
    if (file_ != nullptr) {
      put(view->data(), view->bytes());
    } else {
      const auto* const bytes = static_cast<const std::byte*>(view->data());
      memory_.insert(memory_.end(), bytes, bytes + view->bytes());
    }
    if (runs_.empty() || runs_.back().type != view->type()) runs_.push_back({view->type(), 0});
    runs_.back().bytes += view->bytes();
    bytes_ += view->bytes();
  }
  missing_ = source.missing();
  part_ = source.part();
  if (file_ != nullptr && std::fflush(file_.get()) != 0) no_temporary_file(folder, hint);
  rewind();
}

Spool::~Spool() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
}

void Spool::rewind() {
  if (file_ != nullptr) std::rewind(file_.get());
  at_ = 0;
  run_ = 0;
  done_ = 0;
}

void Spool::read(std::byte* to, std::size_t bytes) {
  if (file_ == nullptr) {
    std::memcpy(to, memory_.data() + at_, bytes);
  } else if (std::fread(to, 1, bytes, file_.get()) != bytes) {
    throw Error(ErrorKind::usage, "a temporary file in TMPDIR (by default /tmp) cannot be read again: was its disk removed?");
  }
  at_ += bytes;
}

std::optional<Array> Spool::next() {
  if (run_ == runs_.size()) return std::nullopt;
  const Run& run = runs_[run_];
  chunk_.resize(std::min(kChunkBytes, run.bytes - done_));
  read(chunk_.data(), chunk_.size());
  done_ += chunk_.size();
  if (done_ == run.bytes) {
    ++run_;
    done_ = 0;
  }
  return Array(chunk_.data(), chunk_.size() / size_of(run.type), run.type);
}

void* Spool::data() {
  if (file_ == nullptr) return memory_.data();
  if (mapped_ == nullptr) {
    void* const data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file_.get()), 0);
    if (data == MAP_FAILED) {
      throw Error(ErrorKind::usage, "a temporary file cannot be mapped into memory: " + std::generic_category().message(errno));
    }
    mapped_ = data;
  }
  return mapped_;
}

// In place: elements of all three types have 8 bytes.
void Spool::convert(bool integers, const std::function<std::string(std::uint64_t)>& place) {
  const auto has = [&](DType type) { return std::ranges::any_of(runs_, [&](const Run& run) { return run.type == type; }); };
  const DType to = !integers || has(DType::float64) ? DType::float64 : has(DType::uint64) ? DType::uint64 : DType::int64;
  auto* at = static_cast<std::byte*>(data());
  std::uint64_t index = 0;
  for (const Run& run : runs_) {
    for (const std::byte* const end = at + run.bytes; at != end; at += sizeof(std::uint64_t), ++index) {
      if (run.type == to) continue;
      std::uint64_t bits;
      std::memcpy(&bits, at, sizeof bits);
      const bool negative = run.type == DType::int64 && static_cast<std::int64_t>(bits) < 0;
      const std::uint64_t magnitude = negative ? 0 - bits : bits;
      const int bits_used = 64 - std::countl_zero(magnitude) - std::countr_zero(magnitude);
      if (to == DType::float64 ? bits_used > 53 : negative) {
        throw Error(ErrorKind::usage,
                    fmt::format("{}, from 0 on, is {}{}, which has no exact {}, the type of all numbers of this text here: save them "
                                "with a type, as a .npy file has",
                                place ? place(index) : fmt::format("number {}", index), negative ? "-" : "", magnitude, name_of(to)));
      }
      if (to == DType::float64) {
        const double value = negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
        std::memcpy(at, &value, sizeof value);
      }
    }
  }
  runs_ = {{to, bytes_}};
}

Array Spool::all(bool integers, const std::function<std::string(std::uint64_t)>& place) {
  if (!type_ && !runs_.empty() && std::ranges::all_of(runs_, [](const Run& run) { return size_of(run.type) == 8; }))
    convert(integers, place);
  if (runs_.size() > 1) throw Error(ErrorKind::usage, "an array has elements of one type, and here are several: convert them to one");
  const DType type = runs_.empty() ? type_.value_or(DType::float64) : runs_.front().type;
  return {data(), bytes_ / size_of(type), type};
}

std::unique_ptr<Source> from_start(std::shared_ptr<Spool> spool) {
  class Again final : public Source {
   public:
    explicit Again(std::shared_ptr<Spool> from) : spool_(std::move(from)) { spool_->rewind(); }
    std::optional<Array> next() override { return spool_->next(); }
    std::string_view format() const noexcept override { return spool_->format(); }
    std::optional<DType> type() const noexcept override { return spool_->type(); }
    std::string part() const override { return spool_->part(); }
    std::uint64_t missing() const noexcept override { return spool_->missing(); }

   private:
    std::shared_ptr<Spool> spool_;
  };
  return std::make_unique<Again>(std::move(spool));
}

}  // namespace samesum::cli
