// SPDX-License-Identifier: BSL-1.0
// Requests of MPI's, generalised ones, for calls that are served. A rank may be blocked anywhere in MPI while others
// wait for it in such a call, so somebody has to make progress for it:
//   MPICH      asks a request itself in MPI_Wait, MPI_Test and the like, by an extension. For a rank that is blocked
//              elsewhere, as in MPI_Recv, a thread makes progress. It calls nothing of MPI's: calls over shared memory
//              need none, and packed results and the end of the request are left to the program's own calls.
//   Open MPI   calls this library wherever it waits, by a function of its base library that its own parts use.
#include "requests.hpp"

#include <dlfcn.h>

#if defined(MPICH_VERSION)
#include <colligo/core/thread.hpp>

#include <semaphore.h>
#include <signal.h>
#include <time.h>
#endif

namespace drop_in {
namespace {

/// Requests that MPI has not been told to be complete. MPICH, which may call this library with locks of its own, is not
/// called with the mutex locked.
std::list<open_request*> open;
colligo::detail::recursive_mutex open_mutex;
std::atomic<bool> has_open = false;

}  // namespace

#if defined(MPICH_VERSION) || defined(OPEN_MPI)
namespace {

colligo::detail::requests_of_rank& all_requests() { return colligo::detail::mpi_state::all_requests(); }

extern "C" {
int query_request(void* of, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE, status->MPI_TAG = MPI_ANY_TAG;
  return static_cast<open_request const*>(of)->code();
}
int free_request(void* of) {
  std::unique_ptr<open_request> const request(static_cast<open_request*>(of));
  turn const mine;
  while (!request->look()) request->yield_core();   // MPICH frees it at MPI_Request_free, which MPI forbids
  return MPI_SUCCESS;
}
int cancel_request(void*, int) { return MPI_ERR_REQUEST; }   // as of a collective of MPI's
}

}  // namespace
#endif

#if defined(MPICH_VERSION)
namespace {

/// Makes progress for a rank that is blocked in MPI, every 100 us while requests are open.
class helper {
 public:
  static helper& of_process() {
    static helper made;
    return made;
  }
  /// After the start of a request.
  void wake() {
    std::atomic_thread_fence(std::memory_order_seq_cst);   // it looks for requests after it has said that it sleeps
    if (sleeps_.load(std::memory_order_relaxed) && sleeps_.exchange(false, std::memory_order_relaxed))
      sem_post(&woken_);
  }
  void end() {
    ends_ = true;
    sem_post(&woken_);
    thread_.reset();
  }

