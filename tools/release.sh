#!/bin/sh
# release.sh FOLDER: beside each archive of `make dist` in FOLDER a bill of materials, and SHA256SUMS of all files. The sums are signed where gpg
# has a secret key; SAMESUM_KEY names one of several.
set -eu
here=$(dirname "$0")
folder=$1
ls "$folder"/*.tar.gz >/dev/null 2>&1 || { echo "$folder: has no archive (make dist)" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for archive in "$folder"/*.tar.gz; do
  mkdir "$scratch/unpacked"
  tar -C "$scratch/unpacked" -xzf "$archive"
  python3 "$here/sbom.py" "$scratch/unpacked"/* >"${archive%.tar.gz}.spdx.json"
  rm -rf "$scratch/unpacked"
done

cd "$folder"
rm -f SHA256SUMS SHA256SUMS.asc
find . -maxdepth 1 -type f ! -name '.*' | LC_ALL=C sort | sed 's|^\./||' | xargs -d '\n' sha256sum >"$scratch/sums"
mv "$scratch/sums" SHA256SUMS
if command -v gpg >/dev/null && [ -n "$(gpg --batch --list-secret-keys --with-colons 2>/dev/null)" ]; then
  gpg --batch --yes --armor ${SAMESUM_KEY:+--local-user "$SAMESUM_KEY"} --detach-sign SHA256SUMS
  echo "== $folder: $(wc -l <SHA256SUMS) files, SHA256SUMS and its signature SHA256SUMS.asc"
else
  echo "== $folder: $(wc -l <SHA256SUMS) files, SHA256SUMS; NOT SIGNED, as gpg has no secret key"
fi
