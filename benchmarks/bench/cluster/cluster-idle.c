/* SPDX-License-Identifier: BSL-1.0 */
/* cluster-idle: preloaded into the ranks of an emulated cluster (see `cluster`).
 *
 * A cluster has a core for each rank; the machine that emulates it does not.  Open MPI
 * waits by polling, and calls sched_yield() each time it found nothing to do, which with
 * many ranks on few cores delays those that have work by many milliseconds.  Here
 * sched_yield() gives up the core for real: it sleeps until something happens on the
 * sockets that Open MPI polled last.
 *
 * A message in shared memory does not end the sleep.  So the sleep is at most a quarter
 * of the time that the rank has been idle already, and at most 2 ms.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef int64_t nanoseconds;

static const nanoseconds shortest = 20000, longest = 2000000;

enum { MOST = 1024 };
static __thread struct pollfd polled[MOST];
static __thread nfds_t count;
static __thread int passes = 2;  /* calls of poll() since the last sched_yield() */
static __thread nanoseconds idle_since;

static nanoseconds now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (nanoseconds)t.tv_sec * 1000000000 + t.tv_nsec;
}

int poll(struct pollfd *fds, nfds_t n, int timeout) {
  static int (*next)(struct pollfd *, nfds_t, int);
  if (!next) next = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
  if (!timeout && n <= MOST) memcpy(polled, fds, (count = n) * sizeof *fds);
  passes++;
  return next(fds, n, timeout);
}

int sched_yield(void) {
  nanoseconds start = now();
  /* Each pass of Open MPI's progress engine calls poll() once, and yields if it found
   * nothing.  A second pass means that the one before did find something. */
  if (passes > 1) idle_since = start;
  passes = 0;
  nanoseconds sleep = (start - idle_since) / 4;
  if (sleep < shortest) sleep = shortest;
  if (sleep > longest) sleep = longest;
  struct timespec limit = {0, sleep};
  ppoll(polled, count, &limit, NULL);
  return 0;
}
