# SPDX-License-Identifier: Apache-2.0
"""One JSON-RPC connection: requests, responses, notifications, and replicas of store states.

A connection sends nothing by itself, and ends with its transport. It handles each message synchronously and
in order, so replicas are up to date when a response is reported.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from .errors import (
    ConnectionLostError,
    InvalidRequestError,
    LimitError,
    ParseError,
    ProtocolViolationError,
    RPCError,
    StatewireError,
    TimedOutError,
)
from .limits import Limits, encode, nesting, request_frame
from .replica import Divergence, Replica
from .transports import Address, Transport, open_transport

JSONObject: TypeAlias = dict[str, Any]


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


class _Open(NamedTuple):
    """A request without a response."""

    method: str
    params: JSONObject
    on_response: ResponseHandler
    # The length of its frame, in bytes.
    size: int


ResponseHandler: TypeAlias = Callable[["Result | StatewireError"], None]
Result: TypeAlias = JSONObject


class ConnectionListener:
    """Callbacks of a connection. They run synchronously, before the next message is handled."""

    def notified(self, method: str, params: JSONObject) -> None:
        """A notification has arrived. Replicas are up to date already."""

    def diverged(self, replica: Replica, divergence: Divergence) -> None:
        """A replica differs from the server's state."""

    def failed(self, error: RPCError) -> None:
        """An error with id null has arrived: it does not name its request."""

    def ended(self, reason: StatewireError) -> None:
        """The connection has ended. All open requests have failed with this error."""


