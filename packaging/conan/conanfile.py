"""Conan 2: `conan create packaging/conan`, from this checkout."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt


class Samesum(ConanFile):
    name = "samesum"
    license = "Apache-2.0"
    description = "Correctly rounded sums and exact histograms: the same bits on CPU, OpenCL and CUDA"
    topics = ("sum", "reproducible", "histogram", "gpu")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "..", "..", "include", "samesum", "version.hpp"))
        self.version = re.search(r'SAMESUM_VERSION "(.*)"', header)[1]

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "cli/*", "tools/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def system_requirements(self):
        # Debian's packages, as for every other build of samesum; -c tools.system.package_manager:mode=install installs what is missing.
        Apt(self).install(["ninja-build", "pkg-config", "libtbb-dev", "libhwy-dev", "libcli11-dev", "libfmt-dev", "nlohmann-json3-dev",
                           "libfast-float-dev", "zlib1g-dev", "libzstd-dev", "libpng-dev", "libjpeg62-turbo-dev", "libtiff-dev", "libxxhash-dev",
                           "opencl-c-headers"])

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self, generator="Ninja")
        toolchain.cache_variables.update({"SAMESUM_TESTS": False, "SAMESUM_MPI": False, "SAMESUM_PYTHON_MODULE": "OFF",
                                          "BUILD_SHARED_LIBS": bool(self.options.shared)})
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="samesum_shipped")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # The package has its own samesumConfig.cmake and samesum.pc.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "samesum")]
        self.cpp_info.libs = ["samesum_image", "samesum"]
        self.cpp_info.system_libs = ["png", "jpeg", "tbb", "z", "zstd", "dl", "pthread", "m"]
