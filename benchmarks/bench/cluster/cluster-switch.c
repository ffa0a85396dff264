/* SPDX-License-Identifier: BSL-1.0 */
/* cluster-switch: the emulated Ethernet switch behind the `cluster` script.
 *
 *   cluster-switch HOSTS RATE DELAY SPLIT WAN_DELAY WAN_RATE MTU
 *
 * Creates the TUN interfaces link0 (the front end) and link1..linkHOSTS (one per
 * host), prints "ready", and forwards IPv4 packets between them by the last byte
 * of the destination address: host i has x.x.x.i, the front end x.x.x.254.
 *
 * A packet from host a to host b goes through, in this order,
 *   a's uplink    sent at RATE, one packet at a time;
 *   the WAN       only if a <= SPLIT < b or the reverse: sent at WAN_RATE, one packet
 *                 at a time in each direction, then delayed by WAN_DELAY;
 *   b's downlink  sent at RATE, one packet at a time, then delayed by DELAY.
 * It waits in a first-in-first-out queue before each of them; no packet is dropped.
 * So an idle network delivers a packet of S bits after 2 * S / RATE + DELAY, which is
 * what a store-and-forward switch does.  S includes the Ethernet framing.  Rate 0 is
 * unlimited.  To and from the front end nothing is delayed or counted.
 *
 * On SIGTERM it writes what it forwarded to stderr, and ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MAX_HOSTS = 200, FRONT_END = 254, MAX_MTU = 65535 };
enum stage { AT_WAN, AT_DOWNLINK, AT_HOST };  /* where a packet arrives next */

typedef int64_t nanoseconds;

struct line { double rate; nanoseconds free_at; };  /* bits per second; 0: unlimited */

struct packet {
  nanoseconds due;   /* when it arrives at `stage` */
  uint64_t order;    /* keeps packets that are due together in order */
  enum stage stage;
  int from, to, size;
  unsigned char bytes[];
};

static int hosts, split, mtu;
static nanoseconds delay, wan_delay;
static struct line uplink[MAX_HOSTS + 1], downlink[MAX_HOSTS + 1], wan[2];
static struct pollfd port[MAX_HOSTS + 1];

static struct packet **heap;
static size_t waiting, room;

static uint64_t lan_packets, lan_bytes, wan_packets, wan_bytes, lost;
static double late_sum, late_max;

static volatile sig_atomic_t stopping;
static void stop(int sig) { (void)sig; stopping = 1; }

static void die(const char *what) {
  fprintf(stderr, "cluster-switch: %s: %s\n", what, strerror(errno));
  exit(1);
}

static nanoseconds now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (nanoseconds)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- packets in flight: a binary heap, earliest first ------------------------- */

