// samesum hist of an image.
#include "command.hpp"
#include "hist_options.hpp"
#include "summing.hpp"

#include <samesum/error.hpp>
#include <samesum/image.hpp>

#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

namespace samesum::cli {
namespace {

// Counts the rows of an image while others are being decoded.
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
  /// What was counted, if anything was.
  std::optional<ImagePart> result() {
    stop();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(counted_);
  }
  const HistogramReport& report() const { return report_; }

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
    ImageOptions how;
    how.alpha = options_.alpha;
    how.histogram = options_.histogram;
    if (how.histogram.threads == 0) how.histogram.threads = 1;  // which counts several times as fast as another one decodes
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
      HistogramReport report;
      ImagePart part = std::move(histogram(band, bins, device_, how, &report).front());
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
  HistogramReport report_;
  std::exception_ptr failure_;
  std::thread worker_;  // last: it uses the others
};

Chart chart_of(const HistOptions& options, const Image& image, const std::string& path, ImagePart part) {
  Chart chart{shown_name(path), part.x, part.y, part.width, part.height, {}};
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

}  // namespace

int run_hist_image(Output& out, const HistOptions& options, const std::string& path) {
  const ReadingGuard guard(path);
  // Where the CPU counts, and where bins do not wait for the whole image.
  const bool bins_known =
      !options.edges.empty() || !options.range.empty() || (options.bins == 0 && !options.log_bins) || options.each_value;
  std::optional<Device> cpu;
  if (bins_known && options.tiles.empty() && (options.device == "cpu" || options.device == "auto") &&
      std::getenv("SAMESUM_DEVICE") == nullptr) {
    cpu = Device::open("cpu");
  }
  std::optional<BandCounter> bands;
  if (cpu) bands.emplace(options, *cpu);
  const Image image =
      load_image(path, bands ? RowsReady([&](const Image& i, std::uint64_t rows) { bands->rows_ready(i, rows); }) : RowsReady());
  if (bands) {
    if (std::optional<ImagePart> counted = bands->result()) {
      print_charts(out, options, {chart_of(options, image, path, std::move(*counted))}, bands->report(), image.format);
      return kExitOk;
    }
  }
  const auto range = [&] {
    // Not of the alpha channel: but its values lie where the others may, too.
    return image.type == DType::uint16 ? std::optional<Range>({-0.5, 65535.5}) : range_of(image.view());
  };
  HistOptions chosen = options;
  if (image.type == DType::uint16 && options.bins == 0 && options.range.empty()) chosen.bins = 256;
  const Bins bins = make_bins(chosen, image.type, range);
  ImageOptions how;
  how.alpha = options.alpha;
  how.histogram = options.histogram;
  if (!options.tiles.empty()) {
    const char* end = options.tiles.data() + options.tiles.size();
    const auto [middle, error] = std::from_chars(options.tiles.data(), end, how.columns);
    const bool divided = error == std::errc() && middle != end && *middle == 'x';
    if (!divided || std::from_chars(middle + 1, end, how.rows).ptr != end || how.rows == 0 || how.columns == 0) {
      throw Error(ErrorKind::usage, fmt::format("--tiles takes columns x rows, as in 4x3, not '{}'", options.tiles));
    }
  }
  HistogramReport report;
  const Device device = choose_device(options.device, image.view().bytes());
  std::vector<Chart> charts;
  for (ImagePart& part : histogram(image, bins, device, how, &report)) {
    charts.push_back(chart_of(options, image, path, std::move(part)));
  }
  print_charts(out, options, charts, report, image.format);
  return kExitOk;
}

}  // namespace samesum::cli
