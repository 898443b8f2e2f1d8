#!/bin/sh
# prepare.sh FOLDER: what g++ links with so that the result runs on glibc 2.28 and newer (RHEL 8, Debian 10, Ubuntu 20.04), and nothing else is needed there.
# FOLDER/lib gets the glibc 2.28 that programs are linked with: stand-ins with the symbols of that version, made by zig (PyPI), which knows
# those of each, and with newer.c the few functions that came later. FOLDER/flags.cmake is for cmake -C: linker flags, oneTBB (compiled here
# from Debian's source, static), and the static libraries of zlib, zstd, libpng and libjpeg. Compiler, headers and code are those of every build.
set -eu
glibc=2.28
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/lib" "$1/zig-cache"
folder=$(cd "$1" && pwd)
[ ! -e "$folder/flags.cmake" ] || exit 0

echo "== Fetching zig from PyPI and making stand-ins of glibc $glibc in $folder/lib"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'ziglang>=0.13'
echo 'int main(void) { return 0; }' >"$folder/empty.c"
# What zig links an empty program with says where it keeps them.
ZIG_GLOBAL_CACHE_DIR=$folder/zig-cache "$folder/venv/bin/python" -m ziglang cc -target x86_64-linux-gnu.$glibc "$folder/empty.c" -o "$folder/empty" -v 2>"$folder/zig.log"
for file in $(tr ' ' '\n' <"$folder/zig.log" | grep -E '/(crt1\.o|lib(c_nonshared\.a|(c|m|ld|pthread|dl|rt)\.so\.[0-9]))$' | sort -u); do cp "$file" "$folder/lib/"; done
gcc -O2 -fPIC -c "$here/newer.c" -o "$folder/lib/newer.o"
cd "$folder/lib"
echo 'GROUP(libc.so.6 libc_nonshared.a newer.o AS_NEEDED(libld.so.2))' >libc.so
for name in m pthread dl rt; do ln -sf "$(ls lib$name.so.[0-9])" lib$name.so; done

link="-B$folder/lib -L$folder/lib -static-libstdc++ -static-libgcc"
echo "== Fetching oneTBB's source from Debian and compiling it in $folder/tbb"
mkdir -p "$folder/tbb/lists/partial"
cd "$folder/tbb"
echo 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main' >sources.list
apt="apt-get -qq -o Dir::Etc::SourceList=$folder/tbb/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$folder/tbb/lists"
$apt update
[ -d onetbb-*/src ] || $apt source onetbb 2>/dev/null
cmake -S onetbb-* -B build -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF \
  -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$folder/tbb" -DCMAKE_INSTALL_LIBDIR=lib -Wno-dev >/dev/null
cmake --build build >/dev/null
cmake --install build >/dev/null

# Found before shared ones of the same name.
libraries=/usr/lib/$(gcc -print-multiarch)
for name in z zstd png16 jpeg; do ln -sf "$libraries/lib$name.a" "$folder/lib/"; done
# What comes of static libraries is nobody else's.
cat >"$folder/flags.cmake" <<FLAGS
set(CMAKE_EXE_LINKER_FLAGS "$link" CACHE STRING "")
set(CMAKE_SHARED_LINKER_FLAGS "$link -Wl,--exclude-libs,ALL" CACHE STRING "")
set(CMAKE_MODULE_LINKER_FLAGS "$link -Wl,--exclude-libs,ALL" CACHE STRING "")
set(SAMESUM_OLD_GLIBC ON CACHE BOOL "")
set(TBB_DIR "$folder/tbb/lib/cmake/TBB" CACHE PATH "")
set(ZLIB_LIBRARY "$folder/lib/libz.a" CACHE FILEPATH "")
set(ZSTD_LIBRARY "$folder/lib/libzstd.a" CACHE FILEPATH "")
set(PNG_LIBRARY "$folder/lib/libpng16.a" CACHE FILEPATH "")
set(JPEG_LIBRARY "$folder/lib/libjpeg.a" CACHE FILEPATH "")
FLAGS
