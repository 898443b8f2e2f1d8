#!/bin/sh
# check-reproducible.sh [TARGET FILE…]: builds a target twice from scratch, of the last commit, in two folders whose names differ and without the
# compiler's cache, and compares the files that it makes. Default: the program and the static library. Takes two whole builds.
set -eu
cd "$(dirname "$0")/.."
target=${1:-samesum_program}
[ $# = 0 ] || shift
[ $# != 0 ] || set -- cli/samesum libsamesum.a
folder=build/reproducible
trap 'rm -rf "$folder"' EXIT
export CCACHE_DISABLE=1
for name in first a/second; do
  mkdir -p "$folder/$name"
  git archive HEAD | tar -xf - -C "$folder/$name"
  cmake -S "$folder/$name" -B "$folder/$name/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSAMESUM_TESTS=OFF --log-level=WARNING >/dev/null
  cmake --build "$folder/$name/build" --target "$target" >/dev/null
done
for file in "$@"; do
  if cmp "$folder/first/build/$file" "$folder/a/second/build/$file"; then
    echo "$file: the same bytes from two folders, SHA-256 $(sha256sum <"$folder/first/build/$file" | cut -d' ' -f1)"
  else
    echo "$file: two builds differ" >&2
    exit 1
  fi
done
