// SPDX-License-Identifier: BSL-1.0
/// @file
/// sparse_all_to_all by each way, beside what one writes with MPI: ranks know to whom they send, not who sends to them.
///   mpirun -n 4 sparse --messages 3 --bytes 8,1024
///   benchmarks/model/simulate --program sparse --platform two_level --ranks 512 --messages 16 --bytes 64
/// Every result is compared with the digraph before it is timed.
#include <colligo/exchange.hpp>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "options.hpp"

namespace bench {
namespace {

struct options {
  int messages = 4, receivers = 0;
  std::vector<std::size_t> sizes{8, 1024, 65536};
  std::vector<std::string> ways{"messages",  "nbx",   "all_to_all_v", "counters",
                                "consensus", "dense", "by_host",      "automatic"};
  plan how;
  bool no_pin = false;
  std::string csv;
};

/// A barrier by dissemination that is tested. Not MPI_Ibarrier, which in SMPI 3.32 waits for rank 0 alone.
class tested_barrier {
 public:
  tested_barrier(MPI_Comm comm, int rank, int p, int tag) : comm_(comm), rank_(rank), p_(p), tag_(tag) { next(); }
  /// True when all ranks have made it.
  bool is_over() {
    int done = 0;
    while (distance_ < p_) {
      MPI_Testall(2, both_, &done, MPI_STATUSES_IGNORE);
      if (done == 0) return false;
      distance_ *= 2, next();
    }
    return true;
  }

 private:
  void next() {
    if (distance_ >= p_) return;
    MPI_Isend(nullptr, 0, MPI_CHAR, (rank_ + distance_) % p_, tag_, comm_, &both_[0]);
    MPI_Irecv(nullptr, 0, MPI_CHAR, (rank_ + p_ - distance_) % p_, tag_, comm_, &both_[1]);
  }

  MPI_Comm comm_;
  int rank_, p_, tag_, distance_ = 1;
  MPI_Request both_[2]{};
};

/// A digraph of messages of one length, and what each contender makes of it.
class exchanges final : public contest {
 public:
  exchanges(options const& o, bool crowded) : names_(o.ways), crowded_(crowded) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &p_);
    for (int r = 0; r < p_; ++r)
      for (int const to : targets_of(r, o)) {
        if (r == rank_) targets_.push_back(to);
        if (to == rank_) sources_.push_back(r);
      }
  }
  ~exchanges() override { MPI_Comm_free(&comm_); }
  exchanges(exchanges const&) = delete;
  exchanges& operator=(exchanges const&) = delete;

  std::vector<std::string> const& names() const override { return names_; }
  std::size_t element_size() const override { return 1; }
  int calls_per_input() const override { return 1 << 16; }
  void refresh(std::size_t, int) override {}
  void resize(std::size_t bytes) override {
    bytes_ = bytes;
    out_.clear();
    for (int const to : targets_) out_.emplace_back(to, std::vector<char>(bytes, letter(rank_, to)));
  }
  void run(std::size_t contender, int calls) override {
    std::string const& way = names_[contender];
    for (int i = 0; i < calls; ++i) {
      if (way == "messages") known_messages();
      else if (way == "nbx") by_hand();
      else if (way == "all_to_all_v") counts_and_blocks();
      else got_ = colligo::sparse_all_to_all(library_, out_, colligo::named(way));
    }
  }
  std::string check(std::size_t contender) override {
    run(contender, 1);
    std::map<int, std::string> wanted, came;
    for (int const from : sources_) wanted[from] = std::string(bytes_, letter(from, rank_));
    for (auto const& [from, values] : got_) came[from].append(values.begin(), values.end());
    return came == wanted ? std::string() : names_[contender] + ": wrong messages on rank " + std::to_string(rank_);
  }

 private:
  static char letter(int from, int to) { return static_cast<char>('a' + (from * 7 + to) % 26); }
  // Some others by chance; or the last ranks, to which all others send.
  std::vector<int> targets_of(int rank, options const& o) const {
    std::vector<int> all;
    int const first = p_ - o.receivers;
    for (int to = first; o.receivers > 0 && rank < first && to < p_; ++to) all.push_back(to);
    if (o.receivers > 0) return all;
    std::mt19937 random(static_cast<unsigned>(rank));
    for (int to = 0, left = o.messages; to < p_; ++to) {
      int const others = p_ - to - (rank >= to);
      if (to == rank || left == 0 || static_cast<int>(random() % static_cast<unsigned>(others)) >= left) continue;
      all.push_back(to), --left;
    }
    return all;
  }
  int count() const { return static_cast<int>(bytes_); }
  std::vector<MPI_Request> sent(int tag, bool acknowledged) {
    std::vector<MPI_Request> requests(out_.size());
    auto const send = acknowledged ? &MPI_Issend : &MPI_Isend;
    for (std::size_t i = 0; i < out_.size(); ++i)
      send(out_[i].second.data(), count(), MPI_CHAR, out_[i].first, tag, comm_, &requests[i]);
    return requests;
  }

