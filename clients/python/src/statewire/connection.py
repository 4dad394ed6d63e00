# SPDX-License-Identifier: Apache-2.0
"""One connection: requests and their answers, notifications, and the views that frames keep up to date.

It sends nothing that it was not asked for, and ends with its wire. What comes is taken in at once, in its
order and in one go for each read, so that whoever sees an answer sees the state that belongs to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from .errors import (
    ConnectionLost,
    InvalidRequest,
    LimitMet,
    ParseError,
    ProtocolViolation,
    ServerError,
    StatewireError,
    TimedOut,
)
from .limits import Limits, encode, nesting, request_frame
from .view import Fault, View
from .wires import Address, Wire, open_wire

JSONObject: TypeAlias = dict[str, Any]


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


class _Open(NamedTuple):
    """A request that waits for its response."""

    method: str
    params: JSONObject
    answered: Answered
    # Bytes of its frame.
    size: int


Answered: TypeAlias = Callable[["Result | StatewireError"], None]
Result: TypeAlias = JSONObject


class Observer:
    """Who is told what happens on a connection. All of it is told at once, before the next message."""

    def notified(self, method: str, params: JSONObject) -> None:
        """A notification has come; the views are up to date already."""

    def faulty(self, view: View, fault: Fault) -> None:
        """A view is not the server's any more."""

    def failed(self, error: ServerError) -> None:
        """The server has said what is wrong, but not with which request."""

    def ended(self, reason: StatewireError) -> None:
        """The connection has ended; all requests have failed with this."""


