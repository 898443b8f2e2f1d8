#!/bin/sh
# write-kernels.sh BUILD_DIRECTORY: compiles the kernels that ship into BUILD_DIRECTORY/cuda-kernels, with NVRTC from PyPI and without a GPU;
# KERNELS=0 leaves them out. Takes ten minutes of processor time the first time, on all cores, then what has changed.
#
# Machine code of CUDA 12.9 loads with every driver of CUDA 12 and later. PTX needs a driver as new as its compiler, so it is of 12.0.
set -eu
cd "$(dirname "$0")/.."
build=$1
if [ "${KERNELS:-1}" = 0 ]; then
  rm -f "$build/cuda-kernels"
  exit 0
fi
# nvrtc VERSION: the path of that libnvrtc.
nvrtc() {
  folder=build/nvrtc-$1
  if [ ! -e "$folder/ready" ]; then
    echo "== Fetching NVRTC $1 from PyPI into $folder" >&2
    python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir "nvidia-cuda-nvrtc-cu12==$1.*" || return 1
    touch "$folder/ready"
  fi
  ls "$PWD/$folder"/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12
}
if ! machine_code=$(nvrtc 12.9) || ! ptx=$(nvrtc 12.0); then
  echo "== NVRTC could not be fetched: no kernels ship, CUDA devices need NVRTC" >&2
  rm -f "$build/cuda-kernels"
  exit 0
fi
echo "== Compiling kernels that ship: what has changed"
"$build/tools/kernels/samesum_write_kernels" "$build/cuda-kernels" "$machine_code" sm_90 "$ptx" compute_75
