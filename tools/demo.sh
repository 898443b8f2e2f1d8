#!/bin/sh
# demo.sh SAMESUM FILE: the devices of this machine, then one file summed in float32 in two orders, and exactly on every device.
set -eu
samesum=$1
file=$2
echo "== samesum devices"
"$samesum" devices
echo
echo "== samesum compare $file --device all"
echo "   Heights of the geoid over the ellipsoid, one every half degree (EGM96): float32, as measured data come."
"$samesum" compare "$file" --device all
