# SPDX-License-Identifier: BSL-1.0
"""Spack: `spack repo add .packaging/spack`, `spack develop --path . colligo@0.2.0`, `spack install colligo`. A
test reads this recipe and does not run it."""

from spack.package import *


class Colligo(CMakePackage):
    """MPI collectives in C++20 for your own types and functors."""

    license("BSL-1.0")

    version("0.2.0")
    version("0.1.0")

    variant("boost_mpi", default=True, description="Calls over boost::mpi::communicator")

    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("mpi")
    depends_on("boost@1.74: +mpi +serialization", when="+boost_mpi")

    conflicts("%gcc@:10", msg="C++20 is needed")
    conflicts("%clang@:13", msg="C++20 is needed")

    def cmake_args(self):
        return [self.define_from_variant("COLLIGO_BOOST_MPI", "boost_mpi")]
