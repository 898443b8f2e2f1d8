// libtiff's functions, from the library that is opened when the first TIFF is read: it brings nine libraries of its own, and to load those
// took half of the time in which the program starts.
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

/// Opens the library of that name, which then stays loaded. @throws Error (usage) where there is none, or none with these functions.
TiffLibrary open_tiff_library(const char* name);

/// The functions of libtiff.so.6, opened at the first call. @throws Error as open_tiff_library() does.
const TiffLibrary& tiff_library();

}  // namespace samesum::io
