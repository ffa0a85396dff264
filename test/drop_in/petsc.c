/* SPDX-License-Identifier: BSL-1.0
 * Solves A x = 1 by conjugate gradients with PETSc; A is a symmetric matrix of a Matrix Market file. Prints the
 * iterations and the residual, computed anew. A program that knows nothing of the library. */
#include <petscksp.h>

int main(int argc, char** argv) {
  Mat a;
  Vec b, x, rest;
  KSP solver;
  int n, m, entries, steps;
  double left, norm;
  char line[256];
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  FILE* const file = fopen(argv[1], "r");
  if (!file) return 1;
  do if (!fgets(line, sizeof line, file)) return 1; while (line[0] == '%');
  if (sscanf(line, "%d %d %d", &n, &m, &entries) != 3) return 1;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
  PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(a));
  PetscCall(MatSetUp(a));
  PetscCall(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscInt begin, end;
  PetscCall(MatGetOwnershipRange(a, &begin, &end));
  for (int k = 0; k < entries; ++k) {
    int i, j;
    double value;
    if (fscanf(file, "%d %d %lf", &i, &j, &value) != 3) return 1;
    --i, --j;
    if (i >= begin && i < end) PetscCall(MatSetValue(a, i, j, value, INSERT_VALUES));
    if (i != j && j >= begin && j < end) PetscCall(MatSetValue(a, j, i, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecDuplicate(b, &rest));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, a, a));
  PetscCall(KSPSetFromOptions(solver));
  double const begun = MPI_Wtime();
  PetscCall(KSPSolve(solver, b, x));
  double const took = MPI_Wtime() - begun;
  PetscCall(KSPGetIterationNumber(solver, &steps));
  PetscCall(MatMult(a, x, rest));
  PetscCall(VecAYPX(rest, -1, b));
  PetscCall(VecNorm(rest, NORM_2, &left));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d steps, residual %.1e, %.3f s\n", steps, left / norm, took));
  PetscCall(PetscFinalize());
  return 0;
}
