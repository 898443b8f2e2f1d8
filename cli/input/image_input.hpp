// Images as inputs: regions, masks, channels.
#pragma once

#include <samesum/image.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace samesum::cli {

class Elements;
struct NamedSource;

/// Which pixels of an image are taken.
struct ImageSelection {
  std::string region;  ///< "WxH+X+Y"; empty: all
  std::string mask;    ///< an image or a matrix: the pixels where it is not 0

  bool wanted() const noexcept { return !region.empty() || !mask.empty(); }
  /// These pixels: with a mask as one row. @throws Error (usage) where they do not go with the image, whose name is for messages.
  Image of(const Image& image, const std::string& name) const;
};
/// Adds --region and --mask.
void add_selection(CLI::App& command, ImageSelection& selection, const std::string& of);

/// The elements of a matrix as an image of one channel, which is valid while these are. @throws Error (usage) for other than two axes.
Image matrix_as_image(const Elements& elements);

/// Each channel of an image file but alpha, as an input named by file and channel: of all its pages, each a chunk.
std::vector<NamedSource> channels_of(const std::string& file, const ImageSelection& selection);

}  // namespace samesum::cli