class Connection:
    """A JSON-RPC connection to a server."""

    def __init__(
        self, listener: ConnectionListener | None = None, replicas: dict[str, Replica] | None = None
    ) -> None:
        """
        - Parameters:
          - listener: The callbacks.
          - replicas: The replicas of an earlier connection, by store, which `session/attach` resumes.
        """
        self._listener = listener or ConnectionListener()
        self._transport: Transport | None = None
        self._last_id = 0
        self._open: dict[int, _Open] = {}
        # The limits in the result of `initialize`. Larger frames are not sent.
        self.limits = Limits()
        self.replicas: dict[str, Replica] = {} if replicas is None else replicas
        # The number of messages received, to detect silence.
        self.received_count = 0
        # Done when the connection has ended.
        self.end: asyncio.Future[StatewireError] = asyncio.get_running_loop().create_future()
        self._last_failure: RPCError | None = None

    @staticmethod
    async def to(
        address: Address,
        listener: ConnectionListener | None = None,
        replicas: dict[str, Replica] | None = None,
        tls: ssl.SSLContext | None = None,
        log: int | None = None,
    ) -> Connection:
        """Connects; see `open_transport` for `address`, `tls` and `log`."""
        connection = Connection(listener, replicas)
        connection.use(await open_transport(address, connection, tls, log))
        return connection

    def use(self, transport: Transport) -> None:
        """Sets the transport. The connection must be its receiver."""
        self._transport = transport

    @property
    def is_awaiting(self) -> bool:
        """True while a request has no response."""
        return bool(self._open)

    # Sending

    def start(self, method: str, params: Mapping[str, Any], completion: ResponseHandler) -> int:
        """Sends a request.

        - Parameters:
          - method: The method.
          - params: Its params.
          - completion: Is called with the result or the error when the response is handled.
        - Returns: The request id, for `cancel`.
        - Raises: `ConnectionLostError` if the connection has ended already; `LimitError` if the frame is
          larger than the server accepts; `TypeError`, `ValueError` if the params are not JSON. Nothing has
          been sent then.
        """
        if self._transport is None or self.end.done():
            raise ConnectionLostError("not connected")
        self._last_id += 1
        request = self._last_id
        taken = dict(params)
        frame = request_frame(request, method, taken)
        self.limits.check(frame)
        self._open[request] = _Open(method, taken, completion, len(frame))
        self._transport.send(frame)
        return request

    def begin(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> tuple[int, asyncio.Future[JSONObject]]:
        """Sends a request; returns its id and a future of its result."""
        future: asyncio.Future[JSONObject] = asyncio.get_running_loop().create_future()
        return self.start(method, params or {}, settling(future)), future

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> JSONObject:
        """Sends a request and waits for its result. Cancellation and timeout cancel it on the server.

        - Parameters:
          - method: The method.
          - params: Its params.
          - timeout: Seconds to wait. None waits until the connection ends.
        - Raises: `RPCError`, `ConnectionLostError`, `TimedOutError`.
        """
        loop = asyncio.get_running_loop()
        request, future = self.begin(method, params)
        timer = None
        if timeout is not None:
            error = TimedOutError(f"{method}: no response within {timeout} s")
            timer = loop.call_later(timeout, settling(future), error)
        try:
            return await future
        except (asyncio.CancelledError, TimedOutError):
            self.cancel(request)
            raise
        finally:
            if timer:
                timer.cancel()

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a notification. It is dropped if the connection has ended.

        - Raises: `LimitError` if the frame is larger than the server accepts.
        """
        if self._transport is not None and not self.end.done():
            frame = encode({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})
            self.limits.check(frame)
            self._transport.send(frame)

    def cancel(self, request: int) -> None:
        """Sends `$/cancelRequest`. A request without a response then fails with `RequestCancelledError`."""
        self.notify("$/cancelRequest", {"id": request})

    async def drain(self) -> None:
        """Waits until the send buffer has drained (back-pressure)."""
        if self._transport is not None:
            await self._transport.drain()

    def shut(self) -> None:
        """Starts to close the connection."""
        if self._transport is not None:
            self._transport.close()

    async def close(self) -> None:
        """Closes the connection and waits for its end."""
        if self._transport is not None:
            self._transport.close()
            await asyncio.wait([self.end])

    def abort(self) -> None:
        """Closes the connection immediately, without flushing."""
        if self._transport is not None:
            self._transport.abort()

    # Receiving

    def received(self, message: bytes | bytearray | str) -> None:
        """Handles a message from the transport."""
        self.received_count += 1
        try:
            taken = _decode(message if isinstance(message, str) else message.decode())
        except (ValueError, RecursionError) as error:
            raise ProtocolViolationError(f"the server has sent invalid JSON: {error}") from None
        for part in taken if isinstance(taken, list) else (taken,):
            if not isinstance(part, dict):
                raise ProtocolViolationError("the server has sent JSON that is not a JSON-RPC message")
            if "method" in part:
                self._notified(part)
            else:
                self._handle_response(part)

    def ended(self, reason: BaseException | None) -> None:
        """Handles the end of the transport."""
        if self.end.done():
            return
        if isinstance(reason, StatewireError):
            error: StatewireError = reason
        else:
            # The last error with id null is the reason why the server has closed the connection.
            text = str(reason) if reason else "the connection has ended"
            error = ConnectionLostError(f"{text}: {self._last_failure}" if self._last_failure else text)
            error.__cause__ = reason or self._last_failure
        self.end.set_result(error)
        waiting, self._open = self._open, {}
        for entry in waiting.values():
            entry.on_response(error)
        self._listener.ended(error)

    # Errors without an id

    def refuse(self, error: RPCError) -> None:
        """Ends the request that an error with id null belongs to.

        An error for the limit `frameBytes` or `nesting` ends the largest open request. If the error belongs
        to another one, the largest request is refused too, and the error for it ends the other one. From then
        on, frames of its size are not sent.

        An error for a frame that the server cannot parse does not say which request it belongs to. The
        connection sends `ping`: after its response, the server has started all earlier requests. The ones
        that are still open are ended; those with `settle` only if there are no others. Any other error with
        id null is the reason why the server closes the connection.

        - Source: clients/CONFORMANCE.md, "Refused frames".
        """
        if not self._open:
            return
        limit = error.limit if isinstance(error, LimitError) else None
        if limit == "frameBytes":
            request = max(self._open, key=lambda request: self._open[request].size)
            self.limits = self.limits._replace(frame_bytes=self._open[request].size - 1)
            self._open.pop(request).on_response(error)
        elif limit == "nesting":
            depths = {
                request: nesting(encode(entry.params)) for request, entry in self._open.items()}
            request = max(depths, key=lambda request: depths[request])
            # The params are nested one level less than the frame.
            self.limits = self.limits._replace(nesting=depths[request])
            self._open.pop(request).on_response(error)
        elif isinstance(error, (ParseError, InvalidRequestError)):
            self._refuse_after_ping(error)

    def _refuse_after_ping(self, error: RPCError) -> None:
        def on_response(response: JSONObject | StatewireError) -> None:
            if isinstance(response, ConnectionLostError):
                return
            before = [request for request in self._open if request < ping]
            refused = [request for request in before if not self._open[request].params.get("settle")]
            for request in refused or before:
                self._open.pop(request).on_response(error)

        with contextlib.suppress(ConnectionLostError):
            ping = self.start("ping", {}, on_response)

    def _notified(self, message: JSONObject) -> None:
        method, params = message["method"], message.get("params")
        if not isinstance(method, str) or not isinstance(params, dict) or "id" in message:
            return  # Servers of this protocol version send no requests.
        replica = self.replicas.get(params.get("store", "")) if method.startswith("store/") else None
        if method == "store/changed" and replica is not None:
            self._report(replica, replica.apply(params))
        elif method == "store/closed":
            self.replicas.pop(params.get("store", ""), None)
        elif method == "session/closed":
            self.replicas.clear()
        self._listener.notified(method, params)

    def _handle_response(self, message: JSONObject) -> None:
        request = message.get("id")
        entry = self._open.pop(request, None) if type(request) is int else None
        if entry is None:
            if "error" in message and request is None:
                self._last_failure = RPCError.of(message["error"])
                self._listener.failed(self._last_failure)
            return
        if "error" in message:
            entry.on_response(RPCError.of(message["error"]))
            return
        result = message.get("result")
        if result is None and entry.method == "shutdown":
            # The result of `shutdown` is null, as in the Language Server Protocol. Callers get an object.
            result = {}
        if not isinstance(result, dict):
            raise ProtocolViolationError(f"the result of {entry.method} is not an object")
        self._update_replicas(entry.method, entry.params, result)
        entry.on_response(result)

    def _update_replicas(self, method: str, params: JSONObject, result: JSONObject) -> None:
        """Updates replicas according to a result."""
        store = params.get("store", "")
        if method == "store/send":
            replica = self.replicas.get(store)
            if replica is not None:
                self._report(replica, replica.check_response(result.get("revision")))
        elif method == "store/state":
            replica = self.replicas.get(store)
            if replica is not None:
                self._report(replica, replica.compare(result))
        elif method == "store/subscribe":
            replica = self._hold(store, result)
            replica.format = "state" if params.get("format") == "state" else "patch"
        elif method == "store/unsubscribe":
            self.replicas.pop(store, None)
        elif method == "session/attach":
            self._attached(result.get("stores"))
        elif method in ("session/detach", "session/close"):
            self.replicas.clear()

    def _attached(self, stores: Any) -> None:
        """Takes the snapshots of `session/attach`. A replayed store keeps its replica; its updates follow."""
        if not isinstance(stores, dict):
            raise ProtocolViolationError("the result of session/attach has no stores")
        for store in [store for store in self.replicas if store not in stores]:
            del self.replicas[store]
        for store, held in stores.items():
            if "snapshot" in held:
                self._hold(store, held["snapshot"])
            elif "closed" in held:
                self.replicas.pop(store, None)

    def _hold(self, store: str, snapshot: JSONObject) -> Replica:
        revision = snapshot.get("revision")
        if type(revision) is not int or "state" not in snapshot:
            raise ProtocolViolationError("the server has sent a state without its revision")
        replica = self.replicas.get(store)
        if replica is None:
            replica = self.replicas[store] = Replica(store, revision, snapshot["state"])
        else:
            replica.reset(revision, snapshot["state"])
        return replica

    def _report(self, replica: Replica, divergence: Divergence | None) -> None:
        if divergence is not None:
            self._listener.diverged(replica, divergence)


def settling(future: asyncio.Future[JSONObject]) -> ResponseHandler:
    """Makes a callback that completes a future, unless it is done already."""

    def on_response(response: JSONObject | StatewireError) -> None:
        if future.done():
            return
        if isinstance(response, StatewireError):
            future.set_exception(response)
        else:
            future.set_result(response)

    return on_response
