# SPDX-License-Identifier: Apache-2.0
"""The sections. Each measures one round and adds its figures.

Both sides of a ratio are measured in the same round, one immediately after the other; the baseline
immediately before and immediately after Statewire.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
import time

import snapshots
import starts
from build import ROOT, built
from machine import SERVER_CORE, Failure, Server, generate


TITLES = {"baseline": "baseline in C", "statewire": "Statewire", "python": "Python", "node": "Node",
          "go": "Go"}


class Bench:
    def __init__(self, program, others, seconds, scale, previous=None):
        self.program, self.others, self.seconds, self.scale = program, others, seconds, scale
        self.previous = previous
        self.stdio = {"baseline": [built("baseline"), "stdio"], "statewire": [program, "serve"],
                      **{name: [*command, "stdio"] for name, command in others.items()}}

    def server(self, name, *options):
        """Returns the server with this name on TCP."""
        if name == "baseline":
            return Server(lambda port: [built("baseline"), str(port)])
        if name not in ("statewire", "previous"):
            return Server(lambda port: [*self.others[name], str(port)])
        program = self.previous if name == "previous" else self.program
        return Server(lambda port: [program, "serve", "--tcp", f"127.0.0.1:{port}",
                                    "--log-level", "error", *options])

    def times(self):
        return ("--warm-up", self.seconds / 2, "--seconds", self.seconds)

    def tcp_load(self, name, *options, served=()):
        with self.server(name, *served) as server:
            return generate("load", *self.times(), *options, server=server)

    def stdio_load(self, name, *options):
        return generate("load", *self.times(), *options, stdio=self.stdio[name])


def beside_baseline(figures, bench, load, title, key, unit, rule, other_rule):
    """Measures Statewire between two runs of the baseline, then the other servers."""
    before, own, after = load("baseline"), load("statewire"), load("baseline")
    baseline = (before[key] + after[key]) / 2
    figures.add(f"{title}: baseline in C", baseline, unit)
    figures.add(f"{title}: Statewire", own[key], unit)
    figures.add(f"{title}: Statewire to the baseline", own[key] / baseline, "×", most=rule)
    for name in bench.others:
        other = load(name)
        figures.add(f"{title}: {TITLES[name]}", other[key], unit)
        figures.add(f"{title}: Statewire to {TITLES[name]}", own[key] / other[key], "×", most=other_rule)
    return own


def tcp(bench, figures):
    load = lambda name: bench.tcp_load(name, "--connections", 50, "--in-flight", 16)
    own = beside_baseline(figures, bench, load, "TCP, 50 × 16 in flight, CPU per input", "cpu_us", "µs",
                       1.75, 0.5)
    figures.add("TCP, 50 × 16 in flight: Statewire's inputs", own["per_second"], "/s")


def stdio(bench, figures):
    load = lambda name: bench.stdio_load(name, "--in-flight", 64)
    own = beside_baseline(figures, bench, load, "stdio, 64 in flight, CPU per input", "cpu_us", "µs",
                       1.75, 0.5)
    figures.add("stdio, 64 in flight: Statewire's inputs", own["per_second"], "/s")


def latency(bench, figures):
    for title, load in (("TCP", bench.tcp_load), ("stdio", bench.stdio_load)):
        beside_baseline(figures, bench, load, f"{title}, one in flight, round trip", "p50_us", "µs",
                     1.3, None)


LONG = 100_000


def growth(bench, figures):
    """Measures one input in flight, as a user sends, and 16 or 32, which share the cost of a turn."""
    for kind in ("add-remove", "rename", "move", "remove-middle"):
        for in_flight in (1, 16):
            growth_of(bench, figures, kind, in_flight, 1.15)
    for kind in ("add-remove", "rename", "remove-first"):
        growth_of(bench, figures, kind, 32, 1.4)


def growth_of(bench, figures, kind, in_flight, rule):
    """Measures the growth of one kind of input.

    The baseline's growth shows the part that comes from the machine's memory. It is not measured for
    removals, because the baseline's array moves all todos after the removed one.
    """
    load = lambda name, items: bench.tcp_load(
        name, "--in-flight", in_flight, "--kind", kind, "--items", items)["cpu_us"]
    title = f"{kind}, {in_flight} in flight"
    before, long, after = (load("statewire", items) for items in (10, LONG, 10))
    figures.add(f"{title}, list of {LONG:,}: CPU per input", long, "µs")
    figures.add(f"{title}: {LONG:,} todos to 10", long / ((before + after) / 2), "×", most=rule)
    if kind in ("add-remove", "rename"):
        figures.add(f"{title}: the baseline, {LONG:,} todos to 10",
                    load("baseline", LONG) / load("baseline", 10), "×")


def stores(bench, figures):
    load = lambda kind: bench.tcp_load("statewire", "--in-flight", 16, "--kind", kind)["cpu_us"]
    for kind in ("form", "balance", "loading"):
        before, other, after = load("add-remove"), load(kind), load("add-remove")
        figures.add(f"{kind}: CPU per input", other, "µs")
        figures.add(f"{kind}: to a todo input", other / ((before + after) / 2), "×", most=1.5)


TODO_PROGRAM = ["env", f"PYTHONPATH={ROOT}/clients/python/src", sys.executable, f"{ROOT}/Examples/Stores/todo.py"]


def programs(bench, figures):
    """Measures a todo list in Python beside the built-in one; the program runs on the server's core."""
    load = lambda kind, *options: bench.tcp_load(
        "statewire", *options, "--store-kind", kind, served=("--store", f"python={shlex.join(TODO_PROGRAM)}"))
    window = ("--connections", 8, "--in-flight", 64)
    before, own, after = (load(kind, *window) for kind in ("todo", "python", "todo"))
    figures.add("store program, 8 × 64 in flight: CPU of the server per input", own["cpu_us"], "µs")
    figures.add("store program: to a built-in todo input",
                own["cpu_us"] / ((before["cpu_us"] + after["cpu_us"]) / 2), "×", most=2.5)
    long = load("python", *window, "--items", 10_000)["cpu_us"]
    figures.add("store program: 10,000 todos to 100", long / own["cpu_us"], "×", most=2)
    alone = round_trips_alone(bench.seconds)
    through = load("python", "--kind", "rename", "--items", 10)["p50_us"]
    figures.add("store program, one in flight: round trip", through, "µs")
    figures.add("store program, one in flight: above the program alone", through - alone, "µs", most=80)


