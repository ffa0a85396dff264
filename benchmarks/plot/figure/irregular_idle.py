# SPDX-License-Identifier: BSL-1.0
"""Traff et al., figures 7 right and 8."""
from common import blue, gathered, infiniband, legend_below, prices, size_text


def irregular_idle(quick):
    p, c, block = (4, 65536, 16384) if quick else (30, 1 << 20, 32768)
    return gathered("irregular_idle", quick, [("messages", lambda: prices(
        quick, infiniband, [p], [c], ["linear_ring", f"pipelined_ring:{block}"], of="messages",
        collective="all_gatherv", distribution="broadcast"))])


def busy_of(messages, p):
    """When each rank communicates, as stretches; and what part of the whole time that is, of all ranks."""
    of_rank = [[] for _ in range(p)]
    for m in messages:
        for end in ("from", "to"):
            of_rank[int(m[end])].append((float(m["begin_us"]), float(m["end_us"])))
    for stretches in of_rank:
        stretches.sort()
        whole = []
        for begin, end in stretches:
            if whole and begin <= whole[-1][1] + 1e-3:   # begins are told in whole nanoseconds
                whole[-1][1] = max(whole[-1][1], end)
            else:
                whole.append([begin, end])
        stretches[:] = whole
    total = max(float(m["end_us"]) for m in messages)
    busy = sum(end - begin for stretches in of_rank for begin, end in stretches)
    return of_rank, total, busy / (total * p)


def draw_irregular_idle(plt, rows):
    p = int(rows[0]["ranks"])
    figure, panels = plt.subplots(1, 3, figsize=(11, 4), gridspec_kw={"width_ratios": [4, 4, 2]})
    shares = {}
    for axes, name in zip(panels, dict.fromkeys(r["algorithm"] for r in rows)):
        of_rank, total, share = busy_of([r for r in rows if r["algorithm"] == name], p)
        label = name.split(":")[0].replace("_", " ")
        shares[label] = (total * share / 1e3, total * (1 - share) / 1e3)
        axes.barh(range(p), [total / 1e3] * p, height=0.8, color="#dddddd")
        for rank, stretches in enumerate(of_rank):
            axes.broken_barh([(begin / 1e3, (end - begin) / 1e3) for begin, end in stretches], (rank - 0.4, 0.8),
                             color=blue)
        axes.set_title(f"{label}: {total / 1e3:.1f} ms", fontsize=10)
        axes.set_xlabel("ms (axes differ)")
        axes.invert_yaxis()
    panels[0].set_ylabel("rank")
    for i, label in enumerate(shares):
        busy, idle = shares[label]
        panels[2].bar(i, busy, color=blue, label="communicates" if i == 0 else None)
        panels[2].bar(i, idle, bottom=busy, color="#dddddd", label="idle" if i == 0 else None)
    panels[2].set_xticks(range(len(shares)), [s.replace(" ", "\n") for s in shares])
    panels[2].set_title("mean of the ranks", fontsize=10)
    panels[2].set_ylabel("ms")
    legend_below(figure, panels[2])
    figure.suptitle(f"all_gatherv of {size_text(rows[0]['bytes'])} from rank 0 (broadcast) on {p} ranks: by recorded "
                    "price, 5 us, 1 GB/s; blue: sends or receives", fontsize=11)
    return figure
