// samesum hist of an image.
#include "command.hpp"
#include "compute/summing.hpp"
#include "hist/options.hpp"
#include "output/printable.hpp"

#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace samesum::cli {
namespace {

// Counts decoded rows of an image while further ones are being decoded.
class BandCounter {
 public:
  BandCounter(const HistOptions& options, const Device& device) : options_(options), device_(device) {}
  ~BandCounter() { stop(); }
  BandCounter(const BandCounter&) = delete;
  BandCounter& operator=(const BandCounter&) = delete;

  void rows_ready(const Image& image, std::uint64_t rows) {
    const std::lock_guard lock(mutex_);
    ready_ = rows;
    if (!worker_.joinable()) worker_ = std::thread([this, image] { count(image); });
    changed_.notify_one();
  }
  // The histograms, if any rows were counted.
  std::optional<ImagePart> result() {
    stop();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(counted_);
  }
  const Report& report() const { return report_; }

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_one();
    }
    if (worker_.joinable()) worker_.join();
  }

  void count(const Image& image) try {
    const Bins bins = make_bins(options_, image.type, [] { return std::optional<Range>(); });
    Tuning tuning = options_.tuning;
    if (tuning.threads == 0) tuning.threads = 1;  // one thread counts several times as fast as one decodes
    std::uint64_t done = 0;
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ready_ > done || ended_; });
      if (ready_ == done) return;
      Image band = image;
      band.height = ready_ - done;
      lock.unlock();
      const auto* first = static_cast<const std::byte*>(image.pixels.get()) + done * image.width * image.channels;
      band.pixels = std::shared_ptr<const void>(image.pixels, first);
      done += band.height;
      Report report;
      ImagePart part =
          std::move(histogram(band, bins, {.alpha = options_.alpha}, {.device = device_, .report = &report, .tuning = tuning}).front());
      if (!counted_) {
        counted_ = std::move(part);
        report_ = report;
      } else {
        for (std::size_t i = 0; i < part.channels.size(); ++i) counted_->channels[i] += part.channels[i];
        report_ += report;
      }
      counted_->width = image.width;
      counted_->height = done;
    }
  } catch (...) {
    failure_ = std::current_exception();
  }

  const HistOptions& options_;
  const Device& device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t ready_ = 0;
  bool ended_ = false;
  std::optional<ImagePart> counted_;
  Report report_;
  std::exception_ptr failure_;
  std::thread worker_;  // last: it uses the other members
};

// The requested pages, each decoded when it is reached.
class Pages {
 public:
  Pages(const HistOptions& options, const std::string& path, std::string name) : file_(path), options_(options), name_(std::move(name)) {
    if (options.page > file_.pages()) {
      throw Error(ErrorKind::usage, fmt::format("{}: there is no page {}: it has {}", name_, options.page, file_.pages()));
    }
  }

  std::uint32_t first() const noexcept { return options_.page != 0 ? options_.page : 1; }
  std::uint32_t count() const noexcept { return options_.page != 0 ? 1 : file_.pages(); }
  /// "a.tif", "a.tif, page 2 of 3", "a.tif, 3 pages"
  std::string title() const {
    if (file_.pages() == 1) return name_;
    return options_.page != 0 ? fmt::format("{}, page {} of {}", name_, options_.page, file_.pages())
                              : fmt::format("{}, {} pages", name_, file_.pages());
  }

  Image load(const RowsReady& rows_ready = {}) { return file_.page(first(), rows_ready, options_.max_pixels); }

  /// Calls work(pixels) with what is selected of each page, `image` being the first one.
  template <class Work>
  void for_each(const Image& image, const Work& work) const {
    work(options_.selection.of(image, name_));
    for (std::uint32_t i = 1; i < count(); ++i) {
      const Image page = file_.page(first() + i, {}, options_.max_pixels);
      const bool same_tiles =
          (options_.tiles.empty() && options_.tile.empty()) || (page.width == image.width && page.height == image.height);
      if (page.channels != image.channels || page.type != image.type || !same_tiles) {
        throw Error(ErrorKind::usage, fmt::format("{}: its pages differ ({} and, on page {}, {}): take one by --page", name_, kind(image),
                                                  first() + i, kind(page)));
      }
      work(options_.selection.of(page, name_));
    }
  }

 private:
  static std::string kind(const Image& image) {
    return fmt::format("{} x {} pixels, {} of {}", image.width, image.height, counted(image.channels, "channel"), name_of(image.type));
  }

  ImageFile file_;
  const HistOptions& options_;
  std::string name_;
};

