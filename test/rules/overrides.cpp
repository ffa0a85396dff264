// SPDX-License-Identifier: BSL-1.0
// What is chosen at run time: the environment's overrides, names with knobs, and explain, which prints it.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include <colligo/colligo.hpp>
#include <colligo/table.hpp>
#include <colligo/transport/threads/thread_state.hpp>
#include <colligo/core/strings.hpp>
#include <colligo/tools/measured.hpp>

#include "../locales.hpp"
#include "../thorough.hpp"
#include "../whole_family.hpp"

using namespace colligo;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// A variable of the environment while it lives.
struct variable {
  char const* name;
  variable(char const* which, char const* value) : name(which) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name); }
};

/// What f writes on stderr.
template <class F>
std::string on_stderr(F f) {
  std::fflush(stderr);
  int const before = ::dup(2);
  std::FILE* const file = std::tmpfile();
  ::dup2(::fileno(file), 2);
  f();
  std::fflush(stderr);
  ::dup2(before, 2), ::close(before);
  std::rewind(file);
  std::string said;
  for (int c; (c = std::fgetc(file)) != EOF;) said += static_cast<char>(c);
  std::fclose(file);
  return said;
}

}  // namespace

TEST_CASE("COLLIGO_EXPLAIN writes a line for each new collective, type, size class, algorithm and decider, on rank 0") {
  auto const calls = [] {
    run_threads(3, [](thread_communicator& comm) {
      std::vector<int> some(9), more(16);
      for (int i = 0; i < 3; ++i) {
        all_reduce(comm, in_place(some), std::plus<>{});
        all_reduce(comm, in_place(std::span(some).first(8)), std::plus<>{});   // 32 bytes, as 36 are
        all_reduce(comm, in_place(more), std::plus<>{}, over_shared_memory{ring{}});
        all_reduce(comm, 1.0f, std::plus<>{}, named("ring"));
        all_reduce(comm, 1.0f, std::plus<>{}, named("binary_tree"));
        all_reduce(comm, 1.0f, std::plus<>{}, ring{});
        iall_reduce(comm, in_place(std::span(some).first(1)), maximum{}).wait();
        barrier(checked(comm));
      }
    });
  };
  {
    variable const off("COLLIGO_EXPLAIN", "no");
    CHECK(on_stderr(calls).empty());
  }
  variable const on("COLLIGO_EXPLAIN", "1");
  std::string said = on_stderr(calls);
  // What std::plus<> is called is the compiler's to say.
  for (std::size_t at; (at = said.find("plus<void>")) != std::string::npos;) said.replace(at, 10, "plus<>");
  CHECK(std::ranges::count(said, '\n') == 7);
  CHECK_THAT(said, StartsWith("colligo: all_reduce of 9 int (36 bytes), grouped_doubling, std::plus<>: over shared "
                              "memory of threads, chosen by the papers' rules\n"));
  CHECK_THAT(said, Contains("all_reduce of 16 int (64 bytes), ring@shared_memory, std::plus<>: over shared memory of "
                            "threads, pinned by the program\n"));
  CHECK_THAT(said, Contains("1 float (4 bytes), ring, std::plus<>: over shared memory of threads, "
                           "named by the program\n"));
  CHECK_THAT(said, Contains("1 float (4 bytes), binary_tree, std::plus<>: over shared memory of threads, "
                           "named by the program\n"));
  CHECK_THAT(said, Contains("1 float (4 bytes), ring, std::plus<>: over shared memory of threads, "
                           "pinned by the program\n"));
  CHECK_THAT(said, Contains("barrier, dissemination: over shared memory of threads, chosen by the papers' rules\n"));
}

TEST_CASE("a switch that is neither on nor off is told of once, and counts as not set") {
  auto const calls = [] {
    for (int again = 0; again < 2; ++again)
      run_threads(2, [](thread_communicator& comm) { colligo::all_reduce(comm, 1, std::plus<>{}); });
  };
  for (char const* const name : {"COLLIGO_STRICT", "COLLIGO_CHECK", "COLLIGO_ADAPTIVE", "COLLIGO_EXPLAIN"}) {
    variable const asked(name, "maybe");
    std::string const trouble =
        std::string(name) + "=maybe: known values are 0 and 1, off and on, no and yes";
    CHECK(on_stderr(calls) == "colligo: " + trouble + "; it is ignored\n");
    if (name == std::string_view("COLLIGO_STRICT")) continue;
    variable const strict("COLLIGO_STRICT", "yes");
    CHECK_THROWS_WITH(calls(), Contains(trouble));
  }
}

