// SPDX-License-Identifier: BSL-1.0
// Up to how many ranks schedules are recorded: the sanitizers' builds say less.
#pragma once

#ifndef COLLIGO_TEST_MOST_RECORDED_RANKS
#define COLLIGO_TEST_MOST_RECORDED_RANKS 64
#endif
