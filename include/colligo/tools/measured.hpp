// SPDX-License-Identifier: BSL-1.0
/// @file
/// Tables of measurements on the user's machine. COLLIGO_TABLE names such a file, in programs that include this in one
/// unit, or the program passes it; benchmarks/bench/tune.py writes one. A row gives the algorithm for a collective at a
/// number of ranks and bytes; `#` begins a comment; blank lines are ignored; there are at most 10 000 rows.
///
///   # collective  type    functor   ranks  bytes    algorithm
///   all_reduce    double  commutes  2      8        recursive_doubling
///   all_reduce    any     any       32/8   1M       vendor
///
///   set COLLIGO_CHUNKS 64k
///
/// type       any, or a name as explain() writes it, without its blanks
/// functor    any, commutes, ordered (it is not known to commute); of collectives that combine nothing any
/// ranks      p, or p/h where they are on h hosts
/// bytes      of the vector; of collectives on blocks those of one rank's block. k, M and G are 2^10, 2^20 and 2^30.
/// algorithm  as named() takes it
///
/// Among the rows of a call's collective, type and functor the nearest holds, by logarithms: the nearest number of
/// ranks, which must lie between the least and the most of these rows, then the nearest bytes, which may be half of the
/// first row's and twice the last row's. Rows that name the type come before those for any, then rows that name the
/// functor; rows whose algorithm may not run do not count. Where no row holds, and where blocks are uneven (one of more
/// than one and a half times the mean), the library chooses as without a table. A row with `set` gives a variable its
/// value unless the environment has it: COLLIGO_NETWORK, COLLIGO_LATENCIES, COLLIGO_LINES, COLLIGO_CHUNKS,
/// COLLIGO_STORES, COLLIGO_READ_MEMORY.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../rules/chosen.hpp"
#include "../rules/policies.hpp"

namespace colligo::inline COLLIGO_MODE {

/// Communicators whose first call comes later use the rows of this table before the library's defaults, unless
/// COLLIGO_TABLE is set. Rank 0's table holds for all ranks. An empty text: no table. `where` precedes the line in
/// messages. Throws argument_error, "colligo: where:line: what was expected". Not collective. Cost: reads it all.
void use_table(std::string_view text, std::string const& where = "table");

/// The same of the file at this path. Throws argument_error also if the file can not be read.
void use_table_file(std::string const& path);

namespace detail {

struct measured_row {
  enum class functor : std::uint8_t { any, commutes, ordered };

  collective what;
  std::string type;   ///< empty: any
  functor kind;
  int hosts, ranks;
  std::size_t bytes;
  choice take;
  std::size_t line;
};

/// The contents of a file.
struct measured_table {
  std::vector<measured_row> rows;   ///< by all that comes before `take`

  /// Throws argument_error, "where:line: what was expected", for anything else.
  static measured_table parse(std::string_view text, std::string const& where);
  /// Shared by all communicators of the process with the same setting.
  static std::shared_ptr<measured_table const> of(file_setting const& setting);
};

owner<kept_with_state> read_measured(communicator_state& state, call const& call, policy_table const& policies);
choice const* find_measured(kept_with_state const& rows, collective what, situation const& s, std::size_t& line);
/// Units that include this turn COLLIGO_TABLE on.
inline bool const tables_can_be_read = (read_tables = {&read_measured, &find_measured}, true);

}  // namespace detail
}  // namespace colligo

#if COLLIGO_HAS_BODIES
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>
#include <utility>

#include "../core/error.hpp"
#include "../core/lines.hpp"
#include "../core/mutex.hpp"
#include "../core/strings.hpp"
#include "../engine/communicator_state.hpp"

namespace colligo::inline COLLIGO_MODE::detail {

inline auto key_of(measured_row const& row) {
  return std::tie(row.what, row.type, row.kind, row.hosts, row.ranks, row.bytes);
}

class table_parser {
 public:
  table_parser(std::string_view text, std::string const& where) : lines_{text}, where_(where) {}

  measured_table parse() {
    while (lines_.next()) read(lines_.line);
    return std::move(made_);
  }

 private:
  static constexpr std::size_t most_rows = 10000;

  [[noreturn, gnu::cold]] void refuse(std::string const& reason) const {
    throw argument_error(where_ + ':' + std::to_string(lines_.number) + ": " + reason);
  }

