// libtiff's functions, loaded when the first TIFF is read: libtiff depends on nine other libraries, and loading them took half of the
// program's start-up time.
#pragma once

#include <tiffio.h>

namespace samesum::io {

#define SAMESUM_TIFF_FUNCTIONS(X)                                                                                                 \
  X(TIFFOpenOptionsAlloc)                                                                                                         \
  X(TIFFOpenOptionsFree)                                                                                                          \
  X(TIFFOpenOptionsSetErrorHandlerExtR)                                                                                           \
  X(TIFFOpenOptionsSetWarningHandlerExtR)                                                                                         \
  X(TIFFClientOpenExt)                                                                                                            \
  X(TIFFClose)                                                                                                                    \
  X(TIFFGetField)                                                                                                                 \
  X(TIFFGetFieldDefaulted)                                                                                                        \
  X(TIFFSetField) X(TIFFIsTiled) X(TIFFTileSize) X(TIFFComputeTile) X(TIFFTileRowSize) X(TIFFScanlineSize) X(TIFFReadEncodedTile) \
      X(TIFFReadScanline) X(TIFFReadDirectory) X(TIFFLastDirectory) X(TIFFSetSubDirectory) X(TIFFCurrentDirOffset)

struct TiffLibrary {
#define SAMESUM_DECLARE(function) decltype(&::function) function = nullptr;
  SAMESUM_TIFF_FUNCTIONS(SAMESUM_DECLARE)
#undef SAMESUM_DECLARE
};

/// Loads the library of that name, for good. @throws Error (usage) where it is missing or lacks these functions.
TiffLibrary open_tiff_library(const char* name);

/// The functions of libtiff.so.6, loaded at the first call. @throws Error as open_tiff_library() does.
const TiffLibrary& tiff_library();

}  // namespace samesum::io
