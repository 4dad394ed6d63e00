# SPDX-License-Identifier: Apache-2.0
"""Compares the messages that docs/troubleshooting.md quotes with the sources.

A message is in backticks in the first column of a table. `…`, numbers and names in capitals stand for parts that
differ; each other part has to occur in a file of the sources.
"""

import re
import subprocess

# Texts of the system, of other libraries, and of programs that are not a part of this project.
OTHERS = ("Address already in use", "Connection refused", "Permission denied", "certificate verify failed", "disk I/O error",
          "prepare", "make lint", "make run", "make test")
FOLDERS = ("Sources", "Protocol", "clients", "Scripts", "Packaging", "Tests/PostgresTestSupport")
# A shorter part occurs in any large text.
SHORTEST = 8


def faults(page, text):
    """The sentences about messages of the page that the sources do not have."""
    return [f"docs/troubleshooting.md:{number}: no source has the message “{part}”"
            for number, part in parts(page) if part not in text]


def parts(page):
    """The parts of the messages of a page, each with the number of its line."""
    for number, line in enumerate(page.splitlines(), 1):
        if not line.startswith("|"):
            continue
        for message in re.findall(r"`([^`]+)`", re.split(r"(?<!\\)\|", line)[1]):
            for other in OTHERS:
                message = message.replace(other, "…")
            for part in re.split(r"…|\b[A-Z]{2,}\b(?:-[A-Z]+)*|\d+", message):
                part = part.strip(" .;:,'\"()")
                if len(part) >= SHORTEST:
                    yield number, part


def sources(root):
    """The text of all sources, with the lines of a literal joined."""
    names = subprocess.run(["git", "ls-files", "-z", *FOLDERS], cwd=root, capture_output=True, text=True, check=True)
    text = []
    for name in names.stdout.split("\0"):
        path = root / name
        # This file has the planted message.
        if name and path.name != "messages.py" and path.is_file() and path.suffix in (".swift", ".py", ".js", ".c", ".h", ".sh", ""):
            text.append(path.read_text(errors="replace"))
    joined = re.sub(r"\\\n\s*", "", "\n".join(text))
    joined = re.sub(r"\"\s*\+?\s*\n\s*\+?\s*f?\"", "", joined)
    return joined.replace('\\"', '"')


def unfound(page, text):
    """Plants a message that no source has; returns its name if it is not found."""
    planted = page + "\n| `the server has lost its hat` | A planted fault. | None. |\n"
    return [] if faults(planted, text) else ["a message that no source has"]
