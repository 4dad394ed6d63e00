# SPDX-License-Identifier: Apache-2.0
"""Measures starts of Statewire over stdio with several command lines, relative to one without options."""

import json
import subprocess
import tempfile

from machine import Failure, generate

# The title, the options, and the rule for the time to the first response, relative to a start without
# options.
KINDS = (
    ("limits and logs", "--log-level error --maximum-open-requests 100 --session-time 600", 1.3),
    ("listeners", "--stdio --tcp 127.0.0.1:0 --unix FOLDER/socket", 1.3),
    ("sources", "--source user=http://127.0.0.1:9/ --balance-url http://127.0.0.1:9/"
                " --time-zone Europe/Berlin", 1.3),
    ("--test", "--test", 1.3),
    ("an existing data folder", "--data-dir EXISTING", 1.6),
    ("a data folder with a session", "--data-dir SESSION --session-time 86400", 1.6),
)


def compare(bench, figures):
    with tempfile.TemporaryDirectory(prefix="statewire-benchmark-") as folder:
        commands = [[bench.program, "serve", *options.replace("EXISTING", f"{folder}/existing").replace(
            "SESSION", f"{folder}/session").split()] for _, options, _ in KINDS]
        exchange(commands[-2], ("ping", {}))
        session = exchange(commands[-1], ("session/open", {}), (
            "store/open", {"store": "todo", "kind": "todo", "config": {"memory": {"count": 10}}}))
        handle = {"session": session[0]["session"]}
        words = [bench.program, "serve"]
        for command in commands:
            words += ["--", *command]
        bare, *others = generate("first-response", "--items", 10, "--seconds",
                                 bench.seconds * (len(KINDS) + 1), stdio=words)
        # Fails unless the session and its store survived the starts.
        exchange(commands[-1], ("session/attach", handle), ("store/state", {"store": "todo"}))
    # The shortest times are compared: longer ones contain the time of other processes.
    for (title, _, rule), other in zip(KINDS, others):
        figures.add(f"first response with {title}: to a start without options",
                    other["shortest_us"] / bare["shortest_us"], "×", most=rule)


def exchange(command, *requests):
    """Sends requests to a new server over stdio and returns their results; the server then ends."""
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
             for number, (method, params) in enumerate(requests)]
    ended = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    responses = [json.loads(line) for line in ended.stdout.splitlines()]
    if [response.get("id") for response in responses if "result" in response] != [*range(len(lines))]:
        raise Failure(f"{command}: {ended.stdout}{ended.stderr}")
    return [response["result"] for response in responses]