// The range of the channels that are counted.
std::optional<Range> range_of(const HistOptions& options, const Image& image) {
  const std::uint32_t wanted = image.channels - (image.has_alpha() && !options.alpha ? 1 : 0);
  if (wanted == image.channels) return range_of(image.view());
  const std::size_t sample = size_of(image.type);
  std::optional<Range> range;
  for (std::uint32_t channel = 0; channel < wanted; ++channel) {
    const Array samples(static_cast<const std::byte*>(image.pixels.get()) + channel * sample, image.width * image.height, image.type,
                        static_cast<std::int64_t>(image.channels * sample));
    range = joined(range, samesum::range_of(samples));
  }
  return range;
}

Chart chart_of(const HistOptions& options, const Image& image, const Pages& pages, ImagePart part) {
  Chart chart{printable_name(pages.title()), part.x, part.y, part.width, part.height, {}, pages.count()};
  if (options.by_channel || part.channels.size() == 1) {
    for (std::uint32_t i = 0; i < part.channels.size(); ++i) {
      chart.series.push_back({std::string(image.channel_name(i)), std::move(part.channels[i])});
    }
  } else {
    for (std::uint32_t i = 1; i < part.channels.size(); ++i) part.channels[0] += part.channels[i];
    chart.series.push_back({"", std::move(part.channels[0])});
  }
  return chart;
}

void parse_tiles(const std::string& tiles, ImageTiles& how) {
  const char* end = tiles.data() + tiles.size();
  const auto [middle, error] = std::from_chars(tiles.data(), end, how.columns);
  const bool divided = error == std::errc() && middle != end && *middle == 'x';
  if (!divided || std::from_chars(middle + 1, end, how.rows).ptr != end || how.rows == 0 || how.columns == 0) {
    throw Error(ErrorKind::usage, fmt::format("--tiles takes columns x rows, as in 4x3, not '{}'", tiles));
  }
}

}  // namespace

ImageTiles tiles_of(const HistOptions& options) {
  ImageTiles how;
  how.alpha = options.alpha;
  if (!options.tiles.empty()) parse_tiles(options.tiles, how);
  if (!options.tile.empty()) {
    const std::vector<std::uint64_t> size = parse_tile(options.tile);
    how.tile_height = size[0];
    how.tile_width = size[1];
  }
  return how;
}

int run_hist_image(Output& out, const HistOptions& options, const std::string& path, const std::string& name) {
  Pages pages(options, path, name);
  // Rows are counted during decoding if the CPU counts, and if the bins are known before the whole image is.
  const bool bins_known = !options.bin.empty() || !options.edges.empty() || !options.range.empty() ||
                          (options.bins == 0 && !options.log_bins) || options.each_value;
  std::optional<Device> cpu;
  if (bins_known && pages.count() == 1 && options.tiles.empty() && options.tile.empty() && !options.selection.wanted() &&
      (options.device == "cpu" || options.device == "auto") && std::getenv("SAMESUM_DEVICE") == nullptr) {
    cpu = Device::open("cpu");
  }
  std::optional<BandCounter> bands;
  if (cpu) bands.emplace(options, *cpu);
  const Image image = pages.load(bands ? RowsReady([&](const Image& i, std::uint64_t rows) { bands->rows_ready(i, rows); }) : RowsReady());
  if (bands) {
    if (std::optional<ImagePart> counted = bands->result()) {
      print_charts(out, options, {chart_of(options, image, pages, std::move(*counted))}, bands->report(), image.format);
      return kExitOk;
    }
  }
  const auto find_range = [&] {
    std::optional<Range> range;
    pages.for_each(image, [&](const Image& page) { range = joined(range, range_of(options, page)); });
    return range;
  };
  const Bins bins = make_bins(options, image.type, find_range);
  const ImageTiles how = tiles_of(options);
  Report report;
  const Device device = choose_device(options.device, image.view().bytes());
  std::vector<ImagePart> parts;
  pages.for_each(image, [&](const Image& page) {
    Report step;
    std::vector<ImagePart> more = histogram(page, bins, how, {.device = device, .report = &step, .tuning = options.tuning});
    if (parts.empty()) {
      parts = std::move(more);
      report = std::move(step);
      return;
    }
    report += step;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t channel = 0; channel < parts[i].channels.size(); ++channel) parts[i].channels[channel] += more[i].channels[channel];
    }
  });
  std::vector<Chart> charts;
  for (ImagePart& part : parts) charts.push_back(chart_of(options, image, pages, std::move(part)));
  print_charts(out, options, charts, report, image.format);
  return kExitOk;
}

}  // namespace samesum::cli
