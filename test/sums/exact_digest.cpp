// SPDX-License-Identifier: BSL-1.0
// Prints the digest, for compilers and options to be compared.
#include "exact_numbers.hpp"

#include <cinttypes>
#include <cstdio>

int main() { std::printf("%016" PRIx64 "\n", exact_numbers::digest()); }
