# SPDX-License-Identifier: Apache-2.0
"""Compares PROTOCOL.md and SECURITY.md with the descriptions that are generated from the program.

- The errors of each method in PROTOCOL.md are those of Protocol/Schemas/openrpc.json. PROTOCOL.md has them in the
  tables of the method (`| error | condition |`), in a sentence `Errors: …`, for `store/…` also in the table of the
  chapter Stores, and for all methods in the sentence `Every method can return …`.
- The options and defaults in the tables of limits of PROTOCOL.md and SECURITY.md are those of docs/reference/limits.md.
"""

import re

CODE = re.compile(r"-32\d{3}")
FACTORS = {None: 1, "s": 1, "KiB": 1 << 10, "MiB": 1 << 20}


def faults(protocol, security, limits, schema):
    """The sentences about everything that differs; the arguments are the texts, and the OpenRPC document."""
    return error_faults(protocol, schema) + limit_faults(protocol, security, limits)


# ---------------------------------------------------------------------------------------------- Reading


def sections(text):
    """The text below each heading, up to the next one; the last of equal headings counts."""
    found, heading, fenced = {}, "", False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and (match := re.match(r"#{1,6} (.*)", line)):
            heading = match[1].strip("`")
            found[heading] = []
        elif not fenced:
            found.setdefault(heading, []).append(line)
    return found


def tables(lines):
    """The tables of a section: each is a list of rows, each row a list of cells, the first one the head."""
    found, table = [], []
    for line in [*lines, ""]:
        if line.startswith("|"):
            table.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif table:
            found.append(table[:1] + table[2:])
            table = []
    return found


def rows(lines, head):
    """The rows of the tables of a section whose first head is `head`."""
    return [row for table in tables(lines) if table[0][0].strip("`") == head for row in table[1:]]


# ---------------------------------------------------------------------------------------------- Errors


def error_faults(protocol, schema):
    read = sections(protocol)
    numbers = {name: error["code"] for name, error in schema["components"]["errors"].items()}
    described = {
        method["name"]: {str(numbers[error["$ref"].split("/")[-1]]) for error in method.get("errors", [])}
        for method in schema["methods"] if method.get("x-sender") == "client"
    }
    every = re.search(r"Every method can return ([^.]*)\.", " ".join(read.get("Errors", [])))
    of_all = set(CODE.findall(every[1])) if every else set()
    found = []
    if of_all != set.intersection(*described.values()):
        found.append(f"PROTOCOL.md: every method can return {listed(set.intersection(*described.values()))},"
                     f" the chapter Errors names {listed(of_all)}")
    common = [(code, set(re.findall(r"`([^`]+)`", part[1])) if (part := re.search(r"\(not for ([^)]*)\)", row[1])) else ())
              for row in rows(read.get("Stores", []), "error") for code in CODE.findall(row[0])]
    for method, codes in described.items():
        if method not in read:
            # It has no errors of its own: the chapter of another method describes it, or nothing does.
            found += [f"PROTOCOL.md: has no chapter {method}"] if codes - of_all else []
            continue
        said = {code for row in rows(read[method], "error") for code in CODE.findall(row[0])}
        for sentence in re.findall(r"Errors?: ([^.]*)\.", " ".join(read[method])):
            said |= set(CODE.findall(sentence))
        if method.startswith("store/"):
            said |= {code for code, excluded in common if method not in excluded}
        if said - codes:
            found.append(f"PROTOCOL.md: {method} never returns {listed(said - codes)}, says openrpc.json")
        if codes - said - of_all:
            found.append(f"PROTOCOL.md: {method} can return {listed(codes - said - of_all)}, says openrpc.json")
    return found


def listed(codes):
    return ", ".join(sorted(codes)) or "nothing"


# ---------------------------------------------------------------------------------------------- Limits


