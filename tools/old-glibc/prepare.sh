#!/bin/sh
# prepare.sh FOLDER: what g++ links with so that the result runs on glibc 2.28 and newer (RHEL 8, Debian 10, Ubuntu 20.04), and nothing else is needed there.
# FOLDER/lib gets the glibc 2.28 that programs are linked with: stand-ins with the symbols of that version, made by zig (PyPI), which knows
# those of each, and with newer.c the few functions that came later. FOLDER/flags.cmake is for cmake -C: linker flags, and the static libraries of
# zlib, zstd, oneTBB, libpng and libjpeg. The last three are compiled here from Debian's sources: there is no static oneTBB, and the other two are
# not for shared libraries. Compiler, headers and code are those of every build.
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
# What zig links an empty program with says where it keeps them. Scrt1.o is among them: that of a glibc from 2.34 on leaves static constructors of the
# program to glibc, and an older one runs none.
ZIG_GLOBAL_CACHE_DIR=$folder/zig-cache "$folder/venv/bin/python" -m ziglang cc -target x86_64-linux-gnu.$glibc -fPIE -pie "$folder/empty.c" -o "$folder/empty" -v 2>"$folder/zig.log"
for file in $(tr ' ' '\n' <"$folder/zig.log" | grep -E '/(Scrt1\.o|lib(c_nonshared\.a|(c|m|ld|pthread|dl|rt)\.so\.[0-9]))$' | sort -u); do cp "$file" "$folder/lib/"; done
nm "$folder/lib/Scrt1.o" | grep -q __libc_csu_init || { echo "Scrt1.o of glibc $glibc was not found in $folder/zig.log" >&2; exit 1; }
gcc -O2 -fPIC -c "$here/newer.c" -o "$folder/lib/newer.o"
cd "$folder/lib"
echo 'GROUP(libc.so.6 libc_nonshared.a newer.o AS_NEEDED(libld.so.2))' >libc.so
for name in m pthread dl rt; do ln -sf "$(ls lib$name.so.[0-9])" lib$name.so; done

link="-B$folder/lib -L$folder/lib -static-libstdc++ -static-libgcc -pthread"
echo "== Fetching the sources of oneTBB, libpng and libjpeg-turbo from Debian and compiling them in $folder/sources"
"$here/../install-packages.sh" nasm  # for libjpeg-turbo's loops
mkdir -p "$folder/sources/lists/partial"
cd "$folder/sources"
echo 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main' >sources.list
apt="apt-get -qq -o Dir::Etc::SourceList=$folder/sources/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$folder/sources/lists"
$apt update
# compile NAME OPTIONS…: a static library for programs and shared libraries.
compile() {
  name=$1
  shift
  [ -n "$(ls -d "$name"-*/CMakeLists.txt 2>/dev/null)" ] || $apt source "$name" 2>/dev/null
  cmake -S "$name"-*/ -B "build-$name" -G Ninja --log-level=ERROR -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -Wno-dev \
    -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR="$folder/lib" "$@" >/dev/null
  cmake --build "build-$name" >/dev/null
  cmake --install "build-$name" >/dev/null
}
compile onetbb -DBUILD_SHARED_LIBS=OFF -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON
compile libpng1.6 -DPNG_SHARED=OFF -DPNG_TESTS=OFF
compile libjpeg-turbo -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF

# Found before shared ones of the same name.
libraries=/usr/lib/$(gcc -print-multiarch)
for name in z zstd; do ln -sf "$libraries/lib$name.a" "$folder/lib/"; done
# What comes of static libraries is nobody else's.
cat >"$folder/flags.cmake" <<FLAGS
set(CMAKE_EXE_LINKER_FLAGS "$link" CACHE STRING "")
set(CMAKE_SHARED_LINKER_FLAGS "$link -Wl,--exclude-libs,ALL" CACHE STRING "")
set(CMAKE_MODULE_LINKER_FLAGS "$link -Wl,--exclude-libs,ALL" CACHE STRING "")
set(SAMESUM_OLD_GLIBC ON CACHE BOOL "")
set(TBB_DIR "$folder/lib/cmake/TBB" CACHE PATH "")
set(ZLIB_LIBRARY "$folder/lib/libz.a" CACHE FILEPATH "")
set(ZSTD_LIBRARY "$folder/lib/libzstd.a" CACHE FILEPATH "")
set(PNG_PNG_INCLUDE_DIR "$folder/include" CACHE PATH "")
set(JPEG_INCLUDE_DIR "$folder/include" CACHE PATH "")
set(PNG_LIBRARY "$folder/lib/libpng16.a" CACHE FILEPATH "")
set(JPEG_LIBRARY "$folder/lib/libjpeg.a" CACHE FILEPATH "")
FLAGS
