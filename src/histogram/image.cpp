// Histograms of an image's channels, for the whole image or for each tile.
#include <samesum/error.hpp>
#include <samesum/image.hpp>
#include <samesum/tiles.hpp>

#include "core/float_environment.hpp"
#include "core/reports.hpp"
#include "core/threads/parallel.hpp"
#include "core/view.hpp"
#include "device/memory/run.hpp"
#include "histogram/count.hpp"
#include "histogram/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace samesum {
namespace {

struct Place {
  std::uint64_t x, y, width, height;
};

// The pixels of a part, row by row; of `channel` alone, if it is set.
std::vector<std::byte> gather(const Image& image, const Place& place, std::optional<std::uint32_t> channel) {
  const std::size_t sample = size_of(image.type), pixel = sample * image.channels;
  const std::size_t step = channel ? sample : pixel;
  std::vector<std::byte> result(place.width * place.height * step);
  const auto* from = static_cast<const std::byte*>(image.pixels.get());
  core::parallel_for(place.height, [&](std::uint64_t row) {
    const std::byte* pixels = from + ((place.y + row) * image.width + place.x) * pixel;
    std::byte* to = result.data() + row * place.width * step;
    if (!channel) {
      std::memcpy(to, pixels, place.width * pixel);
    } else {
      for (std::uint64_t i = 0; i < place.width; ++i) std::memcpy(to + i * sample, pixels + i * pixel + *channel * sample, sample);
    }
  });
  return result;
}

// 8-bit images: all channels in one pass.
std::vector<Histogram> of_bytes(View pixels, std::uint32_t channels, std::uint32_t wanted, const binning::Plan& plan, const Bins& bins,
                                const Device& device, const Tuning& tuning, Report* report) {
  const auto counted = binning::count_bytes(View(pixels.data(), pixels.size(), DType::uint8), channels, device, tuning, report);
  std::vector<Histogram> result;
  for (std::uint32_t i = 0; i < wanted; ++i) result.emplace_back(bins, plan.fold(std::span(counted).subspan(256 * i, 256)));
  return result;
}

// Tiles of one size: the histograms of all of them, channel by channel.
std::vector<ImagePart> of_tiles(const Image& image, const Bins& bins, std::uint64_t width, std::uint64_t height, std::uint32_t wanted,
                                const Options& options) {
  const std::uint64_t across = (image.width - 1) / width + 1, down = (image.height - 1) / height + 1;
  std::vector<ImagePart> parts;
  for (std::uint64_t row = 0; row < down; ++row) {
    for (std::uint64_t column = 0; column < across; ++column) {
      const std::uint64_t x = column * width, y = row * height;
      parts.push_back({x, y, std::min(width, image.width - x), std::min(height, image.height - y), {}});
    }
  }
  core::Reports reports(options.report);
  Options of_channel = options;
  for (std::uint32_t channel = 0; channel < wanted; ++channel) {
    of_channel.report = reports.next();
    const TileHistograms found = tile_histograms(image.channel(channel), bins, {height, width}, of_channel);
    reports.add();
    for (std::uint64_t i = 0; i < parts.size(); ++i) parts[i].channels.push_back(found.histogram(i));
  }
  return parts;
}

}  // namespace

std::string_view Image::channel_name(std::uint32_t channel) const noexcept {
  constexpr std::string_view kNames[4][4] = {
      {"grey", "", "", ""}, {"grey", "alpha", "", ""}, {"red", "green", "blue", ""}, {"red", "green", "blue", "alpha"}};
  return channels >= 1 && channels <= 4 && channel < channels ? kNames[channels - 1][channel] : std::string_view();
}

std::vector<ImagePart> histogram(const Image& image, const Bins& bins, const ImageTiles& tiles, const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const Device device = device::device_for(image.view().bytes(), options);
  if (tiles.rows < 1 || tiles.columns < 1 || tiles.rows > image.height || tiles.columns > image.width) {
    throw Error(ErrorKind::usage, fmt::format("{} x {} tiles of {} x {} pixels: each tile needs a pixel", tiles.columns, tiles.rows,
                                              image.width, image.height));
  }
  const std::uint32_t wanted = image.channels - (image.has_alpha() && !tiles.alpha ? 1 : 0);
  const bool whole = tiles.rows == 1 && tiles.columns == 1, bytes = size_of(image.type) == 1;
  if ((tiles.tile_width != 0) != (tiles.tile_height != 0)) {
    throw Error(ErrorKind::usage, "tiles have a width and a height: give both");
  }
  if (tiles.tile_width != 0) {
    if (!whole) throw Error(ErrorKind::usage, "tiles are given by their size or by their number: leave one out");
    return of_tiles(image, bins, tiles.tile_width, tiles.tile_height, wanted, device::on(device, options));
  }
  if (!whole && image.width % tiles.columns == 0 && image.height % tiles.rows == 0) {
    return of_tiles(image, bins, image.width / tiles.columns, image.height / tiles.rows, wanted, device::on(device, options));
  }
  std::optional<binning::Plan> plan;
  if (bytes) plan.emplace(bins, image.type);
  std::vector<ImagePart> parts;
  Report sum, step;
  Options of_channel = device::on(device, options);
  of_channel.report = &step;
  bool first = true;
  const auto note = [&] {
    if (first) {
      sum = step;
    } else {
      sum += step;
    }
    first = false;
  };
  for (std::uint64_t row = 0; row < tiles.rows; ++row) {
    for (std::uint64_t column = 0; column < tiles.columns; ++column) {
      ImagePart part;
      part.x = image.width * column / tiles.columns;
      part.y = image.height * row / tiles.rows;
      part.width = image.width * (column + 1) / tiles.columns - part.x;
      part.height = image.height * (row + 1) / tiles.rows - part.y;
      const Place place{part.x, part.y, part.width, part.height};
      const std::uint64_t pixels = part.width * part.height;
      if (bytes) {
        const std::vector<std::byte> own = whole ? std::vector<std::byte>() : gather(image, place, std::nullopt);
        const View view(whole ? image.pixels.get() : own.data(), pixels * image.channels, image.type);
        part.channels = of_bytes(view, image.channels, wanted, *plan, bins, device, options.tuning, &step);
        note();
      } else {
        for (std::uint32_t channel = 0; channel < wanted; ++channel) {
          const std::vector<std::byte> own = whole ? std::vector<std::byte>() : gather(image, place, channel);
          const std::size_t sample = size_of(image.type);
          const View lying(static_cast<const std::byte*>(image.pixels.get()) + channel * sample, pixels, image.type,
                           static_cast<std::int64_t>(image.channels * sample));
          part.channels.push_back(histogram(whole ? lying : View(own.data(), pixels, image.type), bins, of_channel));
          note();
        }
      }
      parts.push_back(std::move(part));
    }
  }
  if (options.report != nullptr) *options.report = std::move(sum);
  return parts;
}

}  // namespace samesum