  // What it would take if ranks knew who sends, behind a barrier.
  void known_messages() {
    MPI_Barrier(comm_);
    got_ = {std::vector<char>(sources_.size() * bytes_), sources_, std::vector(sources_.size(), bytes_)};
    std::vector<MPI_Request> requests(sources_.size());
    for (std::size_t i = 0; i < sources_.size(); ++i)
      MPI_Irecv(got_.data.data() + i * bytes_, count(), MPI_CHAR, sources_[i], 1, comm_, &requests[i]);
    auto const out = sent(1, false);
    requests.insert(requests.end(), out.begin(), out.end());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  // NBX, as in many programs.
  void by_hand() {
    got_ = {};
    int const tag = 2 + (++rounds_ & 1);
    auto requests = sent(tag, true);
    std::optional<tested_barrier> agreement;
    for (bool is_over = false; !is_over;) {
      int there = 0, n = 0, all_taken = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status);
      if (there != 0) {
        MPI_Get_count(&status, MPI_CHAR, &n);
        std::size_t const first = got_.data.size();
        got_.data.resize(first + static_cast<std::size_t>(n));
        MPI_Recv(got_.data.data() + first, n, MPI_CHAR, status.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE);
        got_.sources.push_back(status.MPI_SOURCE), got_.counts.push_back(static_cast<std::size_t>(n));
      } else if (crowded_) {
        sched_yield();
      }
      if (agreement) {
        is_over = agreement->is_over();
      } else {
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all_taken, MPI_STATUSES_IGNORE);
        if (all_taken != 0) agreement.emplace(comm_, rank_, p_, tag + 2);
      }
    }
  }
  void counts_and_blocks() {
    auto const p = static_cast<std::size_t>(p_);
    std::vector<int> to(p), from(p), to_at(p), from_at(p);
    for (int const r : targets_) to[static_cast<std::size_t>(r)] = count();
    MPI_Alltoall(to.data(), 1, MPI_INT, from.data(), 1, MPI_INT, comm_);
    got_ = {};
    std::vector<char> joined;
    int all = 0;
    for (std::size_t r = 0, next = 0; r < p; all += from[r++]) {
      from_at[r] = all, to_at[r] = static_cast<int>(joined.size());
      if (to[r] != 0) joined.insert(joined.end(), out_[next].second.begin(), out_[next].second.end()), ++next;
      if (from[r] != 0) got_.sources.push_back(static_cast<int>(r)), got_.counts.push_back(bytes_);
    }
    got_.data.resize(static_cast<std::size_t>(all));
    MPI_Alltoallv(joined.data(), to.data(), to_at.data(), MPI_CHAR, got_.data.data(), from.data(), from_at.data(),
                  MPI_CHAR, comm_);
  }

  std::vector<std::string> const names_;
  communicator const library_ = world();
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool crowded_;
  int rank_ = 0, p_ = 1;
  unsigned rounds_ = 0;
  std::size_t bytes_ = 0;
  std::vector<int> targets_, sources_;
  std::vector<std::pair<int, std::vector<char>>> out_;
  colligo::received<char> got_;
};

int sparse(int argc, char** argv) {
  int rank = 0, p = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  options o;
  CLI::App app("Times messages to ranks that do not know who sends: by the library's ways, a barrier and messages "
               "between ranks that know, NBX by hand, MPI_Alltoall of counts and MPI_Alltoallv.", "sparse");
  app.add_option("--messages", o.messages, "of each rank, to others by chance")->check(CLI::Range(0, 1000000));
  app.add_option("--receivers", o.receivers, "instead: all ranks but these send to these")->check(CLI::Range(0, p));
  app.add_option("--bytes", o.sizes, "of a message")->delimiter(',')->capture_default_str();
  app.add_option("--ways", o.ways, "to time; messages, nbx and all_to_all_v are by hand")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--repeats", o.how.repeats, "samples of each")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--sample-us", o.how.sample_us, "least length of a sample")->capture_default_str();
  app.add_flag("--no-pin", o.no_pin, "leave the ranks where the launcher has put them");
  app.add_option("--csv", o.csv, "write the table to this file too");
  if (auto const code = read_options(app, argc, argv, rank)) return *code;
  auto const seats = take_seats(!o.no_pin);
  o.how.crowded = seats.crowded;
  exchanges all(o, seats.crowded);
  std::string table = "algorithm,ranks,messages,receivers,bytes,min_us,median_us,mpi\n";
  for (std::size_t const bytes : o.sizes)
    for (auto const& way : measure(all, bytes, o.how, [](std::string const&) {}))
      table += fmt::format("{},{},{},{},{},{:.12g},{:.12g},{}\n", way.name, p,
                           o.receivers > 0 ? o.receivers : o.messages, o.receivers, bytes, way.us.min, way.us.median,
                           mpi_name());
  if (rank != 0) return 0;
  fmt::print("{}\n{}", describe(seats, p), table);
  if (!o.csv.empty()) write_file(o.csv, table);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_under_mpi(argc, argv, [&] { return bench::sparse(argc, argv); });
}
