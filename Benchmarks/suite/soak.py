# SPDX-License-Identifier: Apache-2.0
"""A long mixed load, which shows growth of memory and of response times."""

import statistics

from machine import generate


def soak(bench, figures, minutes):
    with bench.server("statewire") as server, bench.server("baseline") as control:
        lines = play(server, control, minutes * 60)
    judge(lines, figures, minutes * 60)
    return lines


def play(server, control, seconds, connections=50):
    return generate("soak", "--connections", connections, "--in-flight", 4, "--rate", 5000,
                    "--seconds", seconds, "--interval", seconds / 60,
                    "--control", f"127.0.0.1:{control.port}", server=server)


# Seconds until the allocator has the memory that it keeps for such a load.
WARM_UP = 120


def judge(lines, figures, seconds):
    """Compares the first and the last fifth of the lines after the warm-up.

    The warm-up is the first sixth, but at least two minutes and at most half. Response times are relative
    to those of the baseline, which the generator measures on the same core at the same time, because the
    other load of the machine changes within an hour.
    """
    warm_up = min(max(1 / 6, WARM_UP / seconds), 1 / 2)
    settled = lines[int(len(lines) * warm_up):]
    share = max(len(settled) // 5, 1)
    beginning, end = settled[:share], settled[-share:]

    def change(of):
        return middle(end, of) / middle(beginning, of)

    figures.add("soak: inputs", sum(line["inputs"] for line in lines))
    figures.add("soak: reconnects", lines[-1]["reconnects"])
    figures.add("soak: memory at the end", end[-1]["resident_kib"] / 1024, "MiB")
    figures.add("soak: memory, end to beginning", change(lambda line: line["resident_kib"]), "×",
                most=1.03)
    figures.add("soak: median response time at the end", middle(end, lambda line: line["p50_us"]), "µs")
    figures.add("soak: 99th percentile at the end", middle(end, lambda line: line["p99_us"]), "µs")
    figures.add("soak: median response time to the baseline's, end to beginning",
                change(lambda line: line["p50_us"] / line["control_p50_us"]), "×", most=1.3)
    figures.add("soak: CPU per input, end to beginning", change(lambda line: line["cpu_us"]), "×")


def middle(lines, of):
    return statistics.median(map(of, lines))
