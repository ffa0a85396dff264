// SPDX-License-Identifier: BSL-1.0
// The smallest transport that there is: ranks are threads that put letters into each other's boxes. Bytes alone; a send
// is done when its letter is in the box. What a transport has to write (include/colligo/adding.md) and no more.
#include <catch2/catch.hpp>

#include <colligo/colligo.hpp>
#include <colligo/engine/requests.hpp>
#include <colligo/engine/waiting_state.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace letters {

namespace detail = colligo::detail;

struct boxes {
  std::mutex mutex;
  std::map<std::array<int, 3>, std::deque<std::vector<std::byte>>> of;   // sender, receiver, number of the call
  std::atomic<bool> abandoned = false;
};

class steps final : public detail::moving_step {
 public:
  steps(boxes& all, int rank, detail::working_vector& data) : all_(all), rank_(rank), data_(data) {}

  void enter(detail::call const&, detail::erased_policy const&, std::uint32_t number) override {
    number_ = static_cast<int>(number);
  }
  void begin(std::span<colligo::operand const> operands, colligo::list_kind) override {
    operands_ = operands;
    detail::scratch_sizes const sizes(operands);
    received_.resize(data_.of().bytes(sizes.received));
    std::vector<std::byte> combined(data_.of().bytes(sizes.combined));
    free_ = received_.data();
    taken_ = 0;
    std::lock_guard const lock(all_.mutex);
    for (detail::fragment const p : detail::fragments(operands)) {
      if (!p.sends()) continue;
      std::byte const* const first = data_.read(p.elements, p.which, combined.data());
      all_.of[{rank_, p.peer, number_}].emplace_back(first, first + data_.of().bytes(p.elements.size()));
    }
  }
  bool advance() override {
    if (all_.abandoned) throw colligo::failed_elsewhere("another rank has abandoned a call");
    std::lock_guard const lock(all_.mutex);
    std::size_t number = 0;
    for (detail::fragment const p : detail::fragments(operands_)) {
      if (p.sends() || number++ < taken_) continue;
      auto& box = all_.of[{p.peer, rank_, number_}];
      if (box.empty()) return false;
      auto const& content = box.front();
      std::memcpy(p.folds() ? std::exchange(free_, free_ + content.size()) : data_.write(p.elements), content.data(),
                  content.size());
      box.pop_front();
      ++taken_;
    }
    detail::combine_received(operands_, received_.data(), rank_, data_);
    return true;
  }

 private:
  boxes& all_;
  int rank_;
  detail::working_vector& data_;
  int number_ = 0;
  std::span<colligo::operand const> operands_;
  std::vector<std::byte> received_;
  std::byte* free_ = nullptr;
  std::size_t taken_ = 0;
};

class state final : public detail::waiting_state<> {
 public:
  state(boxes& all, int rank, int size) : waiting_state(own_requests_), all_(all) { rank_ = rank, size_ = size; }
  ~state() { spare_requests = {}; }

  detail::owner<detail::moving_step> steps_for_request(detail::working_vector& data, detail::call const&,
                                                         colligo::transport) override {
    return detail::make_owner<steps>(all_, rank_, data);
  }
  void yield_core(unsigned&) const override { std::this_thread::yield(); }
  void abandon_call(std::uint32_t, std::string_view, bool) noexcept override { all_.abandoned = true; }

 private:
  boxes& all_;
  detail::requests_of_rank own_requests_;
};

struct communicator {
  state& here;
};

}  // namespace letters

namespace colligo::inline COLLIGO_MODE {

template <>
struct state_of<letters::communicator> {
  static detail::endpoint& open(letters::communicator const& comm) { return comm.here; }
  template <class T>
  static constexpr bool has_vendor = false;
  template <class T>
  static constexpr bool carries = false;
  template <class T, class Op, bool MayBeVendor>
  static void const* wire() { return nullptr; }
};

}  // namespace colligo

namespace {

/// Does not commute: a product in another order is another one.
struct matrix {
  std::uint32_t a, b, c, d;
  bool operator==(matrix const&) const = default;
};
constexpr auto times = [](matrix const& x, matrix const& y) {
  return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
};
matrix of_rank(int rank) { return {1, static_cast<std::uint32_t>(rank) + 2, 1, static_cast<std::uint32_t>(rank)}; }

void expect(bool right, char const* what) {
  if (!right) throw std::runtime_error(what);
}

}  // namespace

TEST_CASE("a transport that writes eight functions has all collectives, blocking and as requests") {
  for (int p = 1; p <= 6; ++p) {
    letters::boxes all;
    auto const f = [&](int rank) {
      auto const state = std::make_shared<letters::state>(all, rank, p);
      state->life = state;
      letters::communicator const comm{*state};
      matrix before = of_rank(0), product = of_rank(0);
      for (int r = 1; r < p; ++r) product = times(product, of_rank(r));
      for (int r = 1; r <= rank; ++r) before = times(before, of_rank(r));
      std::vector<matrix> const mine(40, of_rank(rank));
      std::vector<matrix> out(40);
      for (char const* const name : {"automatic", "binary_tree", "binary_blocks", "recursive_doubling", "direct"}) {
        colligo::all_reduce(comm, mine, out, times, colligo::named(name));
        expect(out == std::vector(40, product), name);
      }
      expect(colligo::scan(comm, of_rank(rank), times) == before, "scan");
      std::vector<int> to_all(static_cast<std::size_t>(p)), from_all(to_all);
      for (int r = 0; r < p; ++r) to_all[static_cast<std::size_t>(r)] = 10 * rank + r;
      colligo::all_to_all(comm, to_all, from_all);
      for (int r = 0; r < p; ++r) expect(from_all[static_cast<std::size_t>(r)] == 10 * r + rank, "all_to_all");
      std::vector<matrix> of_request(40);
      auto pending = colligo::iall_reduce(comm, mine, of_request, times);
      expect(colligo::all_reduce(comm, rank, std::plus<>{}) == p * (p - 1) / 2, "a blocking call beside a request");
      pending.wait();
      expect(of_request == std::vector(40, product), "iall_reduce");
      state->life.reset();
    };
    std::vector<std::exception_ptr> failed(static_cast<std::size_t>(p));
    {
      std::vector<std::jthread> ranks;
      for (int r = 0; r < p; ++r)
        ranks.emplace_back([&, r] {
          try {
            f(r);
          } catch (...) {
            failed[static_cast<std::size_t>(r)] = std::current_exception();
            all.abandoned = true;
          }
        });
    }
    for (auto const& each : failed) CHECK_NOTHROW(each ? std::rethrow_exception(each) : void());
  }
}