def limit_faults(protocol, security, limits):
    read = sections(limits)
    named = {row[0].strip("`"): row[1].strip("`") for row in rows(read["Named limits"], "data.limit")}
    defaults = {row[1].strip("`"): row[2] for row in rows(read["Named limits"], "data.limit")}
    defaults |= {row[0].strip("`"): row[1] for row in rows(read["Unnamed limits"], "option")}
    for row in rows(read["Fixed limits"], "limited"):
        if name := re.search(r"-32015 `(\w+)`", row[3]):
            named[name[1]] = name[1]
            defaults[name[1]] = row[1]
    chapter = sections(protocol)["Limits"]
    found, seen = [], set()
    for row in rows(chapter, "limit"):
        name = row[0].strip("`")
        seen.add(name)
        if name not in named:
            found.append(f"PROTOCOL.md: limits.md has no limit {name}")
            continue
        option = named[name] if named[name] != name else "none"
        if row[1].strip("`") != option:
            found.append(f"PROTOCOL.md: the option of {name} is {row[1]}, in limits.md {option}")
        if not same(value(row[3], named), value(defaults[named[name]], named)):
            found.append(f"PROTOCOL.md: {name} is {row[3]}, in limits.md {defaults[named[name]]}")
    paragraphs = " ".join(line for line in chapter if not line.startswith("|"))
    missing = set(named) - seen - set(re.findall(r"`(\w+)`", paragraphs))
    if missing:
        found.append(f"PROTOCOL.md: the chapter Limits does not name {', '.join(sorted(missing))}")
    for row in rows(sections(security)["Resource limits"], "threat"):
        for option, text in option_values(row):
            if option not in defaults:
                # Options of other groups have no default number.
                found.append(f"SECURITY.md: limits.md has no option {option}")
            elif not same(value(text, named), value(defaults[option], named)):
                found.append(f"SECURITY.md: {option} is {text}, in limits.md {defaults[option]}")
    return found


def option_values(row):
    """The options of a row of SECURITY.md, each with the text after it: ``--a` 1 MiB, `--b` and `--c` (half …)`."""
    parts = re.findall(r"`(--[a-z-]+)`([^`]*)", row[2])
    text = ""
    for option, after in reversed(parts):
        if after.strip() != "and":
            text = after.strip(" ,;.")
        yield option, text or ("off" if "off by default" in row[1] else "nothing")


def value(text, named):
    """A default that can be compared: a number, "off", or a relation to the option of another limit."""
    plain = text.replace("`", "").strip("( ")
    if plain.startswith(("off", "no limit", "is off")):
        return "off"
    if number := re.match(r"([\d,]+)(?: (KiB|MiB|s)\b)?", plain):
        return int(number[1].replace(",", "")) * FACTORS[number[2]]
    if relation := re.match(r"(half of|as) (\S+)|(--\S+)", plain):
        other = (relation[2] or relation[3]).rstrip(",;)")
        return ("half" if relation[1] == "half of" else "as", named.get(other, other))
    return text


def same(one, other):
    if isinstance(one, tuple) and isinstance(other, tuple) and one[1] in ("all", "many"):
        return one[0] == other[0]
    return one == other


# ---------------------------------------------------------------------------------------------- Self-test


def unfound(protocol, security, limits, schema):
    """Plants a fault of each kind in texts that agree; returns those that are not found."""
    state = protocol.index("### `store/state`")
    planted = {
        "an error that is missing": (
            protocol[:state] + protocol[state:].replace("| -32014 |", "| -32018 |", 1), security),
        "an error of `store/…` that is missing": (protocol.replace("| -32011 |", "| -32015 |", 1), security),
        "an exception of `store/…`": (protocol.replace("(not for `store/unsubscribe`)", "", 1), security),
        "an error in a sentence": (protocol.replace("Error: -32601.", "Error: -32602.", 1), security),
        "an error of every method": (re.sub(r"(Every method can return -32600), ", r"\1 and ", protocol.replace(
            "-32800, -32015 and", "-32015 and", 1), count=1), security),
        "a default of PROTOCOL.md": (re.sub(r"(\| `nesting` .*\| )128 \|", r"\g<1>129 |", protocol), security),
        "an option of PROTOCOL.md": (protocol.replace("`--maximum-depth`", "`--maximum-nesting`", 1), security),
        "a relation in PROTOCOL.md": (protocol.replace("half of `bytes`", "half of `connections`", 1), security),
        "a limit that PROTOCOL.md does not name": (re.sub(r"\| `idleTime` .*\n", "", protocol), security),
        "a default of SECURITY.md": (protocol, security.replace("`--frame-time` 60 s", "`--frame-time` 61 s", 1)),
        "a limit of SECURITY.md that is on": (protocol, security.replace("off by default", "on by default", 1)),
        "an option that does not exist": (protocol, security.replace("`--unread-time`", "`--unread`", 1)),
    }
    return [name for name, (one, two) in planted.items() if not faults(one, two, limits, schema)]
