#!/bin/sh
# dist.sh BUILD_DIRECTORY TARGET_DIRECTORY: packs a release that runs from any folder of any x86-64 Linux with glibc 2.36 or newer, with
# nothing installed: program, tests, fuzzers, headers, library, and every shared library that they need but glibc's.
# A build without tests is one for older systems (make dist-old): program, library and headers, which need glibc 2.28 and nothing else, or it is an error.
set -eu
cd "$(dirname "$0")/.."
build=$1
target=$2
version=$(sed -n 's/^#define SAMESUM_VERSION "\(.*\)"/\1/p' include/samesum/version.hpp)
name=samesum-$version-linux-x86_64
tests=$(ls "$build/tests/samesum_tests" 2>/dev/null || true)
[ -n "$tests" ] || name=$name-glibc2.28
stage=$target/$name

rm -rf "$stage"
cmake --install "$build" --prefix "$stage" >/dev/null
if [ -n "$tests" ]; then
  mkdir -p "$stage/lib/fakes" "$stage/tests/support"
  cp "$build"/tests/samesum_tests "$build"/tests/fuzz_* "$stage/bin/"
  cp "$build"/tests/fakes/*.so "$stage/lib/fakes/"
  for folder in cli kernels; do mkdir "$stage/tests/$folder" && cp tests/$folder/*_test.py "$stage/tests/$folder/"; done
  cp tests/support/*.py "$stage/tests/support/"
  cp tools/run-tests.sh "$stage/"
fi
cp -r data "$stage/"
cp tools/demo.sh "$stage/"
if [ -e build/docs/site ]; then mkdir -p "$stage/share/doc/samesum" && cp -r build/docs/site "$stage/share/doc/samesum/html"; fi
for file in LICENSE README.md CHANGELOG.md; do [ ! -e $file ] || cp $file "$stage/"; done

if [ -n "$tests" ]; then
  # All that the programs load, and what they open themselves: OpenCL's loader, and libtiff; glibc is the system's.
  installed() {
    found=$(/sbin/ldconfig -p | sed -n "s/.*$1 .*x86-64.*=> //p" | head -1)
    [ -n "$found" ] || { echo "$1 is not installed" >&2; exit 1; }
    echo "$found"
  }
  opencl=$(installed libOpenCL.so.1)
  tiff=$(installed libtiff.so.6)
  {
    echo "$opencl"
    echo "$tiff"
    ldd "$stage"/bin/* "$stage"/lib/fakes/*.so "$opencl" "$tiff" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p'
  } | sort -u | while read -r library; do
    case ${library##*/} in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) ;;
      *) cp -L "$library" "$stage/lib/${library##*/}" ;;
    esac
  done
fi

libraries=$(find "$stage/lib" -maxdepth 1 -name '*.so*' -type f)  # some have links beside them
fakes=$(find "$stage/lib/fakes" -name '*.so' 2>/dev/null || true)
strip --strip-unneeded "$stage"/bin/* $libraries $fakes
strip --strip-debug "$stage"/lib/*.a
for file in "$stage"/bin/*; do patchelf --set-rpath '$ORIGIN/../lib' "$file"; done
for file in $libraries; do patchelf --set-rpath '$ORIGIN' "$file"; done
for file in $fakes; do patchelf --set-rpath '$ORIGIN/..' "$file"; done
if [ -z "$tests" ]; then
  for file in "$stage"/bin/* $libraries; do
    newest=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
    [ "$(printf 'GLIBC_2.28\n%s\n' "$newest" | sort -V | tail -1)" = GLIBC_2.28 ] || { echo "$file needs $newest" >&2; exit 1; }
    needed=$(objdump -p "$file" | sed -n 's/ *NEEDED *//p' | grep -Ev '^(lib(c|m|dl|pthread|rt)\.so\.[0-9]|ld-linux.*|libsamesum.*)$' || true)
    [ -z "$needed" ] || { echo "$file needs" $needed >&2; exit 1; }
  done
fi

# The same bytes for the same files: the dates are those of the commit.
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
tar -C "$target" --owner=0 --group=0 --numeric-owner --sort=name --mtime="@$date" -cf - "$name" | gzip -n >"$target/$name.tar.gz"
echo "== $target/$name.tar.gz: $(du -k "$target/$name.tar.gz" | cut -f1) KiB; demo.sh${tests:+ and run-tests.sh} inside show that it works"