  [[gnu::cold]] void read(std::string_view line) {
    std::array<std::string_view, 6> words;
    std::size_t count = 0;
    auto rest = line;
    for (auto word = next_token(rest); !word.empty(); word = next_token(rest), ++count)
      if (count < words.size()) words[count] = word;
    if (count == 0) return;
    if (words[0] == "set") {   // settings_of_environment reads it
      if (count == 3 && is_for_tables(words[1])) return;
      refuse("a row that sets is \"set COLLIGO_LINES 2k\", or COLLIGO_CHUNKS, COLLIGO_STORES, COLLIGO_READ_MEMORY, "
             "COLLIGO_NETWORK or COLLIGO_LATENCIES, not " + in_quotes(line));
    }
    if (count != words.size())
      refuse("a row is \"collective type functor ranks bytes algorithm\", six words, this one has " +
             std::to_string(count) + ": " + in_quotes(line));
    auto const [p, hosts] = ranks_in(words[3]);
    auto const bytes = number_in(words[4]);
    if (!bytes) refuse(in_quotes(words[4]) + " is no number of bytes: 8, 64k, 1M");
    made_.rows.push_back({collective_in(words[0]), words[1] == "any" ? std::string() : std::string(words[1]),
                          functor_in(words[2]), hosts, p, *bytes, algorithm_in(words[5]), lines_.number});
    // Inserts it at its place, usually the last one.
    auto& rows = made_.rows;
    for (std::size_t at = rows.size() - 1; at > 0 && !(key_of(rows[at - 1]) < key_of(rows[at])); --at) {
      if (key_of(rows[at - 1]) == key_of(rows[at]))
        refuse("line " + std::to_string(rows[at - 1].line) + " is for the same");
      std::swap(rows[at - 1], rows[at]);
    }
    if (rows.size() > most_rows) refuse("a table has at most " + std::to_string(most_rows) + " rows");
  }

  collective collective_in(std::string_view word) const {
    std::vector<std::string> known;
    for (collective const c : collectives) {
      if (name_of(c) == word) return c;
      known.emplace_back(name_of(c));
    }
    refuse(in_quotes(word) + " is no collective; the nearest is " +
           std::string(nearest_to(word.substr(0, 40), known)));
  }
  measured_row::functor functor_in(std::string_view word) const {
    using enum measured_row::functor;
    if (word == "any") return any;
    if (word == "commutes") return commutes;
    if (word == "ordered") return ordered;
    refuse("a functor is any, commutes or ordered, not " + in_quotes(word));
  }
  std::pair<int, int> ranks_in(std::string_view word) const {
    int p = 0, hosts = 1;
    auto const end = word.data() + word.size();
    auto [at, error] = std::from_chars(word.data(), end, p);
    if (error == std::errc{} && at != end && *at == '/') {
      auto const after = std::from_chars(at + 1, end, hosts);
      at = after.ptr, error = after.ec;
    }
    if (error != std::errc{} || at != end || hosts < 1 || hosts > p)
      refuse(in_quotes(word) + " is no number of ranks: 4, or 32/8 for 32 ranks on 8 hosts");
    return {p, hosts};
  }
  // All algorithms, whatever collectives they have forms for.
  static constexpr policy_table any_collective = []<class... Tags>(list_of_tags<Tags...>) {
    return policy_table{{&erased_tag<Tags>...}, nullptr};
  }(catalogue_of_tags{});
  choice algorithm_in(std::string_view word) const {
    try {
      return detail::parse(any_collective, word, "");
    } catch (algorithm_error const& e) {
      refuse(e.what());
    }
  }

  text_lines lines_;
  std::string const& where_;
  measured_table made_;
};

[[gnu::cold]] COLLIGO_BODY measured_table measured_table::parse(std::string_view text, std::string const& where) {
  return table_parser(text, where).parse();
}

[[gnu::cold]] COLLIGO_BODY std::shared_ptr<measured_table const> measured_table::of(file_setting const& setting) {
  struct latest { std::string where, text; std::shared_ptr<measured_table const> table; };
  static detail::mutex mutex;
  static auto& kept = *new latest;   // states may outlive static objects
  locked const lock(mutex);
  if (!setting.trouble.empty()) throw argument_error(setting.where + ": " + setting.trouble);
  if (!kept.table || kept.where != setting.where || kept.text != setting.text) {
    auto made = std::make_shared<measured_table const>(parse(setting.text, setting.where));
    kept = {setting.where, setting.text, std::move(made)};
  }
  return kept.table;
}

[[gnu::cold]] COLLIGO_BODY void use_table_setting(file_setting setting) {
  std::string const from = "colligo: " + setting.where;
  if (!setting.trouble.empty()) throw argument_error(from + ": " + setting.trouble);
  measured_table::parse(setting.text, from);   // throws what it finds
  set_table_of_program(setting.text.empty() ? file_setting{} : std::move(setting));
}

// The distance of two positive numbers, by logarithms.
inline double distance_of(double a, double b) { return std::abs(std::log(a / b)); }

/// The rows that hold for one collective, type and functor on one communicator.
struct measured_choice final : kept_with_state {
  std::vector<std::vector<measured_row>> ladders;   // the most specific first; the rows of each in the order of bytes

