#!/bin/sh
# install.sh BUILD_DIRECTORY PREFIX: cmake --install to $DESTDIR$PREFIX, with a list of all that it makes there, for uninstall.sh: files, and
# the folders that were not there before.
set -eu
build=$1
prefix=$2
root=${DESTDIR:-}
list=$prefix/share/samesum/installed.txt
case $prefix in /*) ;; *) echo "PREFIX is an absolute path, not '$prefix'" >&2; exit 1 ;; esac

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage/root cmake --install "$build" --prefix "$prefix" >/dev/null
mkdir -p "$stage/root$prefix/share/samesum"
: >"$stage/root$list"
(cd "$stage/root" && find . ! -type d | sed 's/^\./file /') >"$stage/list"
(cd "$stage/root" && find . -mindepth 1 -type d | sed 's/^\.//') | while read -r folder; do
  [ -d "$root$folder" ] || echo "folder $folder"
done >>"$stage/list"
[ ! -e "$root$list" ] || cat "$root$list" >>"$stage/list"  # of a version before this one

mkdir -p "$root$prefix"
DESTDIR=$root cmake --install "$build" --prefix "$prefix" >/dev/null
mkdir -p "$root$prefix/share/samesum"
sort -u "$stage/list" >"$root$list"
echo "== samesum is in $root$prefix; PREFIX=$prefix make uninstall removes it"
