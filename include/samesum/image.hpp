// Images: PNG, JPEG and TIFF files as arrays, and histograms of their channels.
#pragma once

#include <samesum/export.hpp>
#include <samesum/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace samesum::io {
class MappedFile;
}

namespace samesum SAMESUM_EXPORT {

/// Rows of pixels, channels interleaved, without padding. Copies share the pixels.
struct Image {
  std::uint64_t width = 0, height = 0;
  std::uint32_t channels = 0;  ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  DType type = DType::uint8;   ///< uint8, uint16, float32; TIFF: any of this library's types
  std::shared_ptr<const void> pixels;
  std::string format;  ///< "png", "jpeg", "tiff"; empty for one in memory

  bool has_alpha() const noexcept { return channels == 2 || channels == 4; }  ///< whether the last channel is opacity
  Array view() const noexcept { return {pixels.get(), width * height * channels, type}; }
  /// Three axes: {height, width, channels}.
  Array array() const { return {pixels.get(), {height, width, channels}, type}; }
  /// One channel: {height, width}.
  Array channel(std::uint64_t number) const { return array().at(2, number); }
  /// "grey", "red", "green", "blue", "alpha".
  std::string_view channel_name(std::uint32_t channel) const noexcept;
};

/// Whether the file begins with the signature of a format that load_image() reads. False for a file that cannot be opened.
bool is_image(const std::string& path);

/// Called by the decoding thread when the first `rows` rows of an image are decoded; the other members are final.
using RowsReady = std::function<void(const Image& image, std::uint64_t rows)>;

/// The images of a file. A TIFF may have several pages, other files have one image. Reduced copies and masks, if a TIFF marks them as
/// such, are not pages. Copies share the mapped file; any number of threads may read one object.
///
/// Samples are as in the file: palettes become RGB (of 16 bits, if 8 do not hold their colours), samples of fewer than 8 bits are scaled
/// to 8 bits so that all ones become 255, 16 bits stay 16, and gamma and colour profiles are ignored. JPEG's colours become RGB, except
/// greyscale.
class ImageFile {
 public:
  /// The default limit for the pixels of an image: 2^30.
  static constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 30;

  /// @throws Error (usage) that names the file: not found, not an image, or without a page.
  explicit ImageFile(std::string path);

  std::uint32_t pages() const noexcept { return static_cast<std::uint32_t>(offsets_.size()); }  ///< images in the file

  /// Reads page `number`, counted from 1.
  /// `rows_ready` is called repeatedly during decoding and at the end, for JPEG, and for PNG with 8 bits a channel that is not interlaced,
  /// so that work can overlap with decoding.
  /// Sizes are checked before memory is allocated: against `max_pixels`, and against what a file of that many bytes can hold.
  /// @throws Error (usage) for a file that is damaged, too large, or of an unsupported kind (CMYK, volumes), and for a page that does not
  /// exist.
  Image page(std::uint32_t number, const RowsReady& rows_ready = {}, std::uint64_t max_pixels = kMaxPixels) const;

 private:
  std::string path_;
  std::shared_ptr<const io::MappedFile> file_;
  std::vector<std::uint64_t> offsets_;  // of the pages, for the decoder
};

/// Reads the first image of a file: ImageFile(path).page(1, rows_ready).
Image load_image(const std::string& path, const RowsReady& rows_ready = {});

/// The image as a PNG file, of 8 or 16 bits for each channel. @throws Error (usage) for another type, and without pixels.
std::vector<std::byte> encode_png(const Image& image);

/// A rectangle of pixels.
struct Region {
  std::uint64_t x = 0, y = 0, width = 0, height = 0;
};
/// The pixels of a rectangle, as an image. Another view without a copy: image.array().slice(0, y, height).slice(1, x, width).
/// @throws Error (usage) if it has no pixels, or some outside of the image.
Image crop(const Image& image, const Region& region);
/// The pixels at which `mask` is not 0 in some channel other than alpha, in the order of reading, as an image of one row: for
/// histograms and sums, which do not depend on positions. @throws Error (usage) for a mask of another size, and if it selects no pixel.
Image select(const Image& image, const Image& mask);

/// A rectangle of an image, and the histogram of each of its channels.
struct ImagePart {
  std::uint64_t x = 0, y = 0, width = 0, height = 0;
  std::vector<Histogram> channels;
};

/// Which channels of an image are counted, and in which tiles.
struct ImageTiles {
  bool alpha = false;                   ///< count the alpha channel too
  std::uint32_t rows = 1, columns = 1;  ///< the grid of tiles; sizes differ by at most one pixel
  /// If not 0, the size of tiles, instead of their number: those at the right and at the bottom have what is left.
  std::uint64_t tile_width = 0, tile_height = 0;
};

/// The histograms of each channel for each tile, row by row. 8-bit channels are counted in place; others are deinterleaved first. Tiles of
/// one size are counted all at once, as by tile_histograms() (samesum/tiles.hpp).
/// @throws Error (usage) for more tiles than pixels in a direction, and for one of tile_width and tile_height without the other.
std::vector<ImagePart> histogram(const Image& image, const Bins& bins, const ImageTiles& tiles = {}, const Options& options = {});

}  // namespace samesum
