#!/bin/sh
# check-reproducible.sh [TARGET FILE]: builds a target twice from scratch, in the same folder and without the compiler's cache, and compares the
# file that it makes. Default: the program. Takes two whole builds.
set -eu
cd "$(dirname "$0")/.."
target=${1:-samesum_program}
file=${2:-cli/samesum}
build=build/reproducible
first=$(mktemp)
trap 'rm -f "$first"; rm -rf "$build"' EXIT
export CCACHE_DISABLE=1
for turn in first second; do
  rm -rf "$build"
  cmake --preset release -B "$build" --log-level=WARNING >/dev/null
  cmake --build "$build" --target "$target" >/dev/null
  if [ $turn = first ]; then cp "$build/$file" "$first"; fi
done
if cmp "$first" "$build/$file"; then
  echo "$file: the same bytes twice, SHA-256 $(sha256sum <"$first" | cut -d' ' -f1)"
else
  echo "$file: two builds differ" >&2
  exit 1
fi
