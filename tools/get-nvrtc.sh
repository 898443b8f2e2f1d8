#!/bin/sh
# Puts NVIDIA's run-time compiler into build/venv, from PyPI, so that the tests can compile every CUDA kernel without a GPU. Of one version: the
# tests bound registers and spills, and these depend on the compiler (13.5 spills in two kernels for compute capability 8.0).
set -eu
cd "$(dirname "$0")/.."
if ls build/venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.* >/dev/null 2>&1; then exit 0; fi
echo "== Fetching NVRTC from PyPI into build/venv"
python3 -m venv build/venv
build/venv/bin/pip install --quiet --disable-pip-version-check --no-cache-dir nvidia-cuda-nvrtc==13.0.88
