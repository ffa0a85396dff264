// SPDX-License-Identifier: BSL-1.0
/// @file
/// The library's semantic version: incompatible changes raise the first number that is not 0. Every public header
/// includes it; CMake and the recipes of packages read it here.
#pragma once

#define COLLIGO_VERSION_MAJOR 0
#define COLLIGO_VERSION_MINOR 2
#define COLLIGO_VERSION_PATCH 0
/// As one number: 10203 is 1.2.3.
#define COLLIGO_VERSION (COLLIGO_VERSION_MAJOR * 10000 + COLLIGO_VERSION_MINOR * 100 + COLLIGO_VERSION_PATCH)
