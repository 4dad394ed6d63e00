# SPDX-License-Identifier: Apache-2.0
"""The four built-in stores in a terminal: `statewire-tui`, for `pip install 'statewire[tui]'`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

from ..client import Client


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="statewire-tui",
        description="The four built-in stores of a Statewire server in a terminal. Without --connect it "
        "starts a server of its own: STATEWIRE, or `statewire` from the path.")
    parser.add_argument(
        "--connect", metavar="URL", help="tcp://HOST:PORT, tls://…, unix:PATH, ws://HOST:PORT/ or wss://…")
    parser.add_argument(
        "--session", metavar="HANDLE", help="attach to this session, such as that of a page")
    parser.add_argument("--frontend", metavar="NAME", help="the name in the session")
    parser.add_argument("--watch", action="store_true", help="look on, and change nothing")
    parser.add_argument(
        "--token-file", metavar="FILE", help="a file that holds the token for the server, and nothing else")
    options = parser.parse_args()
    if options.session and not options.connect:
        parser.error("--session needs --connect: a server of its own has no session yet")

    address: str | list[str]
    if options.connect:
        address = options.connect
    else:
        program = os.environ.get("STATEWIRE") or shutil.which("statewire")
        if program is None:
            parser.error("there is no statewire in the path; say where a server is with --connect")
        address = [program, "serve"]
    token = None
    if options.token_file:
        with open(options.token_file, encoding="utf-8") as file:
            token = file.read().strip()

    try:
        from .app import StatewireApp
    except ImportError as error:
        sys.exit(f"statewire-tui: {error}. Type: pip install 'statewire[tui]'")
    StatewireApp(lambda: Client(
        address,
        session=options.session,
        frontend=options.frontend,
        role="observer" if options.watch else "driver",
        token=token,
        log=subprocess.DEVNULL,
        name="statewire-tui",
        is_patient=True,
        # A person has a list of any length to paste, and waits for a server that is away.
        maximum_waiting=1_000_000,
    )).run()