 private:
  helper() : all_(all_requests()) {
    sem_init(&woken_, 0, 0);
    int threads = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&threads);
    if (threads != MPI_THREAD_MULTIPLE) turn::guard.store(&turns_, std::memory_order_release);
    sigset_t every, before;   // signals are for the program's threads
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    try {
      thread_.emplace([](void* of) { static_cast<helper*>(of)->look(); }, this);
    } catch (colligo::error const& e) {
      std::fprintf(stderr, "%s; requests make progress only where the program waits for them\n", e.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~helper() { end(); }

  void look() {
    constexpr int naps_before_sleep = 50;
    timespec const nap{.tv_sec = 0, .tv_nsec = 100'000};
    for (int idle = 0; !ends_.load(std::memory_order_acquire);) {
      nanosleep(&nap, nullptr);
      if (all_.busy()) idle = 0, help();
      else if (++idle == naps_before_sleep) idle = 0, sleep();
    }
  }
  void help() {
    auto* const turns = turn::guard.load(std::memory_order_relaxed);
    if (!turns) return static_cast<void>(all_.progress());
    auto const mine = colligo::detail::locked::if_free(*turns);
    if (mine.is_held()) all_.progress();   // else the program is in the library, and makes progress itself
  }
  void sleep() {
    sleeps_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!all_.busy() && !ends_) sem_wait(&woken_);   // a signal, or a post of before, wakes it too early
    sleeps_.store(false, std::memory_order_relaxed);
  }

  colligo::detail::requests_of_rank& all_;
  colligo::detail::recursive_mutex turns_;
  sem_t woken_;   // a child of fork() may end without it
  std::atomic<bool> sleeps_ = false, ends_ = false;
  std::optional<colligo::detail::thread> thread_;   // last
};
std::atomic<bool> has_helper = false;

/// MPICH's extension; null in a library of the same interface that has none.
auto* polled_requests() {
  static auto* const found =
      reinterpret_cast<decltype(&PMPIX_Grequest_start)>(dlsym(RTLD_NEXT, "PMPIX_Grequest_start"));
  return found;
}

extern "C" {
int poll_request(void* of, MPI_Status*) {
  auto& request = *static_cast<open_request*>(of);
  turn const mine;
  if (!request.look()) request.yield_core();
  return MPI_SUCCESS;
}
int wait_for_requests(int n, void** all, double, MPI_Status*) {   // MPI_Waitall calls it until all are complete
  for (int i = 0; i < n; ++i) poll_request(all[i], nullptr);
  return MPI_SUCCESS;
}
}

int make_request(open_request* request, MPI_Request* handle) {
  helper::of_process().wake();
  return polled_requests()(&query_request, &free_request, &cancel_request, &poll_request, &wait_for_requests, request,
                           handle);
}
void end_request(MPI_Request handle) { PMPI_Grequest_complete(handle); }

}  // namespace

bool begins_progress() {
  if (!polled_requests()) return false;
  helper::of_process();
  return has_helper = true;
}
void end_progress() {
  if (has_helper) helper::of_process().end();
}
void look_at(MPI_Request of) {
  if (!has_open.load(std::memory_order_relaxed)) return;
  open_request* found = nullptr;
  {
    colligo::detail::locked const lock(open_mutex);
    for (auto* const request : open)
      if (request->handle() == of) found = request;
  }
  if (found) poll_request(found, nullptr);
}

#elif defined(OPEN_MPI)
namespace {

int make_request(open_request* request, MPI_Request* handle) {
  return PMPI_Grequest_start(&query_request, &free_request, &cancel_request, request, handle);
}
void end_request(MPI_Request handle) { PMPI_Grequest_complete(handle); }

/// Makes progress. Returns how many requests it has completed.
int look_at_all() {
  if (!has_open.load(std::memory_order_relaxed)) return 0;
  if (turn::is_taken()) return 0;   // the library lets MPI make progress, and makes its own itself
  turn const mine;
  auto const lock = colligo::detail::locked::if_free(open_mutex);
  if (!lock.is_held()) return 0;
  all_requests().progress();
  int completed = 0;
  for (auto at = open.begin(); at != open.end();) completed += (*at++)->look_without_progress();
  return completed;
}

}  // namespace

bool begins_progress() {
  static bool const begun = [] {
    auto const registers = reinterpret_cast<int (*)(int (*)())>(dlsym(RTLD_NEXT, "opal_progress_register"));
    return registers && registers(&look_at_all) == 0;
  }();
  return begun;
}
void end_progress() {}

#else
namespace {

int make_request(open_request*, MPI_Request*) { return MPI_ERR_OTHER; }
void end_request(MPI_Request) {}

}  // namespace

bool begins_progress() { return false; }
void end_progress() {}
#endif

namespace {

/// MPI knows no communicator of the request: errors of MPI_Wait go to the handler of MPI_COMM_WORLD or MPI_COMM_SELF.
/// So they are returned only if these return them too. The communicator's own handler has been called before.
bool errors_are_returned() {
  bool all = true;
  for (MPI_Comm const comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(comm, &handler);
    all &= handler == MPI_ERRORS_RETURN;
    PMPI_Errhandler_free(&handler);
  }
  return all;
}

}  // namespace

void open_request::give(std::unique_ptr<open_request> request, MPI_Request* to) {
  if (int const code = make_request(request.get(), &request->handle_); code != MPI_SUCCESS) {
    request->started.wait();
    request->made.write();
    check(code, "MPI_Grequest_start");
  }
  *to = request->handle_;
  colligo::detail::locked const lock(open_mutex);
  open.splice(open.end(), request->entry_);
  has_open = true;
  request.release();
}

void open_request::complete() {
  MPI_Comm const comm = state_.life ? comm_ : MPI_COMM_SELF;   // the program may have freed it
  code_ = answered(what_, comm, [this] {
    started.wait();
    made.write();
  });
  if (code_ != MPI_SUCCESS && !errors_are_returned()) code_ = MPI_SUCCESS;
  is_complete_ = true;
  started = {};   // its memory is used again by the next one
  made.made.reset();   // here, because MPI calls free_request with locks of its own
  {
    colligo::detail::locked const lock(open_mutex);
    open.erase(place_);
    has_open = !open.empty();
  }
  end_request(handle_);
}

}  // namespace drop_in
