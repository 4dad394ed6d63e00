# SPDX-License-Identifier: Apache-2.0
"""The time without service that each fault costs the clients.

A client has service while it gets responses to its inputs. The pause of a client by a fault is the longest time without
a response that ends after the fault and begins before the next one, counted from the fault on. Clients that sleep are
left out.
"""

import statistics


def measure(events):
    """Returns by fault: a list of the pauses of all clients, in seconds, for each time that it happened."""
    responses, sleeping, faults, requests = {}, set(), [], {}
    for event in events:
        kind = event["event"]
        if kind == "started" and event["settings"].get("sleeps"):
            sleeping.add(event["client"])
        elif kind == "fault":
            faults.append((event["at"], event["fault"]))
        elif kind in ("sent", "received"):
            _follow(event, requests, responses)
    pauses = {}
    ends = [at for at, _ in faults[1:]] + [float("inf")]
    for (at, fault), end in zip(faults, ends, strict=True):
        measured = [_pause(times, at, end) for client, times in responses.items() if client not in sleeping]
        pauses.setdefault(fault, []).append([pause / 1e9 for pause in measured if pause is not None])
    return pauses


def _follow(event, requests, responses):
    messages = event["message"] if isinstance(event["message"], list) else [event["message"]]
    for message in messages:
        key = (event["client"], event["connection"], message.get("id"))
        if event["event"] == "sent" and message.get("method") == "store/send":
            requests[key] = True
        elif event["event"] == "received" and "result" in message and requests.pop(key, False):
            responses.setdefault(event["client"], []).append(event["at"])


def _pause(times, begin, end):
    gaps = [later - max(earlier, begin) for earlier, later in zip(times, times[1:], strict=False)
            if later > begin and earlier < end]
    return max(gaps, default=None)


def table(pauses):
    """Returns the pauses as lines of text."""
    lines = [f"{'fault':20} {'times':>5} {'median':>8} {'p99':>8} {'worst':>8}   seconds without a response, of each client"]
    for fault, times in sorted(pauses.items()):
        every = sorted(pause for clients in times for pause in clients)
        if every:
            lines.append(f"{fault:20} {len(times):5} {statistics.median(every):8.2f} "
                         f"{every[min(len(every) - 1, len(every) * 99 // 100)]:8.2f} {every[-1]:8.2f}")
    return lines
