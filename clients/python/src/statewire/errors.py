# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as exception classes: one for each error code of the protocol, and our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .printable import visible


class StatewireError(Exception):
    """The base of all errors of this package. The text is safe to print, whoever has written it."""

    def __init__(self, text: str) -> None:
        super().__init__(visible(text))


class ServerError(StatewireError):
    """The server has answered with an error.

    Unknown codes are of this class itself, so that a newer server is no trouble. `message` is what the
    server has sent; print the error, or `visible(message)`.
    """

    known: ClassVar[dict[int, type[ServerError]]] = {}

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data

    def __init_subclass__(cls, code: int, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        ServerError.known[code] = cls

    @staticmethod
    def of(error: object) -> ServerError:
        """The exception for the `error` of an answer."""
        if not isinstance(error, Mapping):
            return ServerError(0, "an error without a code")
        code = error.get("code")
        if not isinstance(code, int):
            code = 0
        return ServerError.known.get(code, ServerError)(code, str(error.get("message")), error.get("data"))

    def _member(self, key: str) -> Any:
        return self.data.get(key) if isinstance(self.data, Mapping) else None


class ParseError(ServerError, code=-32700):
    """What was sent is no JSON."""


class InvalidRequest(ServerError, code=-32600):
    """What was sent is JSON and no request."""


class MethodNotFound(ServerError, code=-32601):
    """There is no such method, or not on this server."""


class InvalidParams(ServerError, code=-32602):
    """The params are not those of the method, or the input is not one of the store."""

    @property
    def path(self) -> str | None:
        """Where the fault is: a JSON Pointer into the params."""
        path = self._member("path")
        return path if isinstance(path, str) else None


class InternalError(ServerError, code=-32603):
    """The server has made a mistake."""


class RequestCancelled(ServerError, code=-32800):
    """The request was cancelled, or the server ended before it was done."""


class UnknownStore(ServerError, code=-32010):
    """No store has this name, and no kind either."""


class StoreClosed(ServerError, code=-32011):
    """The store was closed."""


class UnknownSession(ServerError, code=-32012):
    """There is no session with this handle, and there never was."""


class SessionOver(ServerError, code=-32013):
    """The session is over."""


class ObserversOnlyWatch(ServerError, code=-32014):
    """The frontend is an observer, which changes nothing."""


class LimitMet(ServerError, code=-32015):
    """A limit of the server was met. A frame that it would refuse is refused with this before it is sent."""

    @staticmethod
    def of_frame(limit: str, message: str) -> LimitMet:
        """The error for a frame that is not sent: the one with which the server would refuse it."""
        return LimitMet(-32015, message, {"limit": limit})

    @property
    def limit(self) -> str | None:
        """The name of the limit."""
        limit = self._member("limit")
        return limit if isinstance(limit, str) else None


class Unauthorised(ServerError, code=-32016):
    """The token is missing or wrong, or this is nobody who may connect."""


class VersionNotSupported(ServerError, code=-32017):
    """The server speaks other versions of the protocol."""

    @property
    def supported(self) -> list[str]:
        """The versions it speaks."""
        supported = self._member("supported")
        return list(supported) if isinstance(supported, list) else []


class OtherConfiguration(ServerError, code=-32018):
    """The store is open with another kind or configuration."""


class OutOfTurn(ServerError, code=-32019):
    """An input before this one was refused for the moment, and has not come again."""

    @property
    def sequence(self) -> int | None:
        """The number of that input."""
        sequence = self._member("sequence")
        return sequence if isinstance(sequence, int) else None


class ConnectionLost(StatewireError):
    """The connection ended before the answer; whether the request was carried out is not known."""


class ProtocolViolation(ConnectionLost):
    """The peer has sent what no server sends; the connection was given up."""


class SessionEnded(StatewireError):
    """The session goes on without this client, or not at all.

    `reason` is `evicted` (another connection has taken this frontend's name), `closed` (somebody has
    closed the session), `lost` (the server knows it no longer: it has expired, or went with its server)
    or `left` (this client was closed).
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"the session is over for this client: {reason}")
        self.reason = reason


class TimedOut(StatewireError, TimeoutError):
    """No answer came in time. The server was asked to cancel what goes on."""


class Busy(StatewireError):
    """As many inputs wait for their answers as may."""
