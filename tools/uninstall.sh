#!/bin/sh
# uninstall.sh PREFIX: removes what install.sh has put into $DESTDIR$PREFIX, and the folders that it made, if nothing else is in them now.
set -eu
prefix=$1
root=${DESTDIR:-}
list=$root$prefix/share/samesum/installed.txt
[ -e "$list" ] || { echo "There is no $list: nothing was installed there by 'make install'" >&2; exit 1; }

kept=$(mktemp)
trap 'rm -f "$kept"' EXIT
cp "$list" "$kept"
sed -n 's/^file //p' "$kept" | while read -r file; do rm -f "$root$file"; done
# The innermost first.
sed -n 's/^folder //p' "$kept" | sort -r | while read -r folder; do
  [ ! -d "$root$folder" ] || rmdir --ignore-fail-on-non-empty "$root$folder"
done
echo "== samesum is no longer in $root$prefix"
