#!/bin/sh
# demo.sh [SAMESUM [FILE]]: the devices of this machine, then one file summed in float32 in two orders, and exactly on every device.
set -eu
here=$(dirname "$0")
samesum=${1:-$here/bin/samesum}  # as it lies in an archive of make dist
file=${2:-$here/data/egm96_geoid.npy}
echo "== samesum devices"
"$samesum" devices
echo
echo "== samesum compare $file --device all"
echo "   Heights of the geoid over the ellipsoid, one every half degree (EGM96), in metres: float32, as measured data come."
"$samesum" compare "$file" --device all