def round_trips_alone(seconds):
    """Returns the median time of an input to the program without a server, in microseconds.

    The server sends the action of an effect as a second request, so it is sent here, too.
    """
    with subprocess.Popen(TODO_PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          bufsize=0, preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE})) as program:
        waited = []

        def call(number, method, **params):
            request = json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                                  "params": params}).encode() + b"\n"
            began = time.perf_counter()
            program.stdin.write(request)
            response = program.stdout.readline()
            waited.append(time.perf_counter() - began)
            return json.loads(response)["result"]

        viewer = {"identity": None, "frontend": None, "role": "owner"}
        call(1, "machine/describe", protocol=1)
        call(2, "machine/open", store=1, name="todo", configuration={"memory": {"count": 10}},
             viewer=viewer, now=0)

        def send(**said):
            waited.clear()
            update = call(3, "machine/input", store=1, input=said, viewer=viewer, now=0)
            for effect in update.get("effects", []):
                call(4, "machine/action", store=1, action=effect["action"], now=0)
            return sum(waited)

        send(type="stateRequested")
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end:
            times.append(send(type="todoRenamed", id="1", title=f"Renamed {len(times)}"))
        program.stdin.close()
    return statistics.median(times) * 1e6


MANY = 100


def broadcast(bench, figures):
    with bench.server("statewire") as server:
        seen_by = lambda count: generate("broadcast", *bench.times(), "--in-flight", 64,
                                         "--subscribers", count, server=server)
        before, many, after = seen_by(1), seen_by(MANY), seen_by(1)
    one = (before["cpu_us"] + after["cpu_us"]) / 2
    each = (many["cpu_us"] - one) / (MANY - 1)
    figures.add("broadcast: CPU per input, one subscriber", one, "µs")
    figures.add(f"broadcast: each of {MANY - 1} additional subscribers", each, "µs")
    figures.add("broadcast: an additional subscriber to the first", each / one, "×", most=1 / 20)
    figures.add("broadcast: updates per subscriber and input", many["updates_per_input"])


