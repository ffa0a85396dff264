/* SPDX-License-Identifier: BSL-1.0
   libmpi_abi.so.1 over an MPI library that has another interface: what a program finds where its MPI has the binary
   interface of MPI 5, with as many functions as tests call. Compiled once for each MPI library, by its header. That
   library is loaded apart, so that its functions, which have the same names, are not taken for these. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;
static void *find(char const *name) {
  void *const found = dlsym(library, name);
  if (!found) fprintf(stderr, "libmpi_abi: the MPI library has no %s\n", name), abort();
  return found;
}
#ifdef OPEN_MPI   /* its handles are addresses of its variables */
#define LIBRARY "libmpi.so.40"
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, variable) ((type)find(#variable))
#else
#define LIBRARY "libmpich.so.12"
#endif

/* Handles of MPI's own are the interface's numbers, all others the library's, which are never so low. */
static intptr_t vendor_of[0x300];
#define HANDLES(kind, first, last)                                              \
  static inline MPI_##kind vendor_##kind(ABI_##kind handle) {                   \
    intptr_t const x = (intptr_t)handle;                                        \
    return (MPI_##kind)(x >= first && x <= last ? vendor_of[x] : x);            \
  }                                                                             \
  static inline ABI_##kind abi_##kind(MPI_##kind handle) {                      \
    intptr_t const x = (intptr_t)handle;                                        \
    for (intptr_t i = first; i <= last; ++i)                                    \
      if (vendor_of[i] && vendor_of[i] == x) return (ABI_##kind)i;              \
    return (ABI_##kind)x;                                                       \
  }
struct pair { int abi, vendor; };
#define CONVERSION(of, to, kind)                                                \
  static inline int to##_##kind(int x) {                                        \
    for (size_t i = 0; i < sizeof kind##_pairs / sizeof *kind##_pairs; ++i)     \
      if (kind##_pairs[i].of == x) return kind##_pairs[i].to;                   \
    return x;                                                                   \
  }
#define NUMBERS(kind) CONVERSION(abi, vendor, kind) CONVERSION(vendor, abi, kind)
#include "abi.h"

static __typeof__(MPI_Get_elements_x) *get_elements;
static __typeof__(MPI_Status_set_elements_x) *set_elements;
static __typeof__(MPI_Type_size_x) *type_size;   /* Open MPI 4.1 has no MPI_Type_size_c */
__attribute__((constructor)) static void load(void) {
  library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!library) fprintf(stderr, "libmpi_abi: %s\n", dlerror()), abort();
  find_handles();
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char name[64];
    snprintf(name, sizeof name, "PMPI_%s", names[i]);
    void *found = dlsym(library, name);
    snprintf(name, sizeof name, "PMPIX_%s", names[i]);   /* what Open MPI 4.1 has of MPI 4 */
    if (!found) found = dlsym(library, name);
    memcpy((char *)&vendor + i * sizeof found, &found, sizeof found);
  }
  get_elements = find("PMPI_Get_elements_x");
  set_elements = find("PMPI_Status_set_elements_x");
  type_size = find("PMPI_Type_size_x");
}
static int missing(char const *name) {
  fprintf(stderr, "libmpi_abi: the MPI library has no MPI_%s\n", name);
  return ABI_ERR_UNSUPPORTED_OPERATION;
}

static void *vendor_buffer(void const *at) { return at == ABI_IN_PLACE ? MPI_IN_PLACE : (void *)at; }
/* The number of bytes stands in the private part. */
static void write_status(ABI_Status *to, MPI_Status *from, int has_error) {
  MPI_Count n = 0;
  get_elements(from, vendor_Datatype(ABI_BYTE), &n);
  to->ABI_SOURCE = abi_rank(from->MPI_SOURCE);
  to->ABI_TAG = abi_tag(from->MPI_TAG);
  if (has_error) to->ABI_ERROR = abi_code(from->MPI_ERROR);
  memcpy(to->ABI_internal, &n, sizeof n);
}

/* The name that begins with MPI_ is weak, because tools have it too. */
#define FUNCTION(result, name, parameters)                                                             \
  result abi_##name parameters __asm__("PMPI_" #name);                                                 \
  result weak_##name parameters __asm__("MPI_" #name) __attribute__((weak, alias("PMPI_" #name)));     \
  result abi_##name parameters
#include "forward.h"

FUNCTION(int, Abi_get_version, (int *major, int *minor)) {
  *major = 1, *minor = 0;
  return ABI_SUCCESS;
}
FUNCTION(int, Get_count, (ABI_Status const *status, ABI_Datatype type, int *count)) {
  MPI_Status own;
  MPI_Count n;
  memset(&own, 0, sizeof own);
  memcpy(&n, status->ABI_internal, sizeof n);
  set_elements(&own, vendor_Datatype(ABI_BYTE), n);
  int const code = vendor.Get_count(&own, vendor_Datatype(type), count);
  *count = abi_number(*count);
  return abi_code(code);
}
FUNCTION(int, Group_translate_ranks, (ABI_Group of, int n, int const in[], ABI_Group to, int out[])) {
  int own[n + 1];
  for (int i = 0; i < n; ++i) own[i] = vendor_rank(in[i]);
  int const code = vendor.Group_translate_ranks(vendor_Group(of), n, own, vendor_Group(to), out);
  for (int i = 0; i < n; ++i) out[i] = abi_rank(out[i]);
  return abi_code(code);
}
FUNCTION(int, Type_get_contents, (ABI_Datatype type, int integers, int addresses, int n, int integer[],
                                  MPI_Aint address[], ABI_Datatype of[])) {
  MPI_Datatype own[n + 1];
  int const code = vendor.Type_get_contents(vendor_Datatype(type), integers, addresses, n, integer, address, own);
  for (int i = 0; i < n && code == MPI_SUCCESS; ++i) of[i] = abi_Datatype(own[i]);
  return abi_code(code);
}

FUNCTION(int, Type_size_c, (ABI_Datatype type, MPI_Count *size)) {
  return abi_code(type_size(vendor_Datatype(type), size));
}

/* Callbacks get handles of the interface. Attributes have an address to carry the program's function. */
#define ATTRIBUTES(kind, name)                                                                                       \
  struct of_##name { ABI_##name##_copy_attr_function *copy; ABI_##name##_delete_attr_function *del; void *extra; };  \
  static int copy_##name(MPI_##kind of, int key, void *extra, void *in, void *out, int *is_copied) {                 \
    struct of_##name const *const mine = extra;                                                                      \
    *is_copied = mine->copy != NULL;                                                                                 \
    if ((intptr_t)mine->copy == 1) *(void **)out = in;   /* MPI_COMM_DUP_FN */                                       \
    if ((intptr_t)mine->copy <= 1) return MPI_SUCCESS;                                                               \
    return vendor_code(mine->copy(abi_##kind(of), key, mine->extra, in, out, is_copied));                            \
  }                                                                                                                  \
  static int delete_##name(MPI_##kind of, int key, void *value, void *extra) {                                       \
    struct of_##name const *const mine = extra;                                                                      \
    return mine->del ? vendor_code(mine->del(abi_##kind(of), key, value, mine->extra)) : MPI_SUCCESS;                \
  }                                                                                                                  \
  FUNCTION(int, name##_create_keyval, (ABI_##name##_copy_attr_function *copy,                                        \
                                       ABI_##name##_delete_attr_function *del, int *key, void *extra)) {             \
    struct of_##name *const mine = malloc(sizeof *mine);                                                             \
    *mine = (struct of_##name){copy, del, extra};                                                                    \
    return abi_code(vendor.name##_create_keyval(&copy_##name, &delete_##name, key, mine));                           \
  }
ATTRIBUTES(Comm, Comm)
ATTRIBUTES(Datatype, Type)

/* Operations and error handlers have none: a function of its own for each of the first 64 that are made. */
#define EIGHT(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)   /* octal, from 00 on */
#define EACH(F) EIGHT(F, 00) EIGHT(F, 01) EIGHT(F, 02) EIGHT(F, 03) EIGHT(F, 04) EIGHT(F, 05) EIGHT(F, 06) EIGHT(F, 07)
enum { most = 64 };
static ABI_User_function *operations[most];
static ABI_Comm_errhandler_function *handlers[most];
#define CALLBACKS(n)                                                                  \
  static void operation_##n(void *in, void *both, int *count, MPI_Datatype *type) {   \
    ABI_Datatype of = abi_Datatype(*type);                                            \
    operations[n](in, both, count, &of);                                              \
  }                                                                                   \
  static void handler_##n(MPI_Comm *comm, int *code, ...) {                           \
    ABI_Comm of = abi_Comm(*comm);                                                    \
    int error = abi_code(*code);                                                      \
    handlers[n](&of, &error);                                                         \
  }
EACH(CALLBACKS)
#define OPERATION(n) operation_##n,
#define HANDLER(n) handler_##n,
static MPI_User_function *const own_operations[most] = {EACH(OPERATION)};
static MPI_Comm_errhandler_function *const own_handlers[most] = {EACH(HANDLER)};
FUNCTION(int, Op_create, (ABI_User_function *function, int commutes, ABI_Op *op)) {
  static atomic_int made;
  int const n = atomic_fetch_add(&made, 1);
  if (n >= most) return missing("Op_create for so many");
  operations[n] = function;
  MPI_Op own;
  int const code = vendor.Op_create(own_operations[n], commutes, &own);
  *op = abi_Op(own);
  return abi_code(code);
}
FUNCTION(int, Comm_create_errhandler, (ABI_Comm_errhandler_function *function, ABI_Errhandler *handler)) {
  static atomic_int made;
  int const n = atomic_fetch_add(&made, 1);
  if (n >= most) return missing("Comm_create_errhandler for so many");
  handlers[n] = function;
  MPI_Errhandler own;
  int const code = vendor.Comm_create_errhandler(own_handlers[n], &own);
  *handler = abi_Errhandler(own);
  return abi_code(code);
}
