# SPDX-License-Identifier: Apache-2.0
"""A long mixed load: whether memory grows and answers take longer."""

import statistics

from machine import generate


def soak(bench, figures, minutes):
    with bench.server("statewire") as server:
        lines = generate("soak", "--connections", 50, "--in-flight", 4, "--rate", 5000,
                         "--seconds", minutes * 60, "--interval", minutes, server=server)
    judge(lines, figures)
    return lines


def judge(lines, figures):
    """Of sixty intervals the first ten are warm-up; the next ten and the last ten are compared."""
    settled = lines[len(lines) // 6:]
    share = max(len(settled) // 5, 1)
    first, last = settled[:share], settled[-share:]
    middle = lambda part, key: statistics.median(line[key] for line in part)
    figures.add("soak: inputs", sum(line["inputs"] for line in lines))
    figures.add("soak: frontends that left and came", lines[-1]["comings"])
    figures.add("soak: memory at the end", last[-1]["resident_kib"] / 1024, "MiB")
    figures.add("soak: memory at the end to the beginning",
                middle(last, "resident_kib") / middle(first, "resident_kib"), "×", most=1.03)
    for key, name in (("p50_us", "median answer"), ("p99_us", "99th percentile")):
        figures.add(f"soak: {name} at the end", middle(last, key), "µs")
        figures.add(f"soak: {name}, end to beginning", middle(last, key) / middle(first, key), "×",
                    most=1.3 if key == "p50_us" else None)
