# SPDX-License-Identifier: Apache-2.0
"""The time without service that each fault costs the clients.

A client has service while it gets responses to its inputs. A time without a response belongs to the first fault in it,
otherwise to the last fault before it, and is counted from that fault on. The pause of a client by a fault is the longest
of these times. Clients that sleep are left out.
"""

import bisect
import statistics


def measure(events):
    """Returns by fault: a list of the pauses of all clients, in seconds, for each time that it happened."""
    responses, sleeping, faults, requests = {}, set(), [], {}
    for event in events:
        kind = event["event"]
        if kind == "started" and event["settings"].get("sleeps"):
            sleeping.add(event["client"])
        elif kind == "fault":
            faults.append((event["began"], event["fault"]))
        elif kind in ("sent", "received"):
            _follow(event, requests, responses)
    moments = [at for at, _ in faults]
    longest = [_pauses(times, moments) for client, times in responses.items() if client not in sleeping]
    pauses = {}
    for number, (_, fault) in enumerate(faults):
        pauses.setdefault(fault, []).append([of_client[number] / 1e9 for of_client in longest if number in of_client])
    return pauses


def _follow(event, requests, responses):
    messages = event["message"] if isinstance(event["message"], list) else [event["message"]]
    for message in messages:
        key = (event["client"], event["connection"], message.get("id"))
        if event["event"] == "sent" and message.get("method") == "store/send":
            requests[key] = True
        elif event["event"] == "received" and "result" in message and requests.pop(key, False):
            responses.setdefault(event["client"], []).append(event["at"])


def _pauses(times, faults):
    """Returns the longest time without a response of one client, by the number of the fault."""
    longest = {}
    for earlier, later in zip(times, times[1:], strict=False):
        number = bisect.bisect(faults, earlier)
        if number == len(faults) or faults[number] >= later:
            number -= 1
        if number >= 0:
            longest[number] = max(longest.get(number, 0), later - max(earlier, faults[number]))
    return longest


def table(pauses):
    """Returns the pauses as lines of text."""
    lines = [f"{'fault':20} {'times':>5} {'median':>8} {'p99':>8} {'worst':>8}   seconds without a response, of each client"]
    for fault, times in sorted(pauses.items()):
        every = sorted(pause for clients in times for pause in clients)
        if every:
            lines.append(f"{fault:20} {len(times):5} {statistics.median(every):8.2f} "
                         f"{every[min(len(every) - 1, len(every) * 99 // 100)]:8.2f} {every[-1]:8.2f}")
    return lines
