# SPDX-License-Identifier: Apache-2.0
"""Wires: what carries messages to a server and back."""

from __future__ import annotations

import ssl
import urllib.parse
from collections.abc import Sequence

from .process import spawn
from .stream import open_tcp, open_unix
from .websocket import open_websocket
from .wire import Receiver, Wire

Address = str | Sequence[str]

__all__ = ["Address", "Receiver", "Wire", "open_wire"]


async def open_wire(
    address: Address, receiver: Receiver, tls: ssl.SSLContext | None = None, log: int | None = None
) -> Wire:
    """Connects to a server.

    - Parameters:
      - address: `tcp://HOST:PORT`, `tls://HOST:PORT`, `unix:PATH`, `ws://HOST:PORT/`, `wss://HOST:PORT/`,
        or the words of a command, which is spawned and talked to over its standard streams.
      - receiver: Who is told what comes.
      - tls: Whom to trust over `tls` and `wss`; by default what the system trusts.
      - log: Where a spawned server's standard error goes, as for `subprocess`; by default to this
        program's.
    - Raises: `OSError`, `ssl.SSLError`; `ValueError` for what is no address.
    """
    if not isinstance(address, str):
        return await spawn(address, receiver, log)
    scheme, _, rest = address.partition(":")
    if scheme == "unix":
        return await open_unix(rest.removeprefix("//"), receiver)
    url = urllib.parse.urlsplit(address)
    if url.scheme not in ("tcp", "tls", "ws", "wss") or not url.hostname:
        raise ValueError(f"not an address: {address}")
    if url.scheme in ("tls", "wss") and tls is None:
        tls = ssl.create_default_context()
    if url.scheme in ("tls", "tcp"):
        if url.port is None:
            raise ValueError(f"an address needs a port: {address}")
        return await open_tcp(url.hostname, url.port, receiver, tls if url.scheme == "tls" else None)
    return await open_websocket(url, receiver, tls if url.scheme == "wss" else None)
