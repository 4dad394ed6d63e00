# SPDX-License-Identifier: Apache-2.0
"""Draws each figure that has a rule, relative to its rule: plot.py RESULTS.json PICTURE.png.

Draws memory and response times over time if the results contain a soak. Needs matplotlib.
"""

import json
import sys

sys.dont_write_bytecode = True

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from figures import with_unit

MET, NOT_MET = "#2a7f62", "#c0392b"


def share(figure, value):
    """Returns the share of what the rule allows; 1 is the limit."""
    return value / figure["most"] if figure["most"] is not None else figure["least"] / value


def draw(figures, path):
    shown = [figure for figure in figures
             if figure["least"] or (figure["most"] is not None and figure["most"] > 0)][::-1]
    if not shown:
        return
    places = range(len(shown))
    medians = [share(figure, figure["median"]) for figure in shown]
    spans = [[share(figure, value) for value in figure["values"]] for figure in shown]
    picture, axes = plt.subplots(figsize=(11, 1.2 + 0.34 * len(shown)), layout="constrained")
    axes.barh(places, medians, color=[MET if each <= 1 else NOT_MET for each in medians], height=0.6)
    axes.hlines(places, [min(span) for span in spans], [max(span) for span in spans],
                color="black", linewidth=1)
    for place, figure, span in zip(places, shown, spans):
        axes.text(max(span) + 0.03, place, with_unit(figure["median"], figure["unit"]), va="center",
                  fontsize=8)
    axes.axvline(1, color="black", linewidth=1, linestyle="--")
    axes.set_yticks(places, [figure["name"] for figure in shown], fontsize=8)
    axes.set_xlim(0, max(max(span) for span in spans) * 1.15 + 0.1)
    axes.set_xlabel("share of what the rule allows; bars: medians; lines: lowest to highest round")
    picture.savefig(path, dpi=130)


def draw_soak(lines, path):
    minutes = [line["elapsed"] / 60 for line in lines]
    picture, (memory, latency) = plt.subplots(2, 1, figsize=(11, 6), sharex=True, layout="constrained")
    memory.plot(minutes, [line["resident_kib"] / 1024 for line in lines], color=MET)
    memory.set_ylabel("resident memory, MiB")
    memory.set_ylim(bottom=0)
    latency.plot(minutes, [line["p50_us"] for line in lines], color=MET, label="median")
    latency.plot(minutes, [line["p99_us"] for line in lines], color=NOT_MET, label="99th percentile")
    latency.plot(minutes, [line["control_p50_us"] for line in lines], color="gray",
                 label="the baseline's median on the same core")
    latency.set_ylabel("response time, µs")
    latency.set_yscale("log")
    latency.set_xlabel("minutes")
    latency.legend()
    picture.savefig(path, dpi=130)


with open(sys.argv[1]) as file:
    results = json.load(file)
if results["soak"]:
    draw_soak(results["soak"], sys.argv[2])
else:
    draw(results["figures"], sys.argv[2])
