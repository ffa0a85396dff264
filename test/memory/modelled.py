# SPDX-License-Identifier: BSL-1.0
"""Models: programs of executions.py with named memory orders, and the operations of headers that they stand for."""
import collections
import pathlib
import re

root = pathlib.Path(__file__).resolve().parent.parent.parent / "include" / "colligo"
# Here every atomic operation belongs to a model, or to `alone`.
covered = ["transport/memory/*.hpp", "transport/threads/*.hpp", "engine/identity.hpp", "engine/identity_body.hpp"]

# enough: orders that would do, where the header's are stronger. mutants: names of changes to the program.
Model = collections.namedtuple("Model", "name program orders sources enough mutants")
models = []
weaker = {"seq_cst": ["acq_rel"], "acq_rel": ["acquire", "release"], "acquire": ["relaxed"], "release": ["relaxed"],
          "fence acquire": [None], "fence release": [None]}


def model(sources, enough={}, mutants=(), **orders):
    """The program gets the orders as attributes, and the name of the mutant as `but`. A source is a header, the begin
    of a function there, an operation in it, and the names of its orders; without names the text has to be there."""
    def add(program):
        models.append(Model(program.__name__, program, orders, sources, enough, mutants))
        return program
    return add


class Orders:
    def __init__(self, orders, but=None):
        self.__dict__.update({name: order and order.replace("fence ", "") for name, order in orders.items()}, but=but)


# Operations that hand over nothing else, or only to the rank itself: a header, a function, an operation, an order.
alone = []


class Sources:
    def __init__(self):
        self.texts, self.claimed, self.wrong = {}, collections.defaultdict(set), []

    def text(self, header):
        if header not in self.texts:
            blank = lambda comment: " " * len(comment[0])
            self.texts[header] = re.sub(r"//.*", blank, (root / header).read_text())
        return self.texts[header]

    def body(self, header, function):
        """Where the body of a function begins and ends."""
        text = self.text(header)
        for at in (m.start() for m in re.finditer(re.escape(function), text)):
            begin = re.compile(r"{(?!}[,)])").search(text, at).start()   # not of a parameter's default
            if ";" not in text[at:begin]:
                depth = 0
                for end in range(begin, len(text)):
                    depth += (text[end] == "{") - (text[end] == "}")
                    if depth == 0:
                        return begin, end
        return 0, 0

    def orders(self, header, function, operation):
        """The orders of all such operations of the function, as they follow each other."""
        text, (begin, end), found = self.text(header), self.body(header, function), []
        for match in re.finditer(re.escape(operation), text[begin:end]):
            at = last = begin + match.end()
            if text[at] != "(":   # an operator or a conversion
                found.append("seq_cst")
                continue
            self.claimed[header].add(at)
            while text[at:last].count("(") != text[at:last].count(")") or last == at:
                last += 1
            order = re.search(r"\bmemory_order_(\w+)|\brelaxed\b", text[at:last])
            found.append((order[1] or "relaxed") if order else "seq_cst")
        return found

    def compare(self, who, header, function, operation, expected):
        found = self.orders(header, function, operation)
        if len(found) != len(expected) or any(e not in (None, f) for e, f in zip(expected, found)):
            self.wrong.append(f"{header}: {function}...: {operation} has the orders {found}, {who} has {expected}")

    def check(self):
        for m in models:
            for header, function, operation, names in m.sources:
                begin, end = self.body(header, function)
                if not names:
                    if operation not in self.text(header)[begin:end]:
                        self.wrong.append(f"{header}: {function}...: {operation} is gone; {m.name} stands for it")
                    continue
                orders = [m.orders[name].replace("fence ", "") if name != "-" else None for name in names.split()]
                self.compare(m.name, header, function, operation, orders)
        for header, function, operation, order in alone:
            begin, end = self.body(header, function)
            found = self.orders(header, function, operation)
            self.compare("alone", header, function, operation, [order] * max(1, len(found)))
        operations = re.compile(r"(?:\.|->)(?:load|store|exchange|compare_exchange_\w+|fetch_\w+)(?=\()|_fence(?=\()")
        self.wrong += [f"there is no {pattern}" for pattern in covered if not any(root.glob(pattern))]
        for header in sorted({h for pattern in covered for h in root.glob(pattern)}):
            name = str(header.relative_to(root))
            for match in operations.finditer(self.text(name)):
                if match.end() not in self.claimed[name]:
                    line = self.text(name).count("\n", 0, match.start()) + 1
                    self.wrong.append(f"{name}:{line}: this atomic operation belongs to no model")
        return self.wrong
