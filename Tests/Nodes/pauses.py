# SPDX-License-Identifier: Apache-2.0
"""The time without service that each fault costs the clients.

A client has service while it gets responses to its inputs. A time without a response belongs to the fault in it,
otherwise to the last fault before it, and is counted from that fault on. One with several faults in it is counted
from the first one and listed as `several`. The pause of a client by a fault is the longest of these times. Clients
that sleep are left out.
"""

import bisect
import itertools
import statistics


def measure(events):
    """Returns what each fault has cost the clients.

    - Returns: By fault, the pauses of all clients in seconds, for each time that it happened; and by fault, the number
      of connections that the clients made until the next fault, for each time and client.
    """
    responses, sleeping, faults, requests, opened = {}, set(), [], {}, {}
    for event in events:
        kind = event["event"]
        if kind == "started" and event["settings"].get("sleeps"):
            sleeping.add(event["client"])
        elif kind == "fault":
            faults.append((event["began"], event["fault"]))
        elif kind in ("sent", "received"):
            if kind == "received":
                # A connection counts from its first message on.
                opened.setdefault(event["client"], {}).setdefault(event["connection"], event["at"])
            _follow(event, requests, responses)
    moments = [at for at, _ in faults]
    longest = [_pauses(times, moments) for client, times in responses.items() if client not in sleeping]
    pauses = {}
    for number, (_, fault) in enumerate(faults):
        pauses.setdefault(fault, []).append(
            [of_client[number, False] / 1e9 for of_client in longest if (number, False) in of_client])
        if several := [of_client[number, True] / 1e9 for of_client in longest if (number, True) in of_client]:
            pauses.setdefault("several", []).append(several)
    connections = {}
    for number, (at, fault) in enumerate(faults):
        following = moments[number + 1] if number + 1 < len(faults) else float("inf")
        connections.setdefault(fault, []).extend(
            sum(at < moment < following for moment in times.values())
            for client, times in opened.items() if client in responses and client not in sleeping)
    return pauses, connections


def _follow(event, requests, responses):
    messages = event["message"] if isinstance(event["message"], list) else [event["message"]]
    for message in messages:
        key = (event["client"], event["connection"], message.get("id"))
        if event["event"] == "sent" and message.get("method") == "store/send":
            requests[key] = True
        elif event["event"] == "received" and "result" in message and requests.pop(key, False):
            responses.setdefault(event["client"], []).append(event["at"])


def _pauses(times, faults):
    """Returns the longest times without a response of one client.

    The key is the number of the fault, and True if there are further faults in that time.
    """
    longest = {}
    for earlier, later in itertools.pairwise(times):
        number = bisect.bisect(faults, earlier)
        if number == len(faults) or faults[number] >= later:
            number -= 1
        if number >= 0:
            key = number, number + 1 < len(faults) and faults[number + 1] < later
            longest[key] = max(longest.get(key, 0), later - max(earlier, faults[number]))
    return longest


def table(pauses, connections):
    """Returns the costs as lines of text."""
    lines = [f"{'fault':20} {'times':>5} {'median':>8} {'p99':>8} {'worst':>8} {'connections':>12}   "
             "seconds without a response per client; connections per client"]
    for fault, times in sorted(pauses.items()):
        every = sorted(pause for clients in times for pause in clients)
        if every:
            made = f"{statistics.mean(connections[fault]):12.1f}" if connections.get(fault) else ""
            lines.append(f"{fault:20} {len(times):5} {statistics.median(every):8.2f} "
                         f"{every[min(len(every) - 1, len(every) * 99 // 100)]:8.2f} {every[-1]:8.2f} {made}")
    return lines
