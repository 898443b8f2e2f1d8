#!/bin/sh
# deb.sh BUILD_DIRECTORY TARGET_DIRECTORY: Debian packages of a build with shared libraries and Debian's folders (make deb): samesum,
# libsamesum0, libsamesum-dev. lintian looks at them, where it is installed.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
build=$1
mkdir -p "$2"
target=$(cd "$2" && pwd)
architecture=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
version=$(sed -n 's/^#define SAMESUM_VERSION "\(.*\)"/\1/p' include/samesum/version.hpp)-1
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH=$epoch
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
umask 022
DESTDIR=$stage/all cmake --install "$build" --prefix /usr >/dev/null

# take PACKAGE PATH…: from what is installed, into a package.
take() {
  package=$1
  shift
  for path in "$@"; do
    mkdir -p "$stage/$package/usr/$(dirname "$path")"
    mv "$stage/all/usr/$path" "$stage/$package/usr/$path"
  done
}
cd "$stage/all/usr"
take libsamesum0 $(find "lib/$triplet" -maxdepth 1 -name '*.so.*')
take libsamesum-dev include "lib/$triplet"
take samesum bin share
cd "$stage"
find all ! -type d | grep . && { echo "these files are in no package" >&2; exit 1; }
# Kernels belong to the library, which finds them from its folder, and holds the program's too.
if [ -e samesum/usr/share/samesum/cuda-kernels ]; then
  mkdir -p libsamesum0/usr/share/samesum
  mv samesum/usr/share/samesum/cuda-kernels libsamesum0/usr/share/samesum/
fi
rmdir samesum/usr/share/samesum 2>/dev/null || true

strip --strip-unneeded --remove-section=.comment --remove-section=.note samesum/usr/bin/* libsamesum0/usr/lib/"$triplet"/*.so.*.*
strip --strip-debug libsamesum-dev/usr/lib/"$triplet"/*.a
gzip -9n samesum/usr/share/man/man1/*
mkdir debian
printf 'Source: samesum\n\nPackage: samesum\nArchitecture: any\n' >debian/control
shlibs() {
  dpkg-shlibdeps -O --ignore-missing-info -Slibsamesum0 "$@" 2>/dev/null | sed 's/^shlibs:Depends=//' |
    tr ',' '\n' | sed 's/^ *//' | grep -v '^libsamesum' | paste -sd, | sed 's/,/, /g'
}
library_needs=$(shlibs libsamesum0/usr/lib/"$triplet"/*.so.*.*)
program_needs=$(LD_LIBRARY_PATH=$stage/libsamesum0/usr/lib/$triplet shlibs samesum/usr/bin/*)

# control PACKAGE SECTION SHORT LONG [FIELD…]
control() {
  package=$1 section=$2 short=$3 long=$4
  shift 4
  documents=$package/usr/share/doc/$package
  mkdir -p "$documents" "$package/DEBIAN"
  {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: samesum\n\n'
    printf 'Files: *\nCopyright: %s the samesum authors\nLicense: Apache-2.0\n On Debian systems, the text of the license is in /usr/share/common-licenses/Apache-2.0.\n' "$(date -u -d "@$epoch" +%Y)"
  } >"$documents/copyright"
  {
    printf 'samesum (%s) unstable; urgency=medium\n\n  * Version %s: see CHANGELOG.md in the source.\n\n' "$version" "${version%-*}"
    printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -u -R -d "@$epoch")"
  } | gzip -9n >"$documents/changelog.Debian.gz"
  {
    printf 'Package: %s\nSource: samesum\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$package" "$version" "$architecture" "$maintainer"
    printf 'Installed-Size: %s\nSection: %s\nPriority: optional\n' "$(du -k -s --apparent-size "$package/usr" | cut -f1)" "$section"
    for field in "$@"; do printf '%s\n' "$field"; done
    printf 'Description: %s\n%s\n' "$short" "$long"
  } >"$package/DEBIAN/control"
  (cd "$package" && find usr -type f -exec md5sum {} + | sort -k 2 >DEBIAN/md5sums)
  chmod -R u+rwX,go+rX,go-w "$package"
  find "$package" -exec touch -h -d "@$epoch" {} +
  dpkg-deb --root-owner-group -Zxz --build "$package" "$target" >/dev/null
}
maintainer=${DEB_MAINTAINER:-"$(git -C "$root" log -1 --format='%an <%ae>' 2>/dev/null || echo 'samesum <samesum@localhost>')"}
about=' samesum adds up big arrays of numbers. The answer is the sum of the elements
 as real numbers, rounded once: it has the same bits on every device, in any
 order, and split over any number of machines. It has extrema, statistics,
 products, prefixes, groups, histograms and all pairs, too.
 .'
mkdir -p libsamesum0/DEBIAN
for part in samesum samesum_image; do echo "lib$part 0 libsamesum0 (>= ${version%-*})"; done >libsamesum0/DEBIAN/shlibs
echo 'activate-noawait ldconfig' >libsamesum0/DEBIAN/triggers
control libsamesum0 libs 'exact sums with the same bits on every device (library)' "$about
 This package has the shared libraries." "Depends: $library_needs" "Suggests: ocl-icd-libopencl1, libtiff6"
control libsamesum-dev libdevel 'exact sums with the same bits on every device (headers)' "$about
 This package has the headers, the static libraries, and what CMake and
 pkg-config need." "Depends: libsamesum0 (= $version), libtbb-dev, zlib1g-dev, libzstd-dev, libpng-dev, libjpeg-dev"
control samesum math 'exact sums with the same bits on every device' "$about
 This package has the program, its manual pages and completions." "Depends: libsamesum0 (= $version), $program_needs" \
  "Suggests: ocl-icd-libopencl1"
for package in samesum libsamesum0 libsamesum-dev; do
  echo "== $target/${package}_${version}_$architecture.deb: $(du -k "$target/${package}_${version}_$architecture.deb" | cut -f1) KiB"
done
command -v lintian >/dev/null || { echo "== lintian is not installed: the packages are not looked at"; exit 0; }
# No bug of Debian's is closed by them; symbols are not kept until 1.0.
lintian --fail-on error,warning --allow-root --suppress-tags initial-upload-closes-no-bugs,no-symbols-control-file \
  "$target"/samesum_"$version"_*.deb "$target"/libsamesum0_"$version"_*.deb "$target"/libsamesum-dev_"$version"_*.deb
echo "== lintian has no errors or warnings"
