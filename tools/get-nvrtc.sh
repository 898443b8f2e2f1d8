#!/bin/sh
# Puts NVIDIA's run-time compiler into build/venv, from PyPI, so that the tests can compile every CUDA kernel without a GPU.
set -eu
cd "$(dirname "$0")/.."
if ls build/venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.* >/dev/null 2>&1; then exit 0; fi
echo "== Fetching NVRTC from PyPI into build/venv"
python3 -m venv build/venv
build/venv/bin/pip install --quiet --disable-pip-version-check --no-cache-dir nvidia-cuda-nvrtc
