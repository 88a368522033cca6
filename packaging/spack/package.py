from spack.package import *


class Overlapack(CMakePackage, CudaPackage):
    """Drop-in LAPACK for machines with an NVIDIA GPU, by preloading or linking."""

    license("Apache-2.0")

    # To be filled in at the release: url, and version("0.1.0", sha256=...)
    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("openblas")
    depends_on("cuda@12.5:", when="+cuda")
    conflicts("cuda_arch=none", when="+cuda", msg="give cuda_arch, e.g. 80,90a")

    def cmake_args(self):
        args = [
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),  # never lib64
            self.define("OVERLAPACK_TESTS", False),
            self.define("OVERLAPACK_OPENBLAS", self.spec["openblas"].libs[0]),
            self.define_from_variant("OVERLAPACK_CUDA", "cuda"),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES",
                                    list(self.spec.variants["cuda_arch"].value)))
        return args
