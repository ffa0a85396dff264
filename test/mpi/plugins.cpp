// SPDX-License-Identifier: BSL-1.0
// Plugins may be closed before MPI_Finalize, which calls what the library has left with the communicators.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool right = argc > 1;
  for (int i = 1; i < argc; ++i) {
    void* const plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    auto* const ranks = plugin ? reinterpret_cast<int (*)()>(dlsym(plugin, "ranks_of_world")) : nullptr;
    right = right && ranks && ranks() == size && dlclose(plugin) == 0;
    if (!right) std::fprintf(stderr, "%s: %s\n", argv[i], ranks ? "wrong" : dlerror());
  }
  MPI_Finalize();
  return !right;
}