  /// `allowed(row)`: the row's algorithm may run.
  template <class Allowed>
  measured_choice(measured_table const& table, collective what, element const& of, int ranks, int hosts,
                  Allowed allowed) {
    using enum measured_row::functor;
    std::string type(of.name());
    std::erase(type, ' ');
    auto const kind = of.commutes ? commutes : ordered;
    for (std::string const& known_type : {type, std::string()})
      for (auto const known_kind : {kind, any}) {
        auto const counts = [&](measured_row const& row) {
          return row.what == what && row.type == known_type && row.kind == known_kind && row.hosts == hosts;
        };
        int least = 0, most = 0, nearest = 0;   // of ranks, by which the rows are in order
        for (measured_row const& row : table.rows) {
          if (!counts(row)) continue;
          if (least == 0) least = nearest = row.ranks;
          most = row.ranks;
          if (distance_of(row.ranks, ranks) < distance_of(nearest, ranks)) nearest = row.ranks;
        }
        if (ranks < least || ranks > most) continue;
        std::vector<measured_row> ladder;   // by bytes
        for (measured_row const& row : table.rows)
          if (counts(row) && row.ranks == nearest && allowed(row)) ladder.push_back(row);
        if (!ladder.empty()) ladders.push_back(std::move(ladder));
      }
  }
};

// Warns once of a file that is no table.
[[gnu::cold]] COLLIGO_BODY owner<kept_with_state> read_measured(communicator_state& state, call const& call,
                                                               policy_table const& policies) {
  try {
    auto const table = measured_table::of(state.table_setting());
    int const hosts = kept_choices::host_count(state);
    auto chosen = make_owner<measured_choice>(
        *table, call.what, *call.of, state.size(), hosts, [&](measured_row const& row) {
          choice const by = bound(row.take, policies, decided_by::measured_table);
          if (!by.policy)
            throw argument_error(state.table_setting().where + ':' + std::to_string(row.line) + ": " +
                                 std::string(name_of(row.take)) + " has no form for " +
                                 std::string(name_of(call.what)));
          return why_not(state, call, by).why.empty();
        });
    if (!chosen->ladders.empty()) return chosen;
  } catch (argument_error const& e) {
    if (state.strict()) throw argument_error(where(state, call.what) + e.what());
    if (state.rank() == 0) warn_once(std::string(e.what()) + "; the table is not used, the library chooses");
  }
  return nullptr;
}

COLLIGO_BODY choice const* find_measured(kept_with_state const& rows, collective what, situation const& s,
                                         std::size_t& line) {
  auto const& ladders = static_cast<measured_choice const&>(rows).ladders;
  auto const take = [&line](measured_row const& row) { return line = row.line, &row.take; };
  if (what == collective::barrier) return ladders.empty() ? nullptr : take(ladders[0][0]);   // has no size
  if (what == collective::all_to_all_v) return nullptr;   // ranks know only their own lengths
  bool const blocks = has_blocks(what);
  if (blocks && s.vector.offsets && longest_block(s) * s.p() > 1.5 * static_cast<double>(s.bytes())) return nullptr;
  auto const bytes = static_cast<double>(s.bytes()) / (blocks ? s.p() : 1);
  for (auto const& ladder : ladders) {
    auto const least = static_cast<double>(ladder.front().bytes), most = static_cast<double>(ladder.back().bytes);
    if (2 * bytes < least || bytes > 2 * most) continue;
    // The geometric mean divides neighbours.
    std::size_t at = 0;
    while (at + 1 < ladder.size() &&
           bytes * bytes > static_cast<double>(ladder[at].bytes) * static_cast<double>(ladder[at + 1].bytes))
      ++at;
    return take(ladder[at]);
  }
  return nullptr;
}

}  // namespace colligo

namespace colligo::inline COLLIGO_MODE {

[[gnu::cold]] COLLIGO_BODY void use_table(std::string_view text, std::string const& where) {
  detail::use_table_setting({where, std::string(text), {}});
}
[[gnu::cold]] COLLIGO_BODY void use_table_file(std::string const& path) {
  detail::use_table_setting(detail::file_of(path, path.c_str()));
}

}  // namespace colligo
#endif
