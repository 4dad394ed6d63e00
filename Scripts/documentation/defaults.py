# SPDX-License-Identifier: Apache-2.0
"""Compares the defaults of options in all documents with the program.

- After the name of an option of `serve`: ``--session-time` (120 seconds)`, ``--history-bytes`, default 64 KiB`.
- In docs/operations.md: the table of the settings of a store program, with the output of `config check`.
"""

import re

from agreement import rows, sections

UNITS = {"": 1, "s": 1, "seconds": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
CLAIM = re.compile(
    r"`(--[a-z-]+)`(?:\)?\s+\((?:default )?|,\s+(?:by\s+)?default\s+)"
    r"([\d,]+(?:\.\d+)?)(?:\s+(s|seconds|KiB|MiB|GiB)\b)?(?=[),;.])")
SETTINGS = "docs/operations.md"


def faults(documents, cli, settings):
    """The sentences about everything that differs.

    - documents: The texts by their paths.
    - cli: The text of docs/reference/cli.md.
    - settings: The default of each setting of a store program, as `config check` prints it.
    """
    serve = cli[cli.index("## `statewire serve`"):].split("\n## ", 1)[0]
    defaults = {row[0].strip("`"): row[3].strip("`") for row in rows(serve.splitlines(), "option")}
    found = []
    for path, text in documents.items():
        for option, number, unit in CLAIM.findall(text):
            said = float(number.replace(",", "")) * UNITS[unit]
            if option not in defaults:
                found.append(f"{path}: serve has no option {option}")
            elif not is_number(defaults[option]) or float(defaults[option]) != said:
                found.append(f"{path}: {option} is {number} {unit}, in cli.md {defaults[option] or 'without a default'}")
    chapter = [line.strip() for line in sections(documents[SETTINGS])["Configuration"]]
    stated = {row[0].strip("`"): row[2] for row in rows(chapter, "key below `stores: NAME:")}
    if missing := set(settings) - set(stated):
        found.append(f"{SETTINGS}: has no setting {', '.join(sorted(missing))}")
    for key, default in settings.items():
        said = stated.get(key, "")
        if is_number(default) and (not is_number(said) or float(said) != float(default)):
            found.append(f"{SETTINGS}: {key} is {said}, in config check {default}")
    return found


def is_number(text):
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None


def unfound(documents, cli, settings):
    """Plants a fault of each kind in texts that agree; returns those that are not found."""
    operations = documents[SETTINGS]
    planted = {
        "a default after an option": operations.replace("`--sleep-after` (30 s)", "`--sleep-after` (31 s)", 1),
        "an option that serve does not have": operations.replace("`--sleep-after` (30 s)", "`--sleeps` (30 s)", 1),
        "a default of a store program": operations.replace("the response to a request | 10 |", "a request | 11 |", 1),
        "a setting that is missing": re.sub(r" *\| `processes` .*\n", "", operations, count=1),
    }
    return [name for name, text in planted.items() if not faults({**documents, SETTINGS: text}, cli, settings)]
