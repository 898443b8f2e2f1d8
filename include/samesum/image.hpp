// Images: PNG, JPEG and TIFF files as arrays, and histograms of their channels.
#pragma once

#include <samesum/export.hpp>
#include <samesum/histogram.hpp>

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

/// Rows of pixels, channels interleaved, no padding. Copies share the pixels.
struct Image {
  std::uint64_t width = 0, height = 0;
  std::uint32_t channels = 0;  ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  DType type = DType::uint8;   ///< uint8, uint16, float32; TIFF: any of this library's types
  std::shared_ptr<const void> pixels;
  std::string format;  ///< "png", "jpeg", "tiff"; empty for one in memory

  bool has_alpha() const noexcept { return channels == 2 || channels == 4; }
  Array view() const noexcept { return {pixels.get(), width * height * channels, type}; }
  /// "grey", "red", "green", "blue", "alpha".
  std::string_view channel_name(std::uint32_t channel) const noexcept;
};

/// Whether the file begins as an image that load_image() takes. False for what cannot be opened.
bool is_image(const std::string& path);

/// Is told, by the thread that decodes, that the first `rows` rows of an image are there; all else of it is as it will be returned.
using RowsReady = std::function<void(const Image& image, std::uint64_t rows)>;

/// The images of a file: its pages, of which a TIFF may have several, and other files have one. Reduced copies of a page and masks, which
/// a TIFF says are such, are no pages. Copies share the mapped file; any number of threads may read one object.
///
/// Samples are as the file has them: palettes become RGB (of 16 bits, where 8 do not hold its colours), less than 8 bits become 8 bits, so
/// that all ones are 255, 16 stay 16, and nothing is done about gamma or colour profiles. JPEG's colours become RGB, but for grey ones.
class ImageFile {
 public:
  /// As many pixels as an image may have, unless the caller says otherwise: 2^30.
  static constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 30;

  /// @throws Error (usage) that names the file: not there, no image, no page that can be found.
  explicit ImageFile(std::string path);

  std::uint32_t pages() const noexcept { return static_cast<std::uint32_t>(places_.size()); }

  /// Reads page `number`, from 1 on.
  /// `rows_ready` is called for JPEG, and for PNG with 8 bits a channel that is not interlaced, now and then and at the end: work on an
  /// image is best done meanwhile.
  /// Sizes are judged before memory is taken: by `max_pixels`, and by what a file of so many bytes can hold.
  /// @throws Error (usage) for a file that is damaged, too large, or of a kind that is not read (CMYK, volumes), and for a page that is not
  /// there.
  Image page(std::uint32_t number, const RowsReady& rows_ready = {}, std::uint64_t max_pixels = kMaxPixels) const;

 private:
  std::string path_;
  std::shared_ptr<const io::MappedFile> file_;
  std::vector<std::uint64_t> places_;  // of the pages, for the decoder
};

/// Reads the first image of a file: ImageFile(path).page(1, rows_ready).
Image load_image(const std::string& path, const RowsReady& rows_ready = {});

/// A rectangle of an image, and the histogram of each channel there.
struct ImagePart {
  std::uint64_t x = 0, y = 0, width = 0, height = 0;
  std::vector<Histogram> channels;
};

/// What of an image is counted, and by which tiles.
struct ImageTiles {
  bool alpha = false;                   ///< count the alpha channel too
  std::uint32_t rows = 1, columns = 1;  ///< the grid of tiles; as even as whole pixels allow
};

/// The histograms of each channel for each tile, row by row. 8-bit channels are counted where they lie; others are taken apart first.
/// @throws Error (usage) for more tiles than pixels in a direction.
std::vector<ImagePart> histogram(const Image& image, const Bins& bins, const ImageTiles& tiles = {}, const Options& options = {});

}  // namespace samesum
