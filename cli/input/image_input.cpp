#include "input/image_input.hpp"

#include "input/elements.hpp"
#include "input/input.hpp"
#include "output/number.hpp"
#include "output/printable.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <utility>

namespace samesum::cli {
namespace {

// As in X11: width, height, and where it begins.
Region parse_region(const std::string& text) {
  Region region;
  const char* at = text.data();
  const char* const end = at + text.size();
  const std::pair<std::uint64_t*, char> numbers[] = {{&region.width, 'x'}, {&region.height, '+'}, {&region.x, '+'}, {&region.y, '\0'}};
  for (const auto& [number, separator] : numbers) {
    const auto [rest, error] = std::from_chars(at, end, *number);
    const bool right = error == std::errc() && (separator == '\0' ? rest == end : rest != end && *rest == separator);
    if (!right)
      throw Error(ErrorKind::usage, fmt::format("--region takes width, height and place in pixels, as in 640x480+10+20, not '{}'", text));
    at = rest + 1;
  }
  return region;
}

// One channel: of each page a chunk.
class Channel final : public Source {
 public:
  Channel(std::string name, std::shared_ptr<const ImageFile> file, ImageSelection selection, Image first, std::uint32_t number)
      : name_(std::move(name)),
        file_(std::move(file)),
        selection_(std::move(selection)),
        first_(std::move(first)),
        image_(first_),
        number_(number) {}
  std::optional<Array> next() override {
    if (page_ == file_->pages()) return std::nullopt;
    if (page_++ != 0) {
      image_ = selection_.of(file_->page(page_), shown_name(name_));
      if (image_.channels != first_.channels || image_.type != first_.type) {
        throw Error(ErrorKind::usage, fmt::format("the pages of the image differ: the first has {} of {}, page {} {} of {}",
                                                  counted(first_.channels, "channel"), name_of(first_.type), page_,
                                                  counted(image_.channels, "channel"), name_of(image_.type)));
      }
    }
    return image_.channel(number_).reshaped({image_.width * image_.height});
  }
  std::string_view format() const noexcept override { return first_.format; }
  std::optional<DType> type() const noexcept override { return first_.type; }
  std::vector<std::uint64_t> shape() const override {
    if (file_->pages() == 1) return {first_.height, first_.width};
    return {};
  }
  std::uint64_t resident_bytes() const noexcept override {
    return file_->pages() == 1 ? first_.width * first_.height * size_of(first_.type) : 0;
  }

 private:
  std::string name_;
  std::shared_ptr<const ImageFile> file_;
  ImageSelection selection_;
  Image first_, image_;
  std::uint32_t number_, page_ = 0;
};

}  // namespace

Image matrix_as_image(const Elements& elements) {
  const std::vector<std::uint64_t> shape = elements.shape();
  if (shape.size() != 2) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: tiles, regions and masks are those of a matrix or an image, and this array has {}",
                            shown_name(elements.name()), shape.size() == 1 ? "1 axis" : fmt::format("{} axes", shape.size())));
  }
  const Array all = elements.view();
  return {shape[1],
          shape[0],
          1,
          all.type(),
          std::shared_ptr<const void>(std::shared_ptr<const void>(), all.data()),
          std::string(elements.format())};
}

Image ImageSelection::of(const Image& image, const std::string& name) const {
  std::optional<Elements> mask_matrix;
  std::optional<Image> mask_image;
  if (!mask.empty() && is_image(mask)) {
    const ImageFile file(mask);
    if (file.pages() != 1) throw Error(ErrorKind::usage, fmt::format("{}: a mask of {} pages: it has one", mask, file.pages()));
    mask_image = file.page(1);
  }
  if (!mask.empty() && !mask_image)
    mask_image = matrix_as_image(mask_matrix.emplace(mask, InputOptions(), TextAs::float64, TextLines::rows));
  if (mask_image && (mask_image->width != image.width || mask_image->height != image.height)) {
    throw Error(ErrorKind::usage, fmt::format("{}: a mask of {} x {} pixels for an image of {} x {}: they are equally large", mask,
                                              mask_image->width, mask_image->height, image.width, image.height));
  }
  if (region.empty()) return mask_image ? select(image, *mask_image) : image;
  const Region part = parse_region(region);
  const Image cropped = [&] {
    try {
      return crop(image, part);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", name, error.what()));
    }
  }();
  return mask_image ? select(cropped, crop(*mask_image, part)) : cropped;
}

void add_selection(CLI::App& command, ImageSelection& selection, const std::string& of) {
  command.add_option("--region", selection.region, of + ": a rectangle of it, 640x480+10+20")->type_name("WxH+X+Y");
  command.add_option("--mask", selection.mask, of + ": the pixels where another one is not 0")->type_name("IMAGE");
}

std::vector<NamedSource> channels_of(const std::string& file, const ImageSelection& selection) {
  const auto pages = std::make_shared<const ImageFile>(file);
  const Image image = selection.of(pages->page(1), shown_name(file));
  std::vector<NamedSource> sources;
  for (std::uint32_t i = 0; i < image.channels - (image.has_alpha() ? 1 : 0); ++i) {
    const std::string name = fmt::format("{}, {}", file, image.channel_name(i));
    sources.push_back({name, [=] { return std::make_unique<Channel>(file, pages, selection, image, i); }});
  }
  return sources;
}

}  // namespace samesum::cli
