// Images of the C interface: what reads them is a library of its own, and so are these functions.
#include <samesum/image.hpp>

#include "c/handles.hpp"

#include <algorithm>

using namespace samesum;
using namespace samesum::c;

struct samesum_image {
  Image value;
  std::uint64_t shape[3];
  std::int64_t strides[3];
};

namespace {

const samesum_image& loaded(const samesum_image* image) { return need(image, "image"); }

}  // namespace

extern "C" {

samesum_status samesum_image_open(const char* path, uint32_t page, samesum_image** image) {
  return give(image, [&] {
    Image found = ImageFile(&need(path, "path")).page(page);
    samesum_image result{std::move(found), {}, {}};
    const Array pixels = result.value.array();
    std::copy_n(pixels.shape().data(), 3, result.shape);
    std::copy_n(pixels.strides().data(), 3, result.strides);
    return result;
  });
}
samesum_status samesum_image_array(const samesum_image* image, samesum_array* array) {
  return guard([&] {
    const samesum_image& from = loaded(image);
    need(array, "array") = {.data = from.value.pixels.get(),
                            .type = static_cast<samesum_type>(from.value.type),
                            .rank = 3,
                            .shape = from.shape,
                            .strides = from.strides,
                            .device = nullptr,
                            .offset = 0};
  });
}
samesum_status samesum_image_channel(const samesum_image* image, uint32_t channel, samesum_array* array) {
  return guard([&] {
    const samesum_image& from = loaded(image);
    samesum_array& place = need(array, "array");
    if (channel >= from.value.channels) {
      refuse("there is no channel " + std::to_string(channel) + ": the image has " + std::to_string(from.value.channels));
    }
    place = {.data = from.value.channel(channel).data(),
             .type = static_cast<samesum_type>(from.value.type),
             .rank = 2,
             .shape = from.shape,
             .strides = from.strides,
             .device = nullptr,
             .offset = 0};
  });
}
void samesum_image_free(samesum_image* image) { delete image; }

}  // extern "C"
