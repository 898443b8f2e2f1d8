#!/bin/sh
# aarch64.sh [SUITE…]: compiles library, program and tests for aarch64 by Debian's cross compiler in build/aarch64, and runs there, under qemu-user,
# `samesum selftest` on the CPU, whose hash has to be that of every other device, and these suites (a few that cover the CPU's loops).
#
# Debian's packages for arm64 are unpacked in build/aarch64/root, not installed: apt has lists of its own there. Takes some 20 minutes of
# processor time to compile; qemu-user is 10 to 50 times slower than a processor.
set -eu
cd "$(dirname "$0")/.."
build=build/aarch64
mkdir -p $build
root=$PWD/$build/root
apt=$PWD/$build/apt

tools/install-packages.sh g++-aarch64-linux-gnu qemu-user-static
if [ ! -e "$root/ready" ]; then
  echo "== Fetching Debian's libraries for arm64 into $root"
  mkdir -p "$root" "$apt/lists/partial" "$apt/archives/partial"
  : >"$apt/status"
  echo 'deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main' >"$apt/sources.list"
  cat >"$apt/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
CONF
  packages=$(grep -E '^(lib.*-dev|nlohmann-json3-dev|opencl-c-headers)$' cmake/debian-packages.txt | grep -v openmpi)
  export APT_CONFIG="$apt/apt.conf"
  apt-get -qq update
  apt-get -qq install --download-only --yes --no-install-recommends $packages >/dev/null
  unset APT_CONFIG
  for package in "$apt"/archives/*.deb; do dpkg -x "$package" "$root"; done
  touch "$root/ready"
fi
cat >$build/toolchain.cmake <<CMAKE
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT $root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L $root)
CMAKE
export PKG_CONFIG_LIBDIR="$root/usr/lib/aarch64-linux-gnu/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
cmake --preset ci -B $build --toolchain "$PWD/$build/toolchain.cmake" --log-level=WARNING -DSAMESUM_MPI=OFF -DSAMESUM_PYTHON_MODULE=OFF
cmake --build $build --target samesum_program samesum_tests
export QEMU_LD_PREFIX="$root"  # also of programs that tests start, for which the kernel has to know qemu (binfmt_misc)
qemu-aarch64-static $build/cli/samesum selftest --device cpu
[ $# != 0 ] || set -- accumulator sum_cpu sum_limits ties serialize statistics histogram axes by_index scan product quantile pairs text npy formula_evaluate
ctest --test-dir $build -R "^($(IFS='|'; echo "$*"))\$" --timeout 3600 --no-tests=error --output-on-failure
