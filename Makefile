# A thin front over the CMake presets (CMakePresets.json). Everything that is built lies under build/.
PRESET ?= release
JOBS ?= $(shell nproc)
BUILD := build/$(PRESET)
SAMESUM := $(BUILD)/cli/samesum

help:
	@echo 'make demo    sum real data in float32, in two orders and exactly, on every device of this machine'
	@echo 'make test    build and run the tests; the last line counts them (PRESET=ci, asan, tsan: other builds)'
	@echo 'make test-all  with the slow ones: poorer devices, queues of a caller, every layout; what .ci/run does'
	@echo 'make bench   what the memory can give, and the ladder of sums'
	@echo 'make peers   samesum beside other sums: bench/peers/README.md'
	@echo 'make docs    the documents as a site: build/docs/site/index.html'
	@echo 'make format  clang-format on every source file'
	@echo 'make python  the Python package in build/PRESET/python; from then on make test tests it'
	@echo 'make wheel   the same as a wheel under build/dist (PYTHON=python3.12: for another Python)'
	@echo 'make install  program, library, manual pages, completions in PREFIX (/usr/local) under DESTDIR; make uninstall'
	@echo 'make kernels  kernels for CUDA devices, compiled ahead, for install, dist and wheel; these two make them, but with KERNELS=0'
	@echo 'make dist    a relocatable archive under build/dist, with the documents'
	@echo 'make dist-old  the same without tests, for glibc 2.28 and newer: RHEL 8, Debian 10, Ubuntu 20.04'
	@echo 'make deb     Debian packages under build/dist: samesum, libsamesum0, libsamesum-dev'
	@echo 'make release archive and packages with bills of materials and checksums, signed where gpg has a key'
	@echo 'make clean   remove build/'

packages:
	@tools/install-packages.sh

$(BUILD)/build.ninja: CMakePresets.json | packages
	@echo '== Configuring $(BUILD)'
	@cmake --preset $(PRESET) --log-level=WARNING

program: $(BUILD)/build.ninja
	@echo '== Building the program in $(BUILD): only what changed'
	@cmake --build --preset $(PRESET) --target samesum_program

all: $(BUILD)/build.ninja
	@echo '== Building everything in $(BUILD): only what changed'
	@cmake --build --preset $(PRESET)

demo: program
	@tools/demo.sh $(SAMESUM) data/egm96_geoid.npy

