// Regions and masks of images.
#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace samesum {
namespace {

// An image of other pixels, which it owns.
Image with_pixels(const Image& image, std::uint64_t width, std::uint64_t height, std::vector<std::byte> pixels) {
  Image result = image;
  result.width = width;
  result.height = height;
  const auto own = std::make_shared<const std::vector<std::byte>>(std::move(pixels));
  result.pixels = std::shared_ptr<const void>(own, own->data());
  return result;
}

}  // namespace

Image crop(const Image& image, const Region& region) {
  if (region.width == 0 || region.height == 0 || region.x >= image.width || region.y >= image.height ||
      region.width > image.width - region.x || region.height > image.height - region.y) {
    throw Error(ErrorKind::usage, fmt::format("the region of {} x {} pixels at {}, {} is not within the {} x {} pixels of the image",
                                              region.width, region.height, region.x, region.y, image.width, image.height));
  }
  const std::size_t pixel = image.channels * size_of(image.type), row = region.width * pixel;
  std::vector<std::byte> pixels(region.height * row);
  const auto* const from = static_cast<const std::byte*>(image.pixels.get());
  for (std::uint64_t y = 0; y < region.height; ++y) {
    std::memcpy(pixels.data() + y * row, from + ((region.y + y) * image.width + region.x) * pixel, row);
  }
  return with_pixels(image, region.width, region.height, std::move(pixels));
}

Image select(const Image& image, const Image& mask) {
  if (mask.width != image.width || mask.height != image.height) {
    throw Error(ErrorKind::usage, fmt::format("a mask of {} x {} pixels for {} x {}: they are equally large", mask.width, mask.height,
                                              image.width, image.height));
  }
  const std::size_t pixel = image.channels * size_of(image.type), mask_sample = size_of(mask.type);
  const std::size_t mask_pixel = mask.channels * mask_sample, used = mask_pixel - (mask.has_alpha() ? mask_sample : 0);
  // A number is 0 where all of its bits are, or, of floating-point types, all but the sign's.
  const bool floating = !is_integer(mask.type);
  const auto chosen = [&](const std::byte* at) {
    for (std::size_t i = 0; i < used; ++i) {
      const bool last = floating && i % mask_sample == mask_sample - 1;  // little-endian: the sign's byte
      if ((at[i] & (last ? std::byte{0x7f} : std::byte{0xff})) != std::byte{0}) return true;
    }
    return false;
  };
  const auto* const from = static_cast<const std::byte*>(image.pixels.get());
  const auto* const masks = static_cast<const std::byte*>(mask.pixels.get());
  std::vector<std::byte> pixels;
  const std::uint64_t count = image.width * image.height;
  for (std::uint64_t first = 0; first < count;) {
    // Neighbours are copied at once.
    if (!chosen(masks + first * mask_pixel)) {
      ++first;
      continue;
    }
    std::uint64_t end = first + 1;
    while (end < count && chosen(masks + end * mask_pixel)) ++end;
    pixels.insert(pixels.end(), from + first * pixel, from + end * pixel);
    first = end;
  }
  if (pixels.empty()) throw Error(ErrorKind::usage, "the mask selects no pixel: all of it is 0");
  const std::uint64_t width = pixels.size() / pixel;
  return with_pixels(image, width, 1, std::move(pixels));
}

}  // namespace samesum
