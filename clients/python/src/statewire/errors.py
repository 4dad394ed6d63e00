# SPDX-License-Identifier: Apache-2.0
"""Exception classes: one for each error code of the protocol, and those of the client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .printing import printable


class StatewireError(Exception):
    """The base class of all errors of this package. `str(error)` is safe to print to a terminal."""

    def __init__(self, text: str) -> None:
        super().__init__(printable(text))


class RPCError(StatewireError):
    """An error response of the server.

    A code without a class of its own, such as one of a newer server, has this class. `message` is the
    server's text: print the error itself, or `printable(message)`.
    """

    known: ClassVar[dict[int, type[RPCError]]] = {}

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data

    def __init_subclass__(cls, code: int, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        RPCError.known[code] = cls

    @staticmethod
    def of(error: object) -> RPCError:
        """Makes the exception for the `error` member of a response."""
        if not isinstance(error, Mapping):
            return RPCError(0, "the server has sent an error without a code")
        code = error.get("code")
        if not isinstance(code, int):
            code = 0
        return RPCError.known.get(code, RPCError)(code, str(error.get("message")), error.get("data"))

    def _member(self, key: str) -> Any:
        return self.data.get(key) if isinstance(self.data, Mapping) else None


class ParseError(RPCError, code=-32700):
    """The server has received a frame that is not JSON."""


class InvalidRequestError(RPCError, code=-32600):
    """The server has received JSON that is not a request."""


class MethodNotFoundError(RPCError, code=-32601):
    """The server does not have the method."""


class InvalidParamsError(RPCError, code=-32602):
    """The params do not match the method, or the input does not match the store."""

    @property
    def path(self) -> str | None:
        """The place of the error: a JSON Pointer into the params."""
        path = self._member("path")
        return path if isinstance(path, str) else None


class InternalError(RPCError, code=-32603):
    """An internal error of the server."""


class RequestCancelledError(RPCError, code=-32800):
    """The request was cancelled, or the server shut down before the request was complete."""


class UnknownStoreError(RPCError, code=-32010):
    """Neither a store nor a store kind has the name."""


class StoreClosedError(RPCError, code=-32011):
    """The store is closed."""


class UnknownSessionError(RPCError, code=-32012):
    """The handle is not one of a session."""


class ExpiredSessionError(RPCError, code=-32013):
    """The session has expired or is closed."""


class ObserverError(RPCError, code=-32014):
    """The client is an observer and must not send inputs."""


class LimitError(RPCError, code=-32015):
    """A limit of the server is exceeded. Also raised for a frame that is too large, instead of sending it."""

    @staticmethod
    def of_frame(limit: str, message: str) -> LimitError:
        """Makes the error for a frame that is not sent: the same that the server would return."""
        return LimitError(-32015, message, {"limit": limit})

    @property
    def limit(self) -> str | None:
        """The name of the limit."""
        limit = self._member("limit")
        return limit if isinstance(limit, str) else None


class UnauthorisedError(RPCError, code=-32016):
    """The token is missing or wrong, or the server does not accept this client."""


class ProtocolVersionError(RPCError, code=-32017):
    """The server does not support this version of the protocol."""

    @property
    def supported(self) -> list[str]:
        """The versions that the server supports."""
        supported = self._member("supported")
        return list(supported) if isinstance(supported, list) else []


class OtherConfigurationError(RPCError, code=-32018):
    """The store is open with another kind or configuration."""


class OutOfOrderError(RPCError, code=-32019):
    """An earlier input was refused temporarily and must be sent again first."""

    @property
    def sequence(self) -> int | None:
        """The sequence number that the server expects."""
        sequence = self._member("sequence")
        return sequence if isinstance(sequence, int) else None


class ForbiddenError(RPCError, code=-32020):
    """The store kind refuses this use of the store to this client."""

    @property
    def reason(self) -> str | None:
        """The reason, as a word for programs."""
        reason = self._member("reason")
        return reason if isinstance(reason, str) else None


class ConnectionLostError(StatewireError):
    """The connection ended before the response. It is unknown whether the request was carried out."""


class ProtocolViolationError(ConnectionLostError):
    """The server has violated the protocol. The client has closed the connection."""


class SessionEndedError(StatewireError):
    """The session has ended for this client.

    `reason` is `evicted` (another connection has attached with this frontend's name), `closed` (a client has
    closed the session), `lost` (the session has expired, or the server has lost it) or `clientClosed` (this
    client was closed).
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"the session has ended for this client: {reason}")
        self.reason = reason


class TimedOutError(StatewireError, TimeoutError):
    """No response arrived in time. The client has cancelled the request on the server."""


class TooManyPendingError(StatewireError):
    """The maximum number of inputs is pending."""