static int earlier(const struct packet *a, const struct packet *b) {
  return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void push(struct packet *p) {
  static uint64_t order;
  if (waiting == room) {
    room = room ? 2 * room : 1024;
    if (!(heap = realloc(heap, room * sizeof *heap))) die("out of memory");
  }
  p->order = order++;
  size_t i = waiting++;
  for (; i && earlier(p, heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = p;
}

static struct packet *pop(void) {
  struct packet *first = heap[0], *last = heap[--waiting];
  size_t i = 0, child;
  while ((child = 2 * i + 1) < waiting) {
    if (child + 1 < waiting && earlier(heap[child + 1], heap[child])) child++;
    if (!earlier(heap[child], last)) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
  return first;
}

/* --- the model ------------------------------------------------------------------ */

/* When a packet that reaches the line at `t` has been sent completely. */
static nanoseconds send_over(struct line *line, nanoseconds t, int size) {
  if (line->rate <= 0) return t;
  int frame = size + 18 < 64 ? 64 : size + 18;  /* header and checksum; the minimum */
  if (t < line->free_at) t = line->free_at;
  t += (nanoseconds)((frame + 20) * 8e9 / line->rate);  /* preamble and gap */
  return line->free_at = t;
}

static void deliver(struct packet *p) {
  if (write(port[p->to].fd, p->bytes, (size_t)p->size) < 0) lost++;
  free(p);
}

/* Moves on every packet that has arrived somewhere.  The next step counts from when a
 * packet was due, not from now, so that being late once does not add up. */
static void advance(void) {
  while (waiting && heap[0]->due <= now()) {
    struct packet *p = pop();
    if (p->stage == AT_WAN) {
      p->due = send_over(&wan[p->from > split], p->due, p->size) + wan_delay;
      p->stage = AT_DOWNLINK;
      wan_packets++, wan_bytes += (uint64_t)p->size;
      push(p);
    } else if (p->stage == AT_DOWNLINK) {
      p->due = send_over(&downlink[p->to], p->due, p->size) + delay;
      p->stage = AT_HOST;
      lan_packets++, lan_bytes += (uint64_t)p->size;
      push(p);
    } else {
      double late = (double)(now() - p->due);
      late_sum += late;
      if (late > late_max) late_max = late;
      deliver(p);
    }
  }
}

/* Takes in up to 64 packets from one port. */
static void receive(int from) {
  static unsigned char bytes[MAX_MTU];
  for (int n = 0; n < 64; n++) {
    ssize_t size = read(port[from].fd, bytes, sizeof bytes);
    if (size < 0) return;
    if (size < 20 || bytes[0] >> 4 != 4) continue;  /* IPv4 only */
    int to = bytes[19] == FRONT_END ? 0 : bytes[19];
    if (to > hosts || to == from) continue;
    struct packet *p = malloc(sizeof *p + (size_t)size);
    if (!p) die("out of memory");
    memcpy(p->bytes, bytes, (size_t)size);
    p->from = from, p->to = to, p->size = (int)size;
    if (!from || !to) {
      deliver(p);
      continue;
    }
    p->due = send_over(&uplink[from], now(), p->size);
    p->stage = (from <= split) != (to <= split) ? AT_WAN : AT_DOWNLINK;
    push(p);
  }
}

/* --- set-up ----------------------------------------------------------------------- */

static double number(const char *text, const char *const *units, const double *scale) {
  char *unit;
  double value = strtod(text, &unit);
  for (int i = 0; unit != text && value >= 0 && units[i]; i++)
    if (!strcmp(unit, units[i]) || (value == 0 && !*unit)) return value * scale[i];
  fprintf(stderr, "cluster-switch: '%s' is not a number with a unit of", text);
  for (int i = 0; units[i]; i++) fprintf(stderr, " %s", units[i]);
  fputc('\n', stderr);
  exit(2);
}

static nanoseconds duration(const char *text) {
  static const char *const units[] = {"ns", "us", "ms", "s", NULL};
  static const double scale[] = {1, 1e3, 1e6, 1e9};
  return (nanoseconds)number(text, units, scale);
}

static double rate(const char *text) {
  static const char *const units[] = {"bit", "kbit", "mbit", "gbit", NULL};
  static const double scale[] = {1, 1e3, 1e6, 1e9};
  return number(text, units, scale);
}

static void open_port(int i) {
  struct ifreq request = {0};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  snprintf(request.ifr_name, sizeof request.ifr_name, "link%d", i);
  port[i].fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  if (port[i].fd < 0) die("cannot open /dev/net/tun");
  if (ioctl(port[i].fd, TUNSETIFF, &request) < 0) die("cannot make a TUN interface");
  port[i].events = POLLIN;
}

int main(int argc, char **argv) {
  if (argc != 8) {
    fprintf(stderr, "usage: cluster-switch HOSTS RATE DELAY SPLIT WAN_DELAY WAN_RATE MTU\n");
    return 2;
  }
  hosts = atoi(argv[1]);
  split = atoi(argv[4]);
  mtu = atoi(argv[7]);
  delay = duration(argv[3]);
  wan_delay = duration(argv[5]);
  wan[0].rate = wan[1].rate = rate(argv[6]);
  if (hosts < 1 || hosts > MAX_HOSTS || split < 0 || split > hosts || mtu < 576 || mtu > MAX_MTU) {
    fprintf(stderr, "cluster-switch: HOSTS must be 1 to %d, SPLIT 0 to HOSTS, MTU 576 to %d\n",
            MAX_HOSTS, MAX_MTU);
    return 2;
  }
  if (!split) split = hosts;  /* one cluster, no WAN */
  for (int i = 0; i <= hosts; i++) {
    uplink[i].rate = downlink[i].rate = rate(argv[2]);
    open_port(i);
  }
  struct sigaction on_term = {.sa_handler = stop};
  sigaction(SIGTERM, &on_term, NULL);

  /* Ahead of the ranks, which may keep every core busy.  Only worth a warning. */
  struct sched_param priority = {.sched_priority = 10};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) < 0)
    fprintf(stderr, "cluster-switch: no real-time priority; the delays will be less exact\n");
  mlockall(MCL_CURRENT);

  puts("ready");
  fflush(stdout);

  /* A sleep ends late by some 20 us.  The loop learns by how much and sleeps that much
   * shorter; when it is awake too early, it polls until the packet is due.  It may poll a
   * quarter of the time, in the long run: the kernel halts a real-time process that
   * never sleeps, and the ranks need the core. */
  double oversleep = 20e3, credit = 0;
  while (!stopping) {
    nanoseconds sleep = 1000000000, start = now();
    if (waiting) {
      nanoseconds wait = heap[0]->due - start;
      sleep = wait - (nanoseconds)oversleep;
      if (sleep < 0 && (sleep = credit > 0 ? 0 : wait) < 0) sleep = 0;
    }
    struct timespec limit = {sleep / 1000000000, sleep % 1000000000};
    int ready = ppoll(port, (nfds_t)hosts + 1, &limit, NULL);
    double spent = (double)(now() - start);
    if (!ready && sleep && spent - (double)sleep < 100e3)
      oversleep += (spent - (double)sleep - oversleep) / 16;
    credit += sleep ? spent / 4 : -spent;
    if (credit > 1e6) credit = 1e6;
    if (ready > 0)
      for (int i = 0; i <= hosts; i++)
        if (port[i].revents & POLLIN) receive(i);
    advance();
  }
  fprintf(stderr,
          "cluster: %llu packets, %llu bytes between hosts; %llu packets, %llu bytes over the WAN\n"
          "cluster: delivered late by %.1f us on average, %.1f us at most; %llu packets lost\n",
          (unsigned long long)lan_packets, (unsigned long long)lan_bytes,
          (unsigned long long)wan_packets, (unsigned long long)wan_bytes,
          lan_packets ? late_sum / (double)lan_packets / 1e3 : 0, late_max / 1e3,
          (unsigned long long)lost);
  return 0;
}
