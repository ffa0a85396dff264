#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Models of what ranks hand over to each other by atomics, in every execution (executions.py), and their mutants.

Each model is a small program with named memory orders. `sources` says which operations of the headers it stands for,
and which of the names each has, in the order of the text. The test fails

  - if an operation of a header has another order than the model, or is gone, or belongs to no model;
  - if a model goes wrong in some execution;
  - if a mutant is right in all: each order made weaker by one, each fence left out, each change in `mutants`.

decisions/memory-order.md has a table of them.

  test/memory/models.py            all models
  test/memory/models.py NAME       one, and how each mutant goes wrong
"""
import importlib
import sys

sys.dont_write_bytecode = True   # beside the sources
from executions import Exploration, known_programs
from modelled import Orders, Sources, models, root, weaker

for module in ("models_of_channels", "models_of_reports", "models_of_threads"):   # each adds its models
    importlib.import_module(module)

page = root / "decisions" / "memory-order.md"


def explored(m, orders, but=None):
    e = Exploration(m.program(Orders(orders, but)))
    return e.wrong(), e.states


def mutants(m):
    """What each is, and its orders and its change."""
    needed = m.orders | m.enough
    for name, order in needed.items():
        for less in weaker.get(order, []):
            yield f"{name} {less or 'left out'} instead of {order}", needed | {name: less}, None
    for but in m.mutants:
        yield but, needed, but


def main():
    chosen = [m for m in models if m.name in sys.argv[1:] or not sys.argv[1:]]
    wrong, states = known_programs() + Sources().check(), 0
    wrong += [f"there is no model {name}" for name in sys.argv[1:] if name not in [m.name for m in models]]
    wrong += [f"decisions/memory-order.md does not name the model {m.name}" for m in models
              if f"`{m.name}`" not in page.read_text()]
    for m in chosen:
        found = 0
        for orders in [m.orders] + [m.orders | m.enough] * bool(m.enough):
            how, seen = explored(m, orders)
            states += seen
            if how:
                wrong.append("\n".join([f"{m.name}: {how[0]}", *how[1:]]))
        for what, orders, but in mutants(m):
            how, seen = explored(m, orders, but)
            states, found = states + seen, found + bool(how)
            if not how:
                wrong.append(f"{m.name}: the mutant is right: {what}")
            elif sys.argv[1:]:
                print("\n".join([f"{m.name}, {what}: {how[0]}", *how[1:]]))
        print(f"{m.name}: {found} mutants found wrong, {states} states so far")
    print("\n".join(wrong))
    return len(wrong) != 0


sys.exit(main())
