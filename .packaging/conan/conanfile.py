# SPDX-License-Identifier: BSL-1.0
"""Conan 2: `conan create .packaging/conan`. The version is that of include/colligo/version.hpp. A test reads this
recipe and does not run it."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Colligo(ConanFile):
    name = "colligo"
    description = "MPI collectives in C++20 for your own types and functors"
    license = "BSL-1.0"
    topics = ("mpi", "collectives", "boost", "hpc")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    # system_mpi: the MPI library, and Boost.MPI with it, are those that CMake finds on the machine.
    options = {"boost_mpi": [True, False], "system_mpi": [True, False]}
    default_options = {"boost_mpi": True, "system_mpi": False, "boost/*:without_mpi": False}

    def _sources(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self._sources(), "include", "colligo", "version.hpp"))
        self.version = ".".join(re.findall(r"define COLLIGO_VERSION_[A-Z]+ (\d+)$", header, re.MULTILINE))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", ".packaging/*"):
            copy(self, pattern, self._sources(), self.export_sources_folder)

    def requirements(self):
        if self.options.system_mpi:
            return
        self.requires("openmpi/[>=4.1]", transitive_headers=True, transitive_libs=True)
        if self.options.boost_mpi:
            self.requires("boost/[>=1.74]", transitive_headers=True, transitive_libs=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["COLLIGO_BOOST_MPI"] = bool(self.options.boost_mpi)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # The project's own CMake files are used: find_package(colligo) as everywhere.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "colligo")]
