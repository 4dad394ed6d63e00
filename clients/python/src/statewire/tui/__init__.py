# SPDX-License-Identifier: Apache-2.0
"""The terminal program `statewire-tui`: the built-in stores in a terminal."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

from ..client import Client


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        prog="statewire-tui",
        description="Shows the built-in stores of a Statewire server in a terminal. Without --connect it "
        "starts a server: the program in $STATEWIRE, or `statewire` from $PATH.")
    parser.add_argument(
        "--connect", metavar="URL", help="tcp://HOST:PORT, tls://…, unix:PATH, ws://HOST:PORT/ or wss://…")
    parser.add_argument(
        "--session", metavar="HANDLE", help="attach to this session, for example the one of a page")
    parser.add_argument("--frontend", metavar="NAME", help="the name in the session (default: random)")
    parser.add_argument(
        "--watch", action="store_true", help="attach as an observer, which cannot send inputs")
    parser.add_argument("--token-file", metavar="FILE", help="a file with the token for the server")
    options = parser.parse_args()
    if options.session and not options.connect:
        parser.error("--session requires --connect")

    address: str | list[str]
    if options.connect:
        address = options.connect
    else:
        program = os.environ.get("STATEWIRE") or shutil.which("statewire")
        if program is None:
            parser.error("cannot find the program statewire in $PATH; set STATEWIRE or pass --connect")
        address = [program, "serve"]
    token = None
    if options.token_file:
        with open(options.token_file, encoding="utf-8") as file:
            token = file.read().strip()

    try:
        from .app import StatewireApp
    except ImportError as error:
        sys.exit(f"statewire-tui: {error}; run: pip install 'statewire[tui]'")
    StatewireApp(lambda: Client(
        address,
        session=options.session,
        frontend=options.frontend,
        role="observer" if options.watch else "driver",
        token=token,
        log=subprocess.DEVNULL,
        name="statewire-tui",
        retry_initial_connection=True,
        # A person may paste a long list while the server is unreachable.
        maximum_pending=1_000_000,
    )).run()