# NVRTC is used where tools/get-nvrtc.sh has put it; each run starts without old counts.
test: SELECTION := -LE slow
test test-all: all
	@echo '== Running the tests of $(BUILD)'
	@rm -f $(BUILD)/tests/results/*.xml $(BUILD)/ctest.xml
	@export VIRTUAL_ENV="$${VIRTUAL_ENV:-$(CURDIR)/build/venv}"; \
	ctest --test-dir $(BUILD) $(SELECTION) -j $(JOBS) --output-on-failure --output-junit $(CURDIR)/$(BUILD)/ctest.xml; tools/count-tests.py $(BUILD)

bench: program
	$(SAMESUM) bench ceiling
	$(SAMESUM) bench sum

peers: packages
	@cmake --preset peers --log-level=WARNING
	@cmake --build --preset peers --target samesum_peers
	build/peers/bench/peers/samesum_peers

DOCS_TOOLS := build/docs/tools

$(DOCS_TOOLS)/ready:
	@echo '== Fetching MkDocs from PyPI into $(DOCS_TOOLS)'
	@python3 -m venv $(DOCS_TOOLS)
	@$(DOCS_TOOLS)/bin/pip install --quiet --disable-pip-version-check 'mkdocs==1.6.*' 'mkdocs-material==9.*'
	@touch $@

docs-tools: $(DOCS_TOOLS)/ready

docs: program docs-tools
	@tools/make-docs.py $(SAMESUM)
	@NO_MKDOCS_2_WARNING=1 $(DOCS_TOOLS)/bin/mkdocs build --strict
	@tools/check-links.py build/docs/site
	@echo '== build/docs/site/index.html'

format:
	@command -v clang-format >/dev/null || { echo 'clang-format is not there: apt-get install clang-format' >&2; exit 1; }
	clang-format -i $$(git ls-files '*.cpp' '*.hpp')

kernels: $(BUILD)/build.ninja
	@cmake --build --preset $(PRESET) --target samesum_write_kernels
	@tools/write-kernels.sh $(BUILD)

dist: all kernels docs
	@tools/dist.sh $(BUILD) build/dist

# Archive and packages with bills of materials and checksums, which are signed where gpg has a key.
release: dist deb
	@tools/release.sh build/dist

# A build of its own: shared libraries, in Debian's folders.
deb: packages
	@cmake --preset release -B build/deb --log-level=WARNING -DBUILD_SHARED_LIBS=ON -DSAMESUM_TESTS=OFF -DSAMESUM_MPI=OFF -DSAMESUM_PYTHON_MODULE=OFF \
	  -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH) $(DEB_OPTIONS)
	@cmake --build build/deb --target samesum_shipped samesum_write_kernels
	@tools/write-kernels.sh build/deb
	@tools/deb.sh build/deb build/dist

PREFIX ?= /usr/local

install: $(BUILD)/build.ninja
	@cmake --build --preset $(PRESET) --target samesum_shipped
	@DESTDIR='$(DESTDIR)' tools/install.sh $(BUILD) '$(PREFIX)'

uninstall:
	@DESTDIR='$(DESTDIR)' tools/uninstall.sh '$(PREFIX)'

PYTHON ?= python3
PYTHON_TOOLS := build/python-$(PYTHON)

$(PYTHON_TOOLS)/ready:
	@echo '== Fetching nanobind and numpy from PyPI into $(PYTHON_TOOLS)'
	@$(PYTHON) -m venv $(PYTHON_TOOLS)
	@$(PYTHON_TOOLS)/bin/pip install --quiet --disable-pip-version-check nanobind numpy
	@touch $@

python-tools: $(PYTHON_TOOLS)/ready

# What tests of the Python package use where it is there, and skip where not. Not torch, whose wheel at PyPI is for CUDA and takes gigabytes.
python-test-tools: python-tools
	@$(PYTHON_TOOLS)/bin/pip install --quiet --disable-pip-version-check dask ml_dtypes hypothesis pytest mypy pandas polars pyarrow matplotlib hist mplhep

python: $(BUILD)/build.ninja $(PYTHON_TOOLS)/ready
	@cmake --preset $(PRESET) --log-level=WARNING -DSAMESUM_PYTHON_MODULE=ON -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON_TOOLS)/bin/python
	@cmake --build --preset $(PRESET) --target samesum_python

# Builds that run on glibc 2.28 and newer.
OLD_GLIBC := build/old-glibc

$(OLD_GLIBC)/flags.cmake: | packages
	@tools/old-glibc/prepare.sh $(OLD_GLIBC)

WHEEL_BUILD := build/wheel-$(PYTHON)

wheel: $(PYTHON_TOOLS)/ready $(OLD_GLIBC)/flags.cmake
	@cmake --preset release -B $(WHEEL_BUILD) -C $(OLD_GLIBC)/flags.cmake --log-level=WARNING -DSAMESUM_TESTS=OFF -DSAMESUM_MPI=OFF \
	  -DSAMESUM_PYTHON_MODULE=ON -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON_TOOLS)/bin/python
	@cmake --build $(WHEEL_BUILD) --target samesum_python samesum_program samesum_write_kernels
	@[ ! -e $(BUILD)/cuda-kernels ] || cp -u $(BUILD)/cuda-kernels $(WHEEL_BUILD)/  # of which only what has changed is compiled
	@tools/write-kernels.sh $(WHEEL_BUILD)
	@tools/wheel.py $(WHEEL_BUILD) build/dist

dist-old: docs $(OLD_GLIBC)/flags.cmake
	@cmake --preset release -B build/older -C $(OLD_GLIBC)/flags.cmake --log-level=WARNING -DSAMESUM_TESTS=OFF -DSAMESUM_MPI=OFF -DSAMESUM_PYTHON_MODULE=OFF
	@cmake --build build/older --target samesum_shipped samesum_write_kernels
	@[ ! -e $(BUILD)/cuda-kernels ] || cp -u $(BUILD)/cuda-kernels build/older/
	@tools/write-kernels.sh build/older
	@tools/dist.sh build/older build/dist

clean:
	rm -rf build

.DEFAULT_GOAL := help
.PHONY: help packages program all demo test test-all bench peers docs docs-tools format kernels dist dist-old release deb install uninstall python-tools python-test-tools python wheel clean