def memory(bench, figures):
    count = max(int(5000 * bench.scale), 100)
    for name, rule in (("baseline", None), ("statewire", 6)):
        with bench.server(name) as server:
            own = generate("idle", "--connections", count, "--items", 10, server=server)
        figures.add(f"memory per idle connection of {count:,}: {TITLES[name]}", own["kib_each"], "KiB",
                    most=rule)


def startup(bench, figures):
    first = lambda name: generate("first-response", "--items", 10, "--seconds", bench.seconds,
                                  stdio=bench.stdio[name])["p50_us"] / 1000
    own = first("statewire")
    figures.add("first response over stdio: Statewire", own, "ms")
    for name in ("baseline", *bench.others):
        other = first(name)
        figures.add(f"first response over stdio: {TITLES[name]}", other, "ms")
        figures.add(f"first response: Statewire to {TITLES[name]}", own / other, "×",
                    most=2.5 if name == "go" else None)
    starts.compare(bench, figures)


def durable(bench, figures):
    kept = lambda name, durability: bench.server(name, "--data-dir", "FOLDER/data",
                                                 "--durability", durability)
    rate = lambda server, connections, in_flight: generate(
        "load", *bench.times(), "--sessions", "--connections", connections, "--in-flight", in_flight,
        server=server)["per_second"]

    def previous():
        with kept("previous", "process") as server:
            return rate(server, 50, 16)

    before = previous() if bench.previous else None
    server = kept("statewire", "process")

    def start_again():
        server.wait()
        server.start()

    with server:
        own = generate("kill", *bench.times(), "--connections", 50, "--in-flight", 16,
                       server=server, on_start=start_again)
    figures.add("durable, 50 × 16 in flight: inputs", own["per_second"], "/s", least=20_000)
    figures.add("durable: CPU per input", own["cpu_us"], "µs")
    # The generator fails if there are any.
    figures.add("durable: acknowledged inputs that a killed server lost", 0, most=0)
    if bench.previous:
        figures.add("durable, 50 × 16 in flight: inputs to those of the previous program",
                    own["per_second"] / ((before + previous()) / 2), "×", least=1.5)
    # With one input in flight, each turn has one input, and each input has its own commit.
    with kept("statewire", "power") as server:
        before, many, after = (rate(server, *load) for load in ((1, 1), (50, 16), (1, 1)))
    one = (before + after) / 2
    figures.add("durable, power: inputs with a commit for each", one, "/s")
    figures.add("durable, power, 50 × 16 in flight: inputs", many, "/s")
    figures.add("durable, power, 50 × 16 in flight: inputs to those with a commit for each",
                many / one, "×", least=20)


def snapshot(bench, figures):
    with bench.server("statewire", "--maximum-frame-bytes", str(64 << 20)) as server:
        load = lambda: generate("load", *bench.times(), "--connections", 10, server=server)
        encode, parse = snapshots.alone(server, LONG, bench.seconds)
        quiet = load()
        with snapshots.Asking(server, LONG) as asking:
            disturbed = load()
    figures.add(f"snapshot of {LONG:,} todos, written to the client", encode, "MB/s", least=200)
    figures.add("snapshot as a request, read", parse, "MB/s", least=200)
    figures.add("99th percentile of other clients without snapshots", quiet["p99_us"] / 1000, "ms")
    figures.add("99th percentile of other clients during snapshots", disturbed["p99_us"] / 1000,
                "ms", most=5)
    figures.add("snapshots and requests of that size during the load",
                asking.exchanges / disturbed["seconds"], "/s")


SECTIONS = {section.__name__: section for section in (
    tcp, stdio, latency, growth, stores, programs, broadcast, memory, startup, durable, snapshot)}


def program_of(path):
    if not os.access(path, os.X_OK):
        raise Failure(f"{path} does not exist; run make release")
    return os.path.abspath(path)