TEST_CASE("variables that are none are told of once, with the nearest one that is, and refused if that is strict") {
  variable const wrong("COLLIGO_ALLREDUCE", "ring"), far("COLLIGO_FOO", "1");
  variable const of_a_test("COLLIGO_TEST_ANYTHING", "1"), of_cmake("COLLIGO_ROOT", "/opt/colligo");
  auto const calls = [] { run_threads(2, [](thread_communicator& comm) { barrier(comm); }); };
  auto const is_all = [](std::string said) {   // in either order
    std::string const near = "COLLIGO_ALLREDUCE is no variable of this library; the nearest is COLLIGO_ALL_REDUCE";
    std::string const other = "COLLIGO_FOO is no variable of this library";
    return said == "colligo: " + near + "; " + other || said == "colligo: " + other + "; " + near;
  };
  std::string said = on_stderr([&] { calls(), calls(); });
  constexpr std::string_view end = "; it is ignored\n";
  REQUIRE(said.ends_with(end));
  said.resize(said.size() - end.size());
  CHECK(is_all(said));
  variable const strict("COLLIGO_STRICT", "1");
  try {
    calls();
    FAIL("nothing was thrown");
  } catch (argument_error const& e) {
    CHECK(is_all(e.what()));
  }
}

TEST_CASE("what the environment wishes is taken where it is legal, and never breaks a program") {
  // Rank 1 meets 0 and 2 before itself: only the rotating ring gives "acb" there.
  auto const at_rank_1 = [](auto const& op) {
    std::string got;
    run_threads(3, [&](thread_communicator& comm) {
      for (int again = 0; again < 2; ++again) {
        auto const mine = colligo::all_reduce(comm, std::string(1, static_cast<char>('a' + comm.rank())), op);
        if (comm.rank() == 1) got = mine;
      }
    });
    return got;
  };
  auto const concatenate = [](std::string const& a, std::string const& b) { return a + b; };
  auto const commuting = as_commutative(concatenate);
  {
    variable const wish("COLLIGO_ALL_REDUCE", "rotating_ring");
    CHECK(at_rank_1(commuting) == "acb");
    auto const not_taken = [&] { return on_stderr([&] { CHECK(at_rank_1(concatenate) == "abc"); }); };
    CHECK_THAT(not_taken(), StartsWith("colligo: COLLIGO_ALL_REDUCE=rotating_ring is not used for some calls: "
                                       "rotating_ring reorders operands"));
    CHECK(not_taken().empty());   // told once
    variable const strict("COLLIGO_STRICT", "1");
    CHECK(at_rank_1(commuting) == "acb");
    CHECK_THROWS_WITH(at_rank_1(concatenate), Contains("COLLIGO_ALL_REDUCE=rotating_ring can not be used"));
    std::string rank_0;
    CHECK_THROWS(run_threads(3, [&](thread_communicator& comm) {
      try {
        colligo::all_reduce(comm, std::string("a"), concatenate);
      } catch (argument_error const& e) {
        if (comm.rank() == 0) rank_0 = e.what();
        throw;
      }
    }));
    CHECK_THAT(rank_0, StartsWith("colligo: all_reduce on rank 0 of 3: COLLIGO_ALL_REDUCE=rotating_ring") &&
                           Contains("as_commutative") && Contains("unset the variable"));
  }
  for (char const* wish : {"rings", "vendor", "shared_memory", "ring@memory", "off", "NO", "0", "automatic"}) {
    variable const named("COLLIGO_ALL_REDUCE", wish);
    CHECK(at_rank_1(commuting) == "abc");
    variable const strict("COLLIGO_STRICT", "on");
    bool const is_none = std::string_view("off NO 0 automatic").find(wish) != std::string_view::npos;
    if (is_none) CHECK(at_rank_1(commuting) == "abc");
    else CHECK_THROWS_AS(at_rank_1(commuting), argument_error);
  }
  for (char const* off : {"OFF", "no", "False"}) {
    variable const trace("COLLIGO_TRACE", off), tree("COLLIGO_TREE", off), check("COLLIGO_CHECK", off);
    CHECK(at_rank_1(concatenate) == "abc");
  }
}

