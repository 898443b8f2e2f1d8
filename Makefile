# A thin front over the CMake presets (CMakePresets.json). Everything that is built lies under build/.
PRESET ?= release
JOBS ?= $(shell nproc)
BUILD := build/$(PRESET)
SAMESUM := $(BUILD)/cli/samesum

help:
	@echo 'make demo    sum real data in float32, in two orders and exactly, on every device of this machine'
	@echo 'make test    build and run all tests; the last line counts them (PRESET=ci, asan, tsan: other builds)'
	@echo 'make bench   what the memory can give, and the ladder of sums'
	@echo 'make peers   samesum beside other sums: bench/peers/README.md'
	@echo 'make format  clang-format on every source file'
	@echo 'make dist    a relocatable archive under build/dist'
	@echo 'make wheel   the Python package under build/dist'
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
test: all
	@echo '== Running the tests of $(BUILD)'
	@rm -f $(BUILD)/tests/results/*.xml $(BUILD)/ctest.xml
	@export VIRTUAL_ENV="$${VIRTUAL_ENV:-$(CURDIR)/build/venv}"; \
	ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --output-junit $(CURDIR)/$(BUILD)/ctest.xml; tools/count-tests.py $(BUILD)

bench: program
	$(SAMESUM) bench ceiling
	$(SAMESUM) bench sum

peers: packages
	@cmake --preset peers --log-level=WARNING
	@cmake --build --preset peers --target samesum_peers
	build/peers/bench/peers/samesum_peers

format:
	@command -v clang-format >/dev/null || { echo 'clang-format is not there: apt-get install clang-format' >&2; exit 1; }
	clang-format -i $$(git ls-files '*.cpp' '*.hpp')

dist: all
	@tools/dist.sh $(BUILD) build/dist

wheel: $(BUILD)/build.ninja
	@cmake --build --preset $(PRESET) --target samesum_core_shared
	@tools/wheel.py $(BUILD) build/dist

clean:
	rm -rf build

.DEFAULT_GOAL := help
.PHONY: help packages program all demo test bench peers format dist wheel clean
