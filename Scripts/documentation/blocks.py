# SPDX-License-Identifier: Apache-2.0
"""Reads and runs the blocks of a document.

- A block after a line that ends with **`path`** is a file; a colon may end the line.
- A `sh` block is commands of a shell, the same one for all blocks. Each command must succeed, unless the output that the
  document has is that of a failed conversation. If a line ends with `&`, the ports of the block have to be open afterwards.
- A `text` block is the output of the `sh` block before it. `…` stands for any text, as a line for any lines.
- Other blocks are not run.
"""

import dataclasses
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import typing

# Seconds for a command, and for an expected output of a program in the background.
PATIENCE, OUTPUT_PATIENCE = 60, 10
BLOCK = re.compile(r"(?:\*\*`(?P<path>[^`\n]+)`\*\*:?\n\n)?^```(?P<language>\w*)\n(?P<block>.*?)^```$", re.M | re.S)


class Failure(Exception):
    """The document and what happens differ."""


@dataclasses.dataclass
class Step:
    kind: str  # "file", "prose", or the language of a block
    text: str
    path: str = ""
    output: str | None = None


def steps(text: str) -> list[Step]:
    """The parts of a document, with ports that are free."""
    ports = {port: str(free_port()) for port in re.findall(r'127\.0\.0\.1(?::|", )(\d+)', text)}
    text = re.sub(r"\d+", lambda number: ports.get(number[0], number[0]), text)
    found: list[Step] = []
    last, end = None, 0
    for block in BLOCK.finditer(text):
        found.append(Step("prose", text[end:block.start()]))
        end = block.end()
        if block["language"] == "text" and not block["path"] and last and last.kind == "sh" and last.output is None:
            last.output = block["block"]
        else:
            last = Step("file" if block["path"] else block["language"], block["block"], block["path"] or "")
            found.append(last)
    return [*found, Step("prose", text[end:])]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: str | int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


def wait(is_done: typing.Callable[[], bool], message: str, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > deadline:
            raise Failure(message)
        time.sleep(0.05)


def matches(expected: str, output: str) -> bool:
    pattern = "".join(
        r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in expected.splitlines())
    return re.fullmatch(pattern, output) is not None


class Shell:
    """One shell, as a reader's terminal. `with` ends it and the programs that it has left."""

    def __init__(self, folder: pathlib.Path, home: pathlib.Path) -> None:
        self.folder, self.blocks, self.number = folder, home.parent, 0
        environment = {**os.environ, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("XDG_STATE_HOME", None)
        self.process = subprocess.Popen(
            ["bash", "--norc"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
            start_new_session=True)
        self.write("trap 'status=$?' ERR")

    def __enter__(self) -> "Shell":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        self.process.communicate(timeout=PATIENCE)

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def run(self, block: str, expected: str | None) -> None:
        """Runs a block, and compares its statuses and its output with the document."""
        self.number += 1
        source, output, done = (self.blocks / f"{self.number}.{name}" for name in ("sh", "out", "status"))
        source.write_text(block, encoding="utf-8")
        self.write(f"status=0; . '{source}' </dev/null >'{output}' 2>&1; echo $status >'{done}.new'; mv '{done}.new' '{done}'")
        wait(done.exists, f"the block does not end:\n{block}")
        status = int(done.read_text())

        def received() -> str:
            return output.read_text(encoding="utf-8")

        if (status != 0) != (expected is not None and "0 passed, 1 failed" in expected):
            raise Failure(f"status {status}:\n{block}{received()}")
        for port in re.findall(r"127\.0\.0\.1:(\d+)", block if re.search("&$", block, re.M) else ""):
            wait(lambda: listens(port), f"nothing listens at port {port}:\n{block}{received()}")
        if expected is not None:
            try:
                wait(lambda: matches(expected, received()), "", OUTPUT_PATIENCE)
            except Failure:
                raise Failure(f"the document has\n{expected}but the output is\n{received()}of\n{block}") from None


def follow(document: list[Step], shell: Shell, name: str, prose: typing.Callable[[str], object] = lambda text: None) -> None:
    """Writes the files of a document, and runs its commands; `prose` gets the text between blocks."""
    if [step.kind for step in document].count("sh") < 2:
        raise Failure("the document has too few commands")
    for step in document:
        if step.kind == "prose":
            prose(step.text)
        elif step.kind == "file":
            path = shell.folder / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
        elif step.kind == "sh":
            print(f"{name}: {step.text.splitlines()[-1].strip()}", flush=True)
            shell.run(step.text, step.output)
        elif step.kind == "text":
            raise Failure(f"no command has this output:\n{step.text}")