TEST_CASE("a name says which of its parts is wrong, and numbers may have a unit") {
  auto const trouble = [](char const* name) {
    try {
      run_threads(1, [name](thread_communicator& comm) { colligo::all_reduce(comm, 1, std::plus<>{}, named(name)); });
    } catch (algorithm_error const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK_THAT(trouble("direct:slices=64x"), Contains("direct: \"64x\" is no value of slices"));
  CHECK_THAT(trouble("direct:slices=99999999999G"), Contains("\"99999999999G\""));
  CHECK_THAT(trouble("direct:slices=8,windows=3"), Contains("no knob \"windows\", its knobs are slices, window"));
  CHECK_THAT(trouble("direct:window"), Contains("window has no value"));
  CHECK_THAT(trouble("ring:block=1"), Contains("no knob \"block\", nor any other"));
  CHECK_THAT(trouble("ring:"), Contains("ring: a knob is missing after ':' or ',', but it has none"));
  CHECK_THAT(trouble("direct:@messages"), Contains("missing after ':' or ',', its knobs are slices, window"));
  CHECK_THAT(trouble("direct:slices=8,"), Contains("direct: a knob is missing"));
  CHECK_THAT(trouble("rng:block=1"),
             Contains("no algorithm is named \"rng:block=1\"; the nearest is ring; known are binary_tree, "));
  CHECK_THAT(trouble("nothing_like_it"), Contains("no algorithm is named \"nothing_like_it\"; known are "));
  CHECK_THAT(trouble("linear:block=1"), Contains("linear is no algorithm of this collective; known are binary_tree, "));
  CHECK_THAT(trouble("ring@wire"), Contains("@messages or @shared_memory, not @wire"));
  CHECK(record(named("direct:slices=2k,window=1M"), collective::all_reduce, 3, 4000).total_messages() ==
        record(direct{.slices = 2048, .window = 1 << 20}, collective::all_reduce, 3, 4000).total_messages());
  CHECK(record(named("direct:slices=2k"), collective::all_reduce, 3, 2048).rounds() == 1);
  CHECK(record(named("direct:slices=2k"), collective::all_reduce, 3, 2049).rounds() == 2);
}

TEST_CASE("the nearest word is the one with the fewest letters changed") {
  std::vector<std::string> const known{"COLLIGO_REDUCE", "COLLIGO_ALL_REDUCE", "COLLIGO_CHECK"};
  CHECK(detail::nearest_to("COLLIGO_ALLREDUCE", known) == "COLLIGO_ALL_REDUCE");
  CHECK(detail::nearest_to("COLLIGO_CHEKC", known) == "COLLIGO_CHECK");
  CHECK(detail::nearest_to("COLLIGO_REDUCES", known) == "COLLIGO_REDUCE");
}

TEST_CASE("explain says what a call would take, who decided, what it costs and why not another") {
  auto const text = [](int p, auto const& op, auto const& algorithm) {
    std::string said;
    run_threads(p, [&](thread_communicator& comm) {
      auto const mine = explain<double>(comm, collective::all_reduce, 100, op, algorithm);
      if (comm.rank() == 0) said = mine;
    });
    return said;
  };
  auto const first = [](double const& a, double const&) { return a; };
  auto const by_rules = text(4, std::plus<>{}, automatic{});
  CHECK_THAT(by_rules, StartsWith("all_reduce of 100 double (800 bytes), ") && Contains("on 4 ranks") &&
                           Contains("over shared memory of threads, chosen by the papers' rules") &&
                           Contains("predicted between hosts: ") &&
                           Contains("alternatives: ") && Contains("ring 6."));
  CHECK_THAT(by_rules, Contains("excluded: vendor is the MPI library's own"));
  CHECK_THAT(by_rules, !Contains("excluded: ring"));
  CHECK_THAT(text(4, first, automatic{}), Contains("excluded: ring reorders operands"));
  CHECK_THAT(text(4, first, ring{}), Contains("refused: ring reorders operands"));
  CHECK_THAT(text(4, std::plus<>{}, ring{}), Contains("ring over shared memory of threads, pinned by the program"));
  CHECK_THAT(text(4, std::plus<>{}, over_shared_memory{ring{}}),
             Contains("ring over shared memory of threads, pinned"));
  CHECK_THAT(text(4, std::plus<>{}, named("ring@shared_memory")),
             Contains("ring over shared memory of threads, named"));
  // As the price of the recorded schedule.
  std::array<char, 32> priced{};
  std::snprintf(priced.data(), priced.size(), "ring %.4g us",
                1e6 * price(record<double>(ring{}, collective::all_reduce, 4, 100), typical, sizeof(double)));
  CHECK_THAT(by_rules, Contains(priced.data()));
  variable const wish("COLLIGO_ALL_REDUCE", "ring");
  CHECK_THAT(text(4, std::plus<>{}, automatic{}), Contains("ring over shared memory of threads, set by "
                                                           "COLLIGO_ALL_REDUCE=ring"));
  CHECK_THAT(text(4, first, automatic{}), Contains("COLLIGO_ALL_REDUCE=ring is not used: ring reorders operands"));
  run_threads(2, [](thread_communicator& comm) {
    for (collective const c : collectives)
      if (explain<int>(comm, c, 7).empty()) throw std::runtime_error(std::string(name_of(c)) + " is not explained");
  });
}

namespace {

/// A table that the environment names, while it lives.
class table_file {
 public:
  explicit table_file(std::string const& text) : setting_("COLLIGO_TABLE", path) { std::ofstream(path) << text; }
  ~table_file() { std::remove(path); }

 private:
  static constexpr char path[] = "table_of_a_test";
  variable setting_;
};

constexpr char good_table[] =
    "# measured nowhere\n"
    "all_reduce double any      4 8    ring            # line 2\n"
    "all_reduce double any      4 2k   circulant\n"
    "all_reduce double commutes 4 32k  halving_doubling\n"
    "all_reduce double commutes 8 32k  ring\n"
    "all_reduce any    ordered  4 1M   binary_tree     # line 6\n"
    "all_reduce any    any      4 1k   rotating_ring\n"
    "all_reduce float  any      4 1k   vendor\n"
    "\n"
    "all_reduce float  any      4 4k   direct:slices=1k,window=2k@messages   # line 10\n"
    "all_gather any    any      3 64   ring\n"
    "all_reduce any    any      8/2 1k ring\n"
    "barrier    any    any      3 8    direct\n";

}  // namespace

TEST_CASE("a table of what was measured decides for what is nearest to its rows, the defaults elsewhere") {
  table_file const file(good_table);
  auto const says = []<class T>(T, int p, std::size_t n, auto const& op, collective what = collective::all_reduce) {
    std::string said;
    run_threads(p, [&](thread_communicator& comm) {
      auto const mine = explain<T>(comm, what, n, op);
      if (comm.rank() == 0) said = mine.substr(mine.find('\n') + 3, 90);
    });
    return said;
  };
  auto const by_row = [](char const* algorithm, int line) {
    return StartsWith(std::string(algorithm) + " over shared memory of threads, chosen by table table_of_a_test:" +
                      std::to_string(line) + '\n');
  };
  std::plus<> const sum;
  auto const first = [](double const& a, double const&) { return a; };
  CHECK_THAT(says(1.0, 4, 1, sum), by_row("ring", 2));
  CHECK_THAT(says(1.0, 4, 15, sum), by_row("ring", 2));           // 120 bytes; sqrt(8 * 2048) is 128
  CHECK_THAT(says(1.0, 4, 17, sum), by_row("circulant", 3));
  CHECK_THAT(says(1.0, 4, 512, sum), by_row("circulant", 3));     // twice what was measured
  CHECK_THAT(says(1.0, 4, 513, sum), Contains("by the papers' rules"));
  CHECK_THAT(says(1.0, 4, 2048, sum), by_row("halving_doubling", 4));
  CHECK_THAT(says(1.0, 5, 4096, sum), by_row("halving_doubling", 4));
  CHECK_THAT(says(1.0, 6, 4096, sum), by_row("ring", 5));         // nearer to 8, by logarithms
  CHECK_THAT(says(1.0, 9, 4096, sum), Contains("by the papers' rules"));
  CHECK_THAT(says(1.0, 3, 4096, sum), Contains("by the papers' rules"));
  CHECK_THAT(says(1, 4, 256, sum), by_row("rotating_ring", 7));
  CHECK_THAT(says(1.0, 4, 128000, first), by_row("binary_tree", 6));
  CHECK_THAT(says(1.0, 4, 1, first), Contains("by the papers' rules"));   // a ring reorders
  CHECK_THAT(says(1.0f, 4, 512, sum),
             StartsWith("direct over messages between threads, chosen by table table_of_a_test:10\n"));
  CHECK_THAT(says(1.0f, 4, 256, sum), by_row("rotating_ring", 7));   // threads have no vendor
  CHECK_THAT(says(1.0f, 8, 256, sum), Contains("by the papers' rules"));   // on one host
  CHECK_THAT(says(1, 3, 16, sum, collective::all_gather), by_row("ring", 11));
  CHECK_THAT(says(1, 3, 64, sum, collective::all_gather), Contains("by the papers' rules"));   // a block of 256 bytes
  CHECK_THAT(says(1, 3, 1, sum, collective::barrier), by_row("direct", 13));
  // Uneven blocks: none of the table's. The other variables are more specific.
  run_threads(3, [](thread_communicator& comm) {
    std::vector<std::size_t> const even{16, 16, 16}, uneven{0, 48, 0};
    std::vector<int> in(48), out(48);
    for (auto const& counts : {even, uneven, even}) {
      colligo::all_gatherv(comm, std::span(in).first(counts[static_cast<std::size_t>(comm.rank())]), out, counts);
      colligo::all_gather(comm, std::span(in).first(16), out);
      auto const took = latest_choice(comm, collective::all_gather);
      if (took != "ring@shared_memory") throw std::runtime_error("all_gather took " + took);
    }
  });
  // Of the program: the environment's wins.
  use_table("all_reduce any any 4 8 circulant", "mine");
  CHECK_THAT(says(1.0, 4, 1, sum), by_row("ring", 2));
  {
    variable const off("COLLIGO_TABLE", "off");
    CHECK_THAT(says(1.0, 4, 1, sum), StartsWith("circulant over shared memory of threads, chosen by table mine:1\n"));
    use_table_file("table_of_a_test");
    CHECK_THAT(says(1.0, 4, 1, sum), by_row("ring", 2));
    CHECK_THROWS_WITH(use_table("# nothing\nall_reduce", "mine"), StartsWith("colligo: mine:2: a row is"));
    CHECK_THROWS_WITH(use_table_file("no_such_file"), "colligo: no_such_file: cannot be opened");
    CHECK_THROWS_WITH(use_table_file("/tmp"), "colligo: /tmp: is no regular file");
    ::mkfifo("fifo_of_a_test", 0600);   // nobody writes
    CHECK_THROWS_WITH(use_table_file("fifo_of_a_test"), "colligo: fifo_of_a_test: is no regular file");
    ::unlink("fifo_of_a_test");
    use_table("");
    CHECK_THAT(says(1.0, 4, 1, sum), Contains("by the papers' rules"));
  }
  variable const again("COLLIGO_TABLE", "table_of_a_test"), wish("COLLIGO_ALL_REDUCE", "circulant");
  CHECK_THAT(says(1.0, 4, 1, sum), StartsWith("circulant over shared memory of threads, set by"));
}

TEST_CASE("a table that is none is not taken; where the environment is strict it is an error on every rank") {
  auto const all_ranks = [] {
    std::vector<std::string> said(3);
    run_threads(3, [&](thread_communicator& comm) {
      try {
        int const sum = colligo::all_reduce(comm, 1, std::plus<>{});
        said[static_cast<std::size_t>(comm.rank())] = std::to_string(sum);
      } catch (argument_error const& e) {
        said[static_cast<std::size_t>(comm.rank())] = e.what();
      }
    });
    return said;
  };
  struct wrong { char const *text, *reason; };
  for (auto const& [text, reason] : {
           wrong{"all_reduce any any 4 8", ":1: a row is \"collective type functor ranks bytes algorithm\", six words, "
                                           "this one has 5"},
           wrong{"\nall_reduce any any 4 8 ring ring", ":2: a row is"},
           wrong{"set COLLIGO_STRICT 1", ":1: a row that sets is \"set COLLIGO_LINES 2k\""},
           wrong{"set COLLIGO_LINES", ":1: a row that sets is"},
           wrong{"allreduce any any 4 8 ring", ":1: \"allreduce\" is no collective; the nearest is all_reduce"},
           wrong{"all_reduce any sum 4 8 ring", ":1: a functor is any, commutes or ordered, not \"sum\""},
           wrong{"all_reduce any any 0 8 ring", ":1: \"0\" is no number of ranks"},
           wrong{"all_reduce any any 4/5 8 ring", ":1: \"4/5\" is no number of ranks"},
           wrong{"all_reduce any any 4/ 8 ring", ":1: \"4/\" is no number of ranks"},
           wrong{"all_reduce any any 99999999999 8 ring", ":1: \"99999999999\" is no number of ranks"},
           wrong{"all_reduce any any 4 8x ring", ":1: \"8x\" is no number of bytes"},
           wrong{"all_reduce any any 4 8 rings", ":1: no algorithm is named \"rings\""},
           wrong{"all_reduce any any 4 8 ring:block=1", ":1: ring has no knob \"block\""},
           wrong{"all_reduce any any 4 8 automatic", ":1: no algorithm is named \"automatic\""},
           wrong{"all_reduce any any 4 8 ring\nall_reduce any any 4 9 ring\nall_reduce any any 4 8 direct",
                 ":3: line 1 is for the same"},
           wrong{"all_reduce any any 3 8 linear_ring", ":1: linear_ring has no form for all_reduce"},
       }) {
    table_file const file(text);
    std::string const at = std::string("COLLIGO_TABLE=table_of_a_test") + reason;
    CHECK_THAT(on_stderr([&] { CHECK(all_ranks() == std::vector<std::string>(3, "3")); }), Contains(at));
    variable const strict("COLLIGO_STRICT", "1");
    auto const said = all_ranks();
    for (int r = 0; r < 3; ++r)
      CHECK_THAT(said[static_cast<std::size_t>(r)],
                 StartsWith("colligo: all_reduce on rank " + std::to_string(r) + " of 3: " + at));
  }
  variable const absent("COLLIGO_TABLE", "no_such_file"), strict("COLLIGO_STRICT", "1");
  CHECK_THAT(all_ranks()[2], Contains("COLLIGO_TABLE=no_such_file: cannot be opened"));
}

TEST_CASE("whatever the text, a table is refused with its line, or its rows are in order") {
  std::mt19937 random(1);
  auto const below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  std::string_view const letters = " \t\n\r#:/@=,-0123456789kMGanyordelsum_\xff";
  int refused = 0, read = 0;
  for (int i = 0; i < tested::at_most(4000, 20000); ++i) {
    std::string text = good_table;
    for (std::size_t changes = below(4); changes > 0; --changes) {
      std::size_t const at = below(text.size());
      switch (below(4)) {
        case 0: text[at] = letters[below(letters.size())]; break;
        case 1: text.erase(at, below(20)); break;
        case 2: text.insert(at, text.substr(below(text.size()), below(60))); break;
        default: text.insert(at, 1, letters[below(letters.size())]);
      }
    }
    try {
      auto const rows = detail::measured_table::parse(text, "fuzz").rows;
      bool sound = true;
      for (std::size_t r = 0; r < rows.size(); ++r)
        sound = sound && rows[r].hosts >= 1 && rows[r].hosts <= rows[r].ranks && rows[r].line >= 1 &&
                (r == 0 || rows[r - 1].what <= rows[r].what);
      if (!sound) FAIL(text);
      ++read;
    } catch (argument_error const& e) {
      std::string_view const said = e.what();
      if (!said.starts_with("fuzz:") || said.find_first_not_of("0123456789", 5) != said.find(": ", 5))
        FAIL(text + e.what());
      ++refused;
    }
  }
  CHECK(refused > 200);
  CHECK(read > 200);
}

TEST_CASE("where lines end, chunks, and what is read are settings: the results are the same") {
  auto const ends_of_lines = [](std::size_t from_root, std::size_t from_all, std::size_t of_chunk) {
    run_threads(3, [=](thread_communicator& comm) {
      for (std::size_t const n : {1u, 7u, 8u, 9u, 255u, 256u, 5000u, 100000u}) {
        std::vector<double> sums(n, comm.rank() + 1);
        colligo::all_reduce(comm, in_place(sums), std::plus<>{}, over_shared_memory{recursive_doubling{}});
        if (sums != std::vector<double>(n, 6)) throw error("a wrong sum");
      }
      auto const& host = *static_cast<detail::thread_state&>(state_of<thread_communicator>::open(comm)).shared();
      if (host.longest_in_lines(true) != from_root || host.longest_in_lines(false) != from_all)
        throw error("lines end elsewhere");
      if (host.chunk_of(8) != of_chunk / 8) throw error("chunks are of another size");
    });
  };
  REQUIRE_NOTHROW(ends_of_lines(28 * 56, 25 * 56, 32 * 1024));
  variable const lines("COLLIGO_LINES", "64"), chunks("COLLIGO_CHUNKS", "1k");
  REQUIRE_NOTHROW(ends_of_lines(64, 64, 1024));
  variable const reads("COLLIGO_READ_MEMORY", "3k");
  REQUIRE_NOTHROW(ends_of_lines(64, 64, 1024));
  variable const least("COLLIGO_LINES", "1"), small("COLLIGO_CHUNKS", "1");
  REQUIRE_NOTHROW(ends_of_lines(1, 1, 8));
}

TEST_CASE("settings of the transport and of the network that are wrong are told of") {
  auto const call = [] { run_threads(2, [](thread_communicator& comm) { colligo::barrier(comm); }); };
  for (char const* wrong : {"1us", "1us,0GB/s", "-1us,2GB/s", "1us,2GB/s,", "1us,nanGB/s", "quick",
                            "1us,2GB/s,3", "1us,2GB/s,0GB/s", "1us,2GB/s,3GB/s,2us", "1us,2GB/s,3GB/s,1us,",
                            "1us,2GB/s,3GB/s,1us,-1ns", "1us,2GB/s,3GB/s,1us,1us", "1us,2GB/s,3GB/s,1us,1ns,1ns"}) {
    variable const network("COLLIGO_NETWORK", wrong);
    CHECK_THAT(on_stderr(call), Contains(std::string("COLLIGO_NETWORK=") + wrong + ": a message's latency"));
    variable const strict("COLLIGO_STRICT", "1");
    CHECK_THROWS_AS(call(), argument_error);
  }
  {
    variable const threshold("COLLIGO_READ_MEMORY", "much");
    CHECK_THAT(on_stderr(call), Contains("COLLIGO_READ_MEMORY=much: the least bytes"));
  }
  {
    variable const levels("COLLIGO_LEVELS", "off"), reads("COLLIGO_READ_MEMORY", "off");   // a value, not as if unset
    std::atomic<int> taken = 0;
    run_threads(2, [&](thread_communicator& comm) {
      colligo::all_reduce(comm, 1, std::plus<>{}, over_shared_memory{recursive_doubling{}});
      auto& state = static_cast<detail::thread_state&>(state_of<thread_communicator>::open(comm));
      auto const& host = *state.shared();
      taken += state.levels_off() && host.reads_as_asked() && !host.announces(std::size_t{1} << 40, 1, false, false);
    });
    CHECK(taken == 2);
    CHECK(on_stderr(call).empty());
  }
  {
    variable const stores_set("COLLIGO_STORES", "nontemporal");
    CHECK_THAT(on_stderr(call), Contains("COLLIGO_STORES=nontemporal: cached, streaming or measured is expected"));
  }
  {
    variable const lines("COLLIGO_LINES", "2kb"), chunks("COLLIGO_CHUNKS", "-1");
    CHECK_THAT(on_stderr(call), Contains("COLLIGO_LINES=2kb: the most bytes") &&
                                    Contains("COLLIGO_CHUNKS=-1: the bytes of a chunk"));
  }
  // 2 ms a message: a vector that halving_doubling is for otherwise is short.
  auto const takes = [] {
    std::string took;
    run_threads(8, [&](thread_communicator& comm) {
      std::vector<double> sums(1 << 14);
      colligo::all_reduce(comm, in_place(sums), std::plus<>{});
      if (comm.rank() == 0) took = latest_choice(comm, collective::all_reduce);
    });
    return took;
  };
  CHECK(takes() == "halving_doubling@shared_memory");
  {
    variable const slow("COLLIGO_NETWORK", "2000us,10GB/s");
    CHECK(takes() == "recursive_doubling@shared_memory");
  }
  {   // doubling combines the whole vector in every round
    variable const slow("COLLIGO_NETWORK", "2000us,10GB/s,0.00001GB/s");
    CHECK(takes() == "halving_doubling@shared_memory");
  }
  use_table("# of a slow network\nset COLLIGO_NETWORK 2000us,10GB/s\n", "mine");
  CHECK(takes() == "recursive_doubling@shared_memory");
  {
    variable const network("COLLIGO_NETWORK", "1us,10GB/s");   // the environment's wins
    CHECK(takes() == "halving_doubling@shared_memory");
  }
  // What tune --levels writes: if a line's way takes next to nothing, slices pay for shorter vectors.
  auto const takes_on_many_cores = [] {
    variable const levels("COLLIGO_LEVELS", "16");
    std::string took;
    run_threads(16, [&](thread_communicator& comm) {
      std::vector<double> values(64);
      colligo::all_reduce(comm, in_place(values), std::plus<>{});
      if (comm.rank() == 0) took = latest_choice(comm, collective::all_reduce);
    });
    return took;
  };
  auto const as_modelled = takes_on_many_cores();
  use_table("# 16 cores\nset COLLIGO_LATENCIES 1ns,1ns,1ns\n", "mine");
  CHECK(takes_on_many_cores() != as_modelled);
  {
    variable const latencies("COLLIGO_LATENCIES", "40ns,110ns,250ns");   // the environment's wins
    CHECK(takes_on_many_cores() == as_modelled);
    variable const wrong("COLLIGO_LATENCIES", "40ns,30ns,250ns");
    CHECK_THAT(on_stderr(call), Contains("COLLIGO_LATENCIES=40ns,30ns,250ns: the time of a cache line"));
  }
  use_table("set COLLIGO_CHUNKS many", "mine");
  CHECK_THAT(on_stderr(call), Contains("COLLIGO_CHUNKS=many: the bytes of a chunk"));
  use_table("");
  {   // 0 us, and then a comma, where decimals have one
    variable const slow("COLLIGO_NETWORK", "2000.5us,10.25GB/s,0.00001GB/s");
    other_locales const here;
    CHECK(on_stderr([&] { CHECK(takes() == "halving_doubling@shared_memory"); }) == "");
  }
  variable const overlapping("COLLIGO_NETWORK", "1us,10GB/s,10GB/s,0us");
  CHECK(takes() == "circulant@shared_memory");
}

namespace {

/// What all ranks take for such a call by now; throws unless it is the same.
std::string choice_of_all(thread_communicator& comm, std::size_t n) {
  std::string const said = explain<double>(comm, collective::all_reduce, n, std::plus<>{}, adaptive{});
  std::string const mine = said.substr(said.find("  "), said.find("predicted") - said.find("  "));
  std::vector<char> letters(120), all(letters.size() * static_cast<std::size_t>(comm.size()));
  std::copy_n(mine.begin(), std::min(mine.size(), letters.size()), letters.begin());
  colligo::all_gather(comm, letters, all, direct{});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != letters[i % letters.size()]) throw std::runtime_error("ranks differ: " + mine);
  return mine;
}
/// Wastes time, on some ranks more than on others.
struct slow_sum {
  int rank;
  unsigned* calls;
  double operator()(double a, double b) const {
    auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds(++*calls % 30 == 0 ? 5 * rank : 0);
    while (std::chrono::steady_clock::now() < until) {}
    return a + b;
  }
};
}  // namespace

template <>
inline constexpr bool colligo::commutative<slow_sum, double> = true;

TEST_CASE("adaptive: all ranks try, agree and stay together, whatever their times and in whatever order classes come") {
  for (int const p : {1, 2, 4}) {
    run_threads(p, [](thread_communicator& comm) {
      unsigned calls = 0;
      std::vector<double> const in(300, comm.rank() + 1.0);
      double const sum = comm.size() * (comm.size() + 1) / 2.0;
      for (int i = 0; i < 400; ++i) {   // none of them need have been decided
        std::size_t const n = i % 2 == 0 ? 1 : i % 3 == 0 ? 300 : 40;
        std::vector<double> out(n);
        colligo::all_reduce(comm, std::span(in).first(n), out, slow_sum{comm.rank(), &calls}, adaptive{});
        if (out != std::vector(n, sum)) throw std::runtime_error("wrong sum");
      }
      for (int i = 0; i < 700; ++i)
        if (colligo::all_reduce(comm, 1.0, std::plus<>{}, adaptive{}) != comm.size()) throw std::runtime_error("sum");
      if (choice_of_all(comm, 1).find("chosen by measurement") == std::string::npos)
        throw std::runtime_error("nothing was decided in 700 calls");
      double one = 1;
      colligo::iall_reduce(comm, in_place(one), std::plus<>{}, adaptive{}).wait();
      if (one != comm.size()) throw std::runtime_error("wrong sum of a request");
    });
  }
}

TEST_CASE("adaptive: it decides where each call stands alone among others") {
  run_threads(2, [](thread_communicator& comm) {
    std::vector<float> other(3);
    for (int i = 0; i < 400; ++i) {
      if (colligo::all_reduce(comm, 1.0, std::plus<>{}, adaptive{}) != 2) throw std::runtime_error("wrong sum");
      for (int k = 0; k < 8; ++k) colligo::all_reduce(comm, in_place(other), std::plus<>{});
    }
    if (choice_of_all(comm, 1).find("chosen by measurement") == std::string::npos)
      throw std::runtime_error("nothing was decided in 400 calls");
  });
}

TEST_CASE("adaptive: a call that a rank refuses leaves the ranks together") {
  run_threads(3, [](thread_communicator& comm) {
    for (int i = 0; i < 600; ++i) {
      std::vector<double> const in(8, 1.0);
      std::vector<double> out(i % 5 == 4 && comm.rank() == 1 ? 7 : 8);
      try {
        colligo::all_reduce(comm, in, out, std::plus<>{}, adaptive{});
        if (i % 5 != 4 && out[7] != 3) throw std::runtime_error("wrong sum");
      } catch (error const&) {
        if (i % 5 != 4) throw;
      }
    }
    if (choice_of_all(comm, 8).find("chosen by measurement") == std::string::npos)
      throw std::runtime_error("nothing was decided");
  });
}

TEST_CASE("COLLIGO_ADAPTIVE=1: automatic adapts, but to what the environment wishes; within one association if asked") {
  auto const after = [](int calls) {
    std::string said;
    run_threads(4, [&](thread_communicator& comm) {
      for (int i = 0; i < calls; ++i)
        if (colligo::all_reduce(comm, 1.0, std::plus<>{}) != 4) throw std::runtime_error("wrong sum");
      auto const mine = choice_of_all(comm, 1);
      if (comm.rank() == 0) said = mine;
    });
    return said;
  };
  CHECK_THAT(after(700), !Contains("chosen by measurement"));
  variable const on("COLLIGO_ADAPTIVE", "1");
  CHECK_THAT(after(10), !Contains("chosen by measurement"));
  CHECK_THAT(after(700), Contains("chosen by measurement"));
  {
    variable const stable("COLLIGO_BITS", "stable");
    auto const said = after(700);
    CHECK_THAT(said, Contains("chosen by measurement"));
    CHECK_THAT(said, Contains("recursive_doubling") || Contains("halving_doubling"));
  }
  variable const wish("COLLIGO_ALL_REDUCE", "ring");
  CHECK_THAT(after(700), !Contains("chosen by measurement"));
}

TEST_CASE("predict: formulas where cards have them, recorded schedules elsewhere, on the machine that was measured") {
  run_threads(4, [](thread_communicator& comm) {
    auto const expect = [](bool right, char const* what) { if (!right) throw std::runtime_error(what); };
    machine const slow{1e-5, 1e-9, 1e-9};
    auto const all = predict<double>(comm, collective::all_reduce, 1000, std::plus<>{}, slow);
    expect(all.size() >= 10, "few algorithms");
    for (std::size_t i = 1; i < all.size(); ++i) expect(all[i - 1].seconds <= all[i].seconds, "not sorted");
    bool recorded = false, ring_is_there = false;
    for (auto const& each : all) {
      recorded |= !each.by_formula;
      double const as_recorded = price(record(named(each.name), collective::all_reduce, 4, 8000), slow);
      if (each.name != "direct")   // its steps overlap
        expect(std::abs(each.seconds / as_recorded - 1) < 1e-9, "not the price of the schedule");
      ring_is_there |= each.name == "ring";
    }
    expect(recorded && ring_is_there, "nothing was recorded, or no ring");
    auto const first = [](double const& a, double const&) { return a; };
    for (auto const& each : predict<double>(comm, collective::all_reduce, 1000, first))
      expect(each.name != "ring", "the ring reorders");
    for (collective const c : collectives) expect(!predict<int>(comm, c, 8).empty(), "nothing is predicted");
    auto const began = std::chrono::steady_clock::now();
    machine const here = measured_machine<double>(comm, std::plus<>{});
    expect(std::chrono::steady_clock::now() - began < std::chrono::seconds(5), "measuring takes long");
    expect(here.alpha > 1e-9 && here.alpha < 1 && here.beta > 0 && here.beta < 1e-3 && here.gamma > 0, "no machine");
    machine const again = measured_machine<bool>(comm, std::logical_or<>{}, false);
    expect(again.alpha == here.alpha && again.beta == here.beta, "measured anew");
    std::vector<machine> machines(4);
    colligo::all_gather(comm, std::span(&here, 1), machines);
    for (machine const& m : machines) expect(m == here, "ranks differ");
  });
}

// What comes before a call has to be alike on all ranks, although rank 0 alone explains it.
TEST_CASE("every call is right under every variable, on few ranks and on many") {
  struct setting { char const *name, *value; };
  auto const file = std::string("/tmp/colligo-test-") + std::to_string(::getpid()) + ".trace";
  for (setting const wrong :
       {setting{"COLLIGO_EXPLAIN", "1"}, {"COLLIGO_CHECK", "1"}, {"COLLIGO_ADAPTIVE", "1"}, {"COLLIGO_SUM", "exact"},
        {"COLLIGO_BITS", "stable"}, {"COLLIGO_LEVELS", "2x4x8"}, {"COLLIGO_PATIENCE", "60s"}, {"COLLIGO_STRICT", "1"},
        {"COLLIGO_TRACE", file.c_str()}, {"COLLIGO_LINES", "8"}, {"COLLIGO_CHUNKS", "64"},
        {"COLLIGO_READ_MEMORY", "16"}, {"COLLIGO_STORES", "streaming"}})
    for (int const p : {3, 8, 40}) {
      if (p > tested::at_most(8, 40)) break;   // mpi.checked.variables.p40 has some of them
      variable const set(wrong.name, wrong.value);
      INFO(wrong.name << "=" << wrong.value << ", " << p << " ranks");
      on_stderr([&, p = p] {
        REQUIRE_NOTHROW(run_threads(p, [&](thread_communicator& comm) {
          for (std::size_t const n : {1u, 30u}) {
            whole_family(comm, automatic{}, wrong.name, n);
            whole_family(comm, named("direct@shared_memory"), wrong.name, n);
          }
        }));
      });
    }
  std::remove(file.c_str());
}
