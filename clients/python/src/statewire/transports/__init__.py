# SPDX-License-Identifier: Apache-2.0
"""Transports: connections that carry messages to a server and back."""

from __future__ import annotations

import ssl
import urllib.parse
from collections.abc import Sequence

from .process import spawn
from .stream import open_tcp, open_unix
from .transport import Receiver, Transport
from .websocket import open_websocket

Address = str | Sequence[str]

__all__ = ["Address", "Receiver", "Transport", "open_transport"]


async def open_transport(
    address: Address, receiver: Receiver, tls: ssl.SSLContext | None = None, log: int | None = None
) -> Transport:
    """Connects to a server.

    - Parameters:
      - address: `tcp://HOST:PORT`, `tls://HOST:PORT`, `unix:PATH`, `ws://HOST:PORT/`, `wss://HOST:PORT/`,
        or the words of a command, which is spawned and connected over its standard streams.
      - receiver: The receiver of messages.
      - tls: The TLS context for `tls` and `wss`; None verifies the server with the certificates of the
        system.
      - log: The standard error of a spawned server, as for `subprocess`; None inherits that of this
        program.
    - Raises: `OSError`, `ssl.SSLError`; `ValueError` if the address is malformed.
    """
    if not isinstance(address, str):
        return await spawn(address, receiver, log)
    scheme, _, rest = address.partition(":")
    if scheme == "unix":
        return await open_unix(rest.removeprefix("//"), receiver)
    url = urllib.parse.urlsplit(address)
    if url.scheme not in ("tcp", "tls", "ws", "wss") or not url.hostname:
        raise ValueError(f"unknown address {address}; use tcp://, tls://, unix:, ws:// or wss://")
    if url.scheme in ("tls", "wss") and tls is None:
        tls = ssl.create_default_context()
    if url.scheme in ("tls", "tcp"):
        if url.port is None:
            raise ValueError(f"the address {address} has no port")
        return await open_tcp(url.hostname, url.port, receiver, tls if url.scheme == "tls" else None)
    return await open_websocket(url, receiver, tls if url.scheme == "wss" else None)
