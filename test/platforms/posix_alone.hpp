// SPDX-License-Identifier: BSL-1.0
// Included before all else, with -U__linux__: a system with POSIX and nothing of Linux. What only Linux has can not be
// named from here on.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#undef CPU_ZERO
#undef CPU_SET
#undef SYS_pidfd_open
#undef MFD_CLOEXEC
#undef MADV_DONTDUMP
#undef FALLOC_FL_PUNCH_HOLE
#pragma GCC poison memfd_create fallocate getrandom process_vm_readv sched_getaffinity cpu_set_t CPU_ZERO CPU_SET prctl
#pragma GCC poison SYS_pidfd_open MFD_CLOEXEC MADV_DONTDUMP FALLOC_FL_PUNCH_HOLE pthread_setaffinity_np
