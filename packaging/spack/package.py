"""Spack: spack repo add a folder that has this file as packages/samesum/package.py; spack dev-build samesum@main in a checkout."""
from spack.package import *


class Samesum(CMakePackage):
    """Correctly rounded sums and exact histograms: the same bits on CPU, OpenCL and CUDA."""

    license("Apache-2.0")

    version("main", branch="main")

    variant("shared", default=True, description="the program, and by default users, take the shared libraries")
    variant("mpi", default=False, description="samesum-mpi")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("cli11", type="build")
    depends_on("fast-float", type="build")
    depends_on("highway", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("opencl-c-headers", type="build")
    depends_on("xxhash", type="build")
    depends_on("fmt@9:")
    depends_on("intel-oneapi-tbb")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("libpng")
    depends_on("jpeg")
    depends_on("libtiff")
    depends_on("mpi", when="+mpi")

    build_targets = ["samesum_shipped"]

    def cmake_args(self):
        return [
            self.define("SAMESUM_TESTS", False),
            self.define("SAMESUM_PYTHON_MODULE", "OFF"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("SAMESUM_MPI", "mpi"),
        ]
