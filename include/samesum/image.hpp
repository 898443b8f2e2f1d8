// Images: PNG, JPEG and TIFF files as arrays, and histograms of their channels.
#pragma once

#include <samesum/histogram.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace samesum {

/// Rows of pixels, channels interleaved, no padding. Copies share the pixels.
struct Image {
  std::uint64_t width = 0, height = 0;
  std::uint32_t channels = 0;  ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  DType type = DType::uint8;   ///< uint8, uint16, float32; TIFF: any of this library's types
  std::shared_ptr<const void> pixels;
  std::string format;  ///< "png", "jpeg", "tiff"; empty for one in memory

  bool has_alpha() const noexcept { return channels == 2 || channels == 4; }
  View view() const noexcept { return {pixels.get(), width * height * channels, type}; }
  /// "grey", "red", "green", "blue", "alpha".
  std::string_view channel_name(std::uint32_t channel) const noexcept;
};

/// Whether the file begins as an image that load_image() takes. False for what cannot be opened.
bool is_image(const std::string& path);

/// Is told, by the thread that decodes, that the first `rows` rows of an image are there; all else of it is as it will be returned.
using RowsReady = std::function<void(const Image& image, std::uint64_t rows)>;

/// Reads the first image of a file. Samples are as the file has them: palettes become RGB, less than 8 bits become 8 bits, 16 stay 16, and
/// nothing is done about gamma or colour profiles. JPEG's colours become RGB, but for grey ones.
/// `rows_ready` is called for JPEG, and for PNG with 8 bits a channel that is not interlaced, now and then and at the end: work on an image
/// is best done meanwhile.
/// @throws Error (usage) for a file that is damaged, too large (over 2^40 bytes), or of a kind that is not read (CMYK, say).
Image load_image(const std::string& path, const RowsReady& rows_ready = {});

/// A rectangle of an image, and the histogram of each channel there.
struct ImagePart {
  std::uint64_t x = 0, y = 0, width = 0, height = 0;
  std::vector<Histogram> channels;
};

struct ImageOptions {
  bool alpha = false;                   ///< count the alpha channel too
  std::uint32_t rows = 1, columns = 1;  ///< the grid of tiles; as even as whole pixels allow
  HistogramOptions histogram;
};

/// The histograms of each channel for each tile, row by row. 8-bit channels are counted where they lie; others are taken apart first.
/// @throws Error (usage) for more tiles than pixels in a direction.
std::vector<ImagePart> histogram(const Image& image, const Bins& bins, const Device& device, const ImageOptions& options = {},
                                 HistogramReport* report = nullptr);

}  // namespace samesum
