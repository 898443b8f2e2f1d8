#!/bin/sh
# install-packages.sh [PACKAGE…]: installs what is missing of these Debian packages, or of those in cmake/debian-packages.txt; silent and quick where
# nothing is.
set -eu
wanted=$*
[ -n "$wanted" ] || wanted=$(sed 's/#.*//' "$(dirname "$0")/../cmake/debian-packages.txt" | tr -s ' \n' '\n\n')

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "== This is no Debian: nothing is installed. What is needed, by Debian's names:" $wanted
  exit 0
fi

# dpkg-query complains about packages that it does not know: those are the missing ones.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p') || true
missing=
for package in $wanted; do
  echo "$installed" | grep -qx "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These Debian packages are missing, and there is neither root nor sudo. As root:" >&2
    echo "  apt-get install --no-install-recommends$missing" >&2
    exit 1
  fi
  as_root=sudo
fi
echo "== Installing Debian packages:$missing"
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $missing
