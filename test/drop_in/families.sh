#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# families.sh RUN FOLDER: which library RUN puts before a program, by the MPI library that ldd names.
set -eu
mkdir -p "$2"
cd "$2"
for family in openmpi mpich abi; do : > libcolligo_mpi_$family.so; done
printf '#!/bin/sh\necho "\tlibm.so.6 => /lib/libm.so.6 (0x1)"\necho "\t$LINKED => /opt/lib/$LINKED (0x2)"\n' > ldd
chmod +x ldd
export PATH="$PWD:$PATH" COLLIGO_DROP_IN_LIBRARIES="$PWD" LINKED
unset LD_PRELOAD OMPI_COMM_WORLD_SIZE PMI_SIZE
failed=0
check() {
  LINKED=$1
  found=$("$run" printenv LD_PRELOAD 2> /dev/null) || found=none
  [ "${found##*/}" = "$2" ] || { echo "$1: $found instead of $2"; failed=1; }
}
run=$1
check libmpich.so.12 libcolligo_mpi_mpich.so
check libmpi.so.12 libcolligo_mpi_mpich.so
check libmpi.so.20 libcolligo_mpi_openmpi.so
check libmpi.so.40 libcolligo_mpi_openmpi.so
check libmpi_abi.so.0 libcolligo_mpi_abi.so
check libmpi_abi.so.1 libcolligo_mpi_abi.so
check libmpi.so.1 none
PMI_SIZE=2
export PMI_SIZE
check libmpi.so.1 libcolligo_mpi_mpich.so
exit $failed
