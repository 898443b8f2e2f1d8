#include "io/compressed/decompress.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace samesum::io {
namespace {

constexpr std::size_t kInputBytes = std::size_t{1} << 18;

bool starts_with(std::span<const std::byte> bytes, std::string_view prefix) noexcept {
  return bytes.size() >= prefix.size() && std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

// A stream that decodes another one.
class Layer : public ByteStream {
 public:
  explicit Layer(std::unique_ptr<ByteStream> packed) : ByteStream(packed->name()), packed_(std::move(packed)) {}
  void cancel() noexcept override { packed_->cancel(); }
  bool unchanged() const noexcept override { return packed_->unchanged(); }

 protected:
  // The next compressed bytes; empty only at their end.
  std::span<const std::byte> input() {
    if (left_.empty()) {
      buffer_.resize(kInputBytes);
      left_ = std::span<const std::byte>(buffer_).first(packed_->read(buffer_));
    }
    return left_;
  }
  void use(std::size_t count) { left_ = left_.subspan(count); }
  std::size_t read_packed(std::span<std::byte> into) { return packed_->read(into); }

 private:
  std::unique_ptr<ByteStream> packed_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> left_;
};

// RFC 1951, and with `gzip` RFC 1952.
class Inflated final : public Layer {
 public:
  Inflated(std::unique_ptr<ByteStream> packed, bool gzip) : Layer(std::move(packed)), gzip_(gzip) {
    constexpr int kGzip = 16;  // zlib's flag, added to the window's logarithm, for gzip; a negative logarithm means raw deflate
    if (inflateInit2(&zlib_, gzip_ ? MAX_WBITS + kGzip : -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflated() override { inflateEnd(&zlib_); }

 private:
  std::size_t read_some(std::span<std::byte> into) override {
    const auto wanted = static_cast<uInt>(std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max()));
    while (!ended_) {
      const std::span<const std::byte> packed = input();  // may be empty at the end: zlib may still hold output
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));  // zlib only reads it
      zlib_.avail_in = static_cast<uInt>(packed.size());
      zlib_.next_out = reinterpret_cast<Bytef*>(into.data());
      zlib_.avail_out = wanted;
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      const std::size_t made = wanted - zlib_.avail_out;
      use(packed.size() - zlib_.avail_in);
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        refuse(fmt::format("damaged {} data: {}", gzip_ ? "gzip" : "deflated", zlib_.msg != nullptr ? zlib_.msg : "no valid stream"));
      }
      if (result == Z_STREAM_END) end_member();
      if (made != 0) return made;
      if (packed.empty() && !ended_) refuse(fmt::format("the {} data end early: the file is cut off", gzip_ ? "gzip" : "deflated"));
    }
    return 0;
  }

  // After a member another one may follow, or zeros, which pad tapes.
  void end_member() {
    ended_ = true;
    if (!gzip_) return;
    for (std::span<const std::byte> packed = input(); !packed.empty(); packed = input()) {
      const auto zeros = std::ranges::find_if(packed, [](std::byte b) { return b != std::byte{0}; }) - packed.begin();
      if (zeros == 0) {
        ended_ = false;  // another member; if it is none, inflate() reports an error
        inflateReset(&zlib_);
        return;
      }
      use(static_cast<std::size_t>(zeros));
    }
  }

  const bool gzip_;
  z_stream zlib_{};
  bool ended_ = false;
};

// RFC 8878.
class Zstd final : public Layer {
 public:
  explicit Zstd(std::unique_ptr<ByteStream> packed) : Layer(std::move(packed)), context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    if (context_ == nullptr) throw std::bad_alloc();
  }

 private:
  std::size_t read_some(std::span<std::byte> into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos == 0) {
      const std::span<const std::byte> packed = input();
      // zstd may still hold output when the input has ended.
      ZSTD_inBuffer in{packed.data(), packed.size(), 0};
      const std::size_t left = packed.empty() && !inside_ ? 0 : ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(left) != 0) {
        const bool window = ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge;
        refuse(window ? "compressed with a window of over 128 MiB; 'zstd -dc --long=31 FILE | samesum ... -' reads it"
                      : fmt::format("damaged zstd data: {}", ZSTD_getErrorName(left)));
      }
      use(in.pos);
      inside_ = left != 0;
      if (!packed.empty()) continue;
      if (out.pos == 0 && inside_) refuse("the zstd data end early: the file is cut off");
      break;
    }
    return out.pos;
  }

  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
  bool inside_ = false;  // inside a frame
};

// Checks the number of bytes and their checksum.
class Checked final : public Layer {
 public:
  Checked(std::unique_ptr<ByteStream> bytes, std::uint64_t size, std::uint32_t checksum)
      : Layer(std::move(bytes)), size_(size), left_(size), expected_(checksum) {}
  std::uint64_t size() const noexcept override { return size_; }

 private:
  std::size_t read_some(std::span<std::byte> into) override {
    const std::size_t count = read_packed(into);
    if (count > left_) refuse("a damaged zip archive: a file in it is longer than the archive says");
    left_ -= count;
    checksum_ = crc32_z(checksum_, reinterpret_cast<const Bytef*>(into.data()), count);
    if (count < into.size() && left_ != 0) refuse("a damaged zip archive: a file in it ends early");
    if (left_ == 0 && checksum_ != expected_) refuse("a damaged zip archive: the checksum of a file in it is wrong");
    return count;
  }

  const std::uint64_t size_;
  std::uint64_t left_;
  const std::uint32_t expected_;
  uLong checksum_ = 0;
};

}  // namespace

bool is_gzip(std::span<const std::byte> start) noexcept { return starts_with(start, "\x1f\x8b\x08"); }
bool is_zstd(std::span<const std::byte> start) noexcept { return starts_with(start, "\x28\xb5\x2f\xfd"); }

std::unique_ptr<ByteStream> decompressed(std::unique_ptr<ByteStream> packed, Compression compression) {
  if (compression == Compression::zstd) return std::make_unique<Zstd>(std::move(packed));
  return std::make_unique<Inflated>(std::move(packed), true);
}

std::unique_ptr<ByteStream> unzipped(std::unique_ptr<ByteStream> packed, bool deflated, std::uint64_t size, std::uint32_t checksum) {
  if (deflated) packed = std::make_unique<Inflated>(std::move(packed), false);
  return std::make_unique<Checked>(std::move(packed), size, checksum);
}

}  // namespace samesum::io