class Connection:
    """A JSON-RPC connection to a server."""

    def __init__(self, observer: Observer | None = None, views: dict[str, View] | None = None) -> None:
        """
        - Parameters:
          - observer: Who is told what happens.
          - views: The stores this connection has subscribed to, or is about to attach to: what was held
            before, to be kept up to date from then on.
        """
        self._observer = observer or Observer()
        self._wire: Wire | None = None
        self._last_id = 0
        self._open: dict[int, _Open] = {}
        # What is larger is not sent, but refused as the server would. Told by the server's `initialize`.
        self.limits = Limits()
        self.views: dict[str, View] = {} if views is None else views
        # How many messages have come, so that silence can be noticed.
        self.received_count = 0
        # Done when the connection has ended.
        self.end: asyncio.Future[StatewireError] = asyncio.get_running_loop().create_future()
        self._last_failure: ServerError | None = None

    @staticmethod
    async def to(
        address: Address,
        observer: Observer | None = None,
        views: dict[str, View] | None = None,
        tls: ssl.SSLContext | None = None,
        log: int | None = None,
    ) -> Connection:
        """Connects; see `open_wire` for address, TLS and log."""
        connection = Connection(observer, views)
        connection.use(await open_wire(address, connection, tls, log))
        return connection

    def use(self, wire: Wire) -> None:
        """Sends over this wire, whose receiver the connection is."""
        self._wire = wire

    @property
    def is_awaiting(self) -> bool:
        """True while a response is missing."""
        return bool(self._open)

    # Sending

    def start(self, method: str, params: Mapping[str, Any], answered: Answered) -> int:
        """Sends a request.

        - Parameters:
          - method: The method.
          - params: Its params.
          - answered: Is told the result, or what went wrong, at the very moment of the answer.
        - Returns: The id, for `cancel`.
        - Raises: `ConnectionLost` if the connection has ended already; `LimitMet` if the frame is larger than
          the server accepts; `TypeError`, `ValueError` for what is not JSON. Nothing was sent then.
        """
        if self._wire is None or self.end.done():
            raise ConnectionLost("there is no connection")
        self._last_id += 1
        request = self._last_id
        taken = dict(params)
        frame = request_frame(request, method, taken)
        self.limits.check(frame)
        self._open[request] = _Open(method, taken, answered, len(frame))
        self._wire.send(frame)
        return request

    def begin(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> tuple[int, asyncio.Future[JSONObject]]:
        """Sends a request; its id, and a future with its result or error."""
        future: asyncio.Future[JSONObject] = asyncio.get_running_loop().create_future()
        return self.start(method, params or {}, settling(future)), future

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> JSONObject:
        """Sends a request and waits for its result. Whoever gives up cancels it on the server as well.

        - Parameters:
          - method: The method.
          - params: Its params.
          - timeout: Seconds to wait; without it, for as long as the connection lasts.
        - Raises: `ServerError`, `ConnectionLost`, `TimedOut`.
        """
        loop = asyncio.get_running_loop()
        request, future = self.begin(method, params)
        timer = None
        if timeout is not None:
            error = TimedOut(f"{method}: no answer in {timeout} s")
            timer = loop.call_later(timeout, settling(future), error)
        try:
            return await future
        except (asyncio.CancelledError, TimedOut):
            self.cancel(request)
            raise
        finally:
            if timer:
                timer.cancel()

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a notification; without a connection it is lost.

        - Raises: `LimitMet` if the frame is larger than the server accepts.
        """
        if self._wire is not None and not self.end.done():
            frame = encode({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})
            self.limits.check(frame)
            self._wire.send(frame)

    def cancel(self, request: int) -> None:
        """Has the server cancel what a request goes on with. If it waits for its answer, that is an error."""
        self.notify("$/cancelRequest", {"id": request})

    async def room(self) -> None:
        """Waits while the peer takes less than is sent to it."""
        if self._wire is not None:
            await self._wire.room()

    def shut(self) -> None:
        """Begins to end the connection."""
        if self._wire is not None:
            self._wire.close()

    async def close(self) -> None:
        """Ends the connection, and waits until it has ended."""
        if self._wire is not None:
            self._wire.close()
            await asyncio.wait([self.end])

    def abort(self) -> None:
        """Ends the connection at once."""
        if self._wire is not None:
            self._wire.abort()

    # Receiving

    def received(self, message: bytes | bytearray | str) -> None:
        """The wire has brought a message."""
        self.received_count += 1
        try:
            taken = _decode(message if isinstance(message, str) else message.decode())
        except (ValueError, RecursionError) as error:
            raise ProtocolViolation(f"the server has sent what is no JSON: {error}") from None
        for part in taken if isinstance(taken, list) else (taken,):
            if not isinstance(part, dict):
                raise ProtocolViolation("the server has sent what is no message")
            if "method" in part:
                self._notified(part)
            else:
                self._answered(part)

    def ended(self, reason: BaseException | None) -> None:
        """The wire has ended."""
        if self.end.done():
            return
        if isinstance(reason, StatewireError):
            error: StatewireError = reason
        else:
            # What the server said last is why it has closed the connection.
            text = str(reason) if reason else "the connection has ended"
            error = ConnectionLost(f"{text}: {self._last_failure}" if self._last_failure else text)
            error.__cause__ = reason or self._last_failure
        self.end.set_result(error)
        waiting, self._open = self._open, {}
        for entry in waiting.values():
            entry.answered(error)
        self._observer.ended(error)

    # Errors without an id

    def refuse(self, error: ServerError) -> None:
        """Ends the request that the server has refused with `error`, under the id null.

        The frames that meet a limit of size or depth are the largest ones, so the request is the largest of
        those that are open: if another one was meant, this one is refused as well, and the other is ended by
        that error. Frames of its size are refused before they are sent from then on.

        A frame that could not be read says nothing about its request. A `ping` is answered after everything
        before it has been begun: requests that are still open then are ended, and inputs that wait for their
        effects only if there are no others. Other errors without an id are why the connection ends.
        """
        if not self._open:
            return
        limit = error.limit if isinstance(error, LimitMet) else None
        if limit == "frameBytes":
            request = max(self._open, key=lambda request: self._open[request].size)
            self.limits = self.limits._replace(frame_bytes=self._open[request].size - 1)
            self._open.pop(request).answered(error)
        elif limit == "nesting":
            depths = {
                request: nesting(encode(entry.params)) for request, entry in self._open.items()}
            request = max(depths, key=lambda request: depths[request])
            # The params are one level below the frame.
            self.limits = self.limits._replace(nesting=depths[request])
            self._open.pop(request).answered(error)
        elif isinstance(error, (ParseError, InvalidRequest)):
            self._refuse_after_ping(error)

    def _refuse_after_ping(self, error: ServerError) -> None:
        def answered(answer: JSONObject | StatewireError) -> None:
            if isinstance(answer, ConnectionLost):
                return
            before = [request for request in self._open if request < ping]
            refused = [request for request in before if not self._open[request].params.get("settle")]
            for request in refused or before:
                self._open.pop(request).answered(error)

        with contextlib.suppress(ConnectionLost):
            ping = self.start("ping", {}, answered)

    def _notified(self, message: JSONObject) -> None:
        method, params = message["method"], message.get("params")
        if not isinstance(method, str) or not isinstance(params, dict) or "id" in message:
            return  # Not of this protocol's version: a server asks nothing.
        view = self.views.get(params.get("store", "")) if method.startswith("store/") else None
        if method == "store/changed" and view is not None:
            self._judge(view, view.change(params))
        elif method == "store/closed":
            self.views.pop(params.get("store", ""), None)
        elif method == "session/closed":
            self.views.clear()
        self._observer.notified(method, params)

    def _answered(self, message: JSONObject) -> None:
        request = message.get("id")
        entry = self._open.pop(request, None) if type(request) is int else None
        if entry is None:
            if "error" in message and request is None:
                self._last_failure = ServerError.of(message["error"])
                self._observer.failed(self._last_failure)
            return
        if "error" in message:
            entry.answered(ServerError.of(message["error"]))
            return
        result = message.get("result")
        if result is None and entry.method == "shutdown":
            # As in the Language Server Protocol; for callers it is an object like all others.
            result = {}
        if not isinstance(result, dict):
            raise ProtocolViolation(f"the result of {entry.method} is no object")
        self._understand(entry.method, entry.params, result)
        entry.answered(result)

    def _understand(self, method: str, params: JSONObject, result: JSONObject) -> None:
        """What an answer says about views."""
        store = params.get("store", "")
        if method == "store/send":
            view = self.views.get(store)
            if view is not None:
                self._judge(view, view.answered(result.get("revision")))
        elif method == "store/state":
            view = self.views.get(store)
            if view is not None:
                self._judge(view, view.compare(result))
        elif method == "store/subscribe":
            view = self._hold(store, result)
            view.format = "state" if params.get("format") == "state" else "patch"
        elif method == "store/unsubscribe":
            self.views.pop(store, None)
        elif method == "session/attach":
            self._attached(result.get("stores"))
        elif method in ("session/detach", "session/close"):
            self.views.clear()

    def _attached(self, stores: Any) -> None:
        """A store that was replayed goes on from what is held; the frames follow."""
        if not isinstance(stores, dict):
            raise ProtocolViolation("session/attach has an answer without stores")
        for store in [store for store in self.views if store not in stores]:
            del self.views[store]
        for store, held in stores.items():
            if "snapshot" in held:
                self._hold(store, held["snapshot"])
            elif "closed" in held:
                self.views.pop(store, None)

    def _hold(self, store: str, snapshot: JSONObject) -> View:
        revision = snapshot.get("revision")
        if type(revision) is not int or "state" not in snapshot:
            raise ProtocolViolation("a state has come without its revision")
        view = self.views.get(store)
        if view is None:
            view = self.views[store] = View(store, revision, snapshot["state"])
        else:
            view.reset(revision, snapshot["state"])
        return view

    def _judge(self, view: View, fault: Fault | None) -> None:
        if fault is not None:
            self._observer.faulty(view, fault)


def settling(future: asyncio.Future[JSONObject]) -> Answered:
    """Ends a future with an answer, unless it has ended already."""

    def answered(answer: JSONObject | StatewireError) -> None:
        if future.done():
            return
        if isinstance(answer, StatewireError):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    return answered
