# SPDX-License-Identifier: Apache-2.0
"""A client that reconnects and resumes its session.

The client opens a session once. After each lost connection it attaches to the session again and names the
revisions that its replicas hold: the server replays the missed updates, or sends the whole state. Inputs are
numbered. An input without a response is sent again and applied exactly once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import ssl
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Literal, NamedTuple, cast, overload

from .backoff import Backoff
from .connection import Connection, ConnectionListener, JSONObject
from .errors import (
    ConnectionLostError,
    ExpiredSessionError,
    ProtocolVersionError,
    RPCError,
    SessionEndedError,
    StatewireError,
    StoreClosedError,
    TimedOutError,
    UnauthorisedError,
    UnknownSessionError,
    UnknownStoreError,
)
from .inputs import Input, Inputs, SendResult
from .kinds import I, Kind, V
from .limits import Limits
from .liveness import BEATS_PER_PERIOD, Liveness
from .printing import printable
from .replica import Divergence, Replica
from .signal import Broadcast, EventStream, LatestValues, Signal
from .store import Store
from .transports import Address

PROTOCOL_VERSION = "1"
_log = logging.getLogger("statewire")

# connecting: the first connection is being made. connected: the client is attached to its session.
# reconnecting: the connection was lost or refused; the client tries again by itself. closed: final.
Status = Literal["connecting", "connected", "reconnecting", "closed"]
Role = Literal["driver", "observer"]


class Notification(NamedTuple):
    """A notification from the server that is not about a store, such as `session/presence`."""

    method: str
    params: dict[str, Any]


class Client(ConnectionListener):
    """A client of one session and its stores. It reconnects by itself.

    async with Client("tcp://127.0.0.1:7227") as client:
        todo = await client.open(TODO)
        await todo.send({"type": "stateRequested"})
        async for state in todo: ...
    """

    def __init__(
        self,
        address: Address,
        *,
        session: str | None = None,
        frontend: str | None = None,
        role: Role = "driver",
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
        log: int | None = None,
        name: str = "statewire-python",
        timeout: float = 30.0,
        backoff: Backoff | None = None,
        retry_initial_connection: bool = False,
        ping_interval: float = 20.0,
        verify_interval: float | None = 60.0,
        maximum_pending: int = 1024,
    ) -> None:
        """
        - Parameters:
          - address: The address of the server, or the command that starts it; see `open_transport`.
          - session: The handle of a session to attach to. None opens a session.
          - frontend: The name of this frontend in the session. A connection that attaches with the same
            name evicts this client. None chooses a random name.
          - role: A driver sends inputs. An observer only subscribes.
          - token: The token for a server that requires one.
          - tls: The TLS context. None verifies the server with the certificates of the system.
          - log: The standard error of a spawned server, such as `subprocess.DEVNULL`. None inherits that
            of this program.
          - name: The name of this program in the server's logs.
          - timeout: Seconds to wait for a response, unless it waits for effects (`settle`).
          - backoff: The delays before the client connects again.
          - retry_initial_connection: True to try again when the first connection fails.
          - ping_interval: Seconds without a message after which the client sends `ping`; half of them while
            a response is pending. The client drops the connection if no message arrives in the following
            three quarters of the interval.
          - verify_interval: Seconds between comparisons of changed states with the server's. Each comparison
            transfers the whole state. None disables them.
          - maximum_pending: The number of inputs that may be without a response.
        """
        self.address = address
        self.session = session
        self.frontend = frontend or f"python-{secrets.token_hex(6)}"
        self.role: Role = role
        self.timeout = timeout
        self._token, self._tls, self._log, self._name = token, tls, log, name
        self._backoff = backoff or Backoff()
        self._retry_initial_connection = retry_initial_connection
        self._ping_interval, self._verify_interval = ping_interval, verify_interval
        self._stores: dict[str, Store[Any, Any]] = {}
        # The calls of `open` that have not ended, by store.
        self._opening: dict[str, asyncio.Future[None]] = {}
        self._inputs = Inputs(maximum_pending, self._backoff)
        self._replicas: dict[str, Replica] = {}
        self._connection: Connection | None = None
        # Notified when the connection is ready or lost, and when the client closes.
        self._state = Signal()
        self._status: Status = "connecting"
        self._notifications: Broadcast[Notification] = Broadcast()
        self._close_reason: StatewireError | None = None
        self._refusal: RPCError | None = None
        self._was_in_session = False
        self._phase: Literal["active", "inactive"] = "active"
        # The phase that the last `session/open` or `session/attach` was sent with.
        self._entered_phase: Literal["active", "inactive"] = "active"
        self._running: asyncio.Task[None] | None = None
        self._checked: dict[str, int] = {}
        # The connection from its first request on. `_connection` is the same object once it is attached.
        self._connecting: Connection | None = None
        # The number of times that the client has reconnected.
        self.reconnects = 0

    # Lifetime

    async def __aenter__(self) -> Client:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connects, and reconnects until `close`.

        - Raises: `StatewireError`, `OSError` if the first connection fails, unless
          `retry_initial_connection` is set.
        """
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        try:
            await self._ready()
        except BaseException:
            await self.close()
            raise

    async def end_session(self) -> None:
        """Closes the session with its stores, for all clients, and then this client.

        If the request fails, the session expires by itself.
        """
        if self._connection is not None and self._close_reason is None:
            with contextlib.suppress(StatewireError):
                await self._connection.request("session/close", timeout=self.timeout)
        await self.close()

    async def close(self) -> None:
        """Closes the connection. The session continues on the server until it expires.

        Pending inputs fail with `SessionEndedError("clientClosed")`. The server may have applied them.
        """
        self._finish(SessionEndedError("clientClosed"))
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
            # The error was reported to all callers already; reading it avoids a warning of asyncio.
            if not self._running.cancelled():
                self._running.exception()

    @property
    def status(self) -> Status:
        """The state of the connection."""
        return self._status

    @property
    def close_reason(self) -> StatewireError | None:
        """The error that has closed the client, or None."""
        return self._close_reason

    @property
    def refusal(self) -> RPCError | None:
        """The error with which the server refused the last connection, while the client reconnects."""
        return self._refusal if self._status == "reconnecting" else None

    def statuses(self) -> LatestValues[Status]:
        """Iterates over the states of the connection, beginning with the current one."""
        return LatestValues(self._state, lambda: self._status)

    def notifications(self) -> EventStream[Notification]:
        """Iterates over notifications about the session: `session/presence`, `session/traced`,
        `session/closed`."""
        return self._notifications.subscribe()

    # Requests

    @overload
    async def open(
        self, kind: Kind[I, V], name: str | None = None, config: Mapping[str, Any] | None = None
    ) -> Store[I, V]: ...

    @overload
    async def open(
        self, kind: str, name: str | None = None, config: Mapping[str, Any] | None = None
    ) -> Store[Any, Any]: ...

    async def open(
        self, kind: Kind[I, V] | str, name: str | None = None, config: Mapping[str, Any] | None = None
    ) -> Store[Any, Any]:
        """Opens a store and subscribes to it. A second call with the same name returns the same store.

        - Parameters:
          - kind: The store kind, such as `TODO`.
          - name: The store's name in the session; by default the name of its kind.
          - config: The configuration of the store. None accepts a store that is open already, with any
            configuration.
        - Raises: `RPCError`, such as `OtherConfigurationError`.
        """
        if isinstance(kind, str):
            kind = cast("Kind[I, V]", Kind(kind))
        name = name or kind.name
        # If the other call fails or is cancelled, this one opens the store.
        while opening := self._opening.get(name):
            await asyncio.wait([opening])
        known = self._stores.get(name)
        if known is not None and known.is_subscribed:
            return known
        store: Store[I, V] = Store(self, kind, name, config)
        self._stores[name] = store
        self._opening[name] = asyncio.get_running_loop().create_future()
        try:
            await self._whenever_connected(lambda connection: self._subscribe(connection, store))
        except BaseException:
            if self._stores.get(name) is store:
                del self._stores[name]
            raise
        finally:
            self._opening.pop(name).set_result(None)
        return store

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> JSONObject:
        """Sends a request as soon as the client is connected.

        - Raises: `RPCError`; `ConnectionLostError` if the connection ends before the response. The request is
          not sent again.
        """
        connection = await self._ready()
        return await connection.request(method, params, self.timeout if timeout is None else timeout)

    async def session_info(self) -> JSONObject:
        """Lists the stores and the participants of the session (`session/info`)."""
        return await self.request("session/info")

    async def set_phase(self, phase: Literal["active", "inactive"]) -> None:
        """Reports whether the frontend is active (visible to a person), also on later connections.

        The server redacts some states while no frontend of the session is active.
        """
        self._phase = phase
        if self._connection is not None:
            await self.request("frontend/lifecycle", {"phase": self._phase})

    async def set_role(self, role: Role) -> None:
        """Changes the role of this client in the session."""
        self.role = role
        await self._whenever_connected(self._attach)

    # Used by `Store`

    async def compare(self, store: str) -> None:
        """Requests the state of a store, with which its replica is compared."""
        await self._whenever_connected(
            lambda connection: connection.request("store/state", {"store": store}, self.timeout))

    async def drain(self) -> None:
        """Waits until the client accepts another input (back-pressure)."""
        await self._inputs.drain()

    def send_input(
        self, store: str, value: Mapping[str, Any], wants_settled: bool,
        completion: Callable[[SendResult | StatewireError], None], is_idempotent: bool,
        traceparent: str | None,
    ) -> Input:
        """Sends an input; see `Store.send`."""
        return self._inputs.add(store, value, wants_settled, completion, is_idempotent, traceparent)

    def cancel_input(self, entry: Input) -> None:
        """Cancels an input whose result is not awaited any more."""
        self._inputs.cancel(entry)

    async def unsubscribe(self, store: Store[Any, Any]) -> None:
        """Unsubscribes from a store."""
        if self._stores.get(store.name) is not store:
            return
        del self._stores[store.name]
        store.ended(None)
        if self._connection is not None:
            # If this fails, the next connection does not subscribe to the store.
            with contextlib.suppress(StatewireError):
                await self.request("store/unsubscribe", {"store": store.name})

    # `ConnectionListener`

    def notified(self, method: str, params: JSONObject) -> None:
        store = self._stores.get(params.get("store", "")) if method.startswith("store/") else None
        if method == "store/changed":
            if store is not None:
                store.changed(params.get("applied"))
        elif method == "store/event":
            if store is not None:
                store.happened(params.get("event"))
        elif method == "store/closed":
            if store is not None:
                self._close_store(store)
        else:
            if method == "session/closed" and params.get("session") == self.session:
                self._finish(SessionEndedError(str(params.get("reason"))))
            self._notifications.send(Notification(method, params))

    def diverged(self, replica: Replica, divergence: Divergence) -> None:
        """Requests the whole state of a store whose replica has diverged."""
        store, connection = self._stores.get(replica.store), self._connecting
        if store is None or connection is None:
            return
        store.resyncs[divergence] += 1
        _log.warning(
            "store %s: replica diverged (%s) at revision %d; requesting the whole state",
            replica.store, divergence, replica.revision)

        def on_response(response: JSONObject | StatewireError) -> None:
            if isinstance(response, StoreClosedError):
                self._close_store(store)
            elif isinstance(response, RPCError):
                store.ended(response)
            elif not isinstance(response, StatewireError):
                store.held(self._replicas.get(store.name))

        # If the connection is lost, the next one attaches without this revision.
        with contextlib.suppress(ConnectionLostError):
            connection.start("store/subscribe", {"store": replica.store}, on_response)

    def failed(self, error: RPCError) -> None:
        """Ends the request that belongs to an error with id null: it gets no other response."""
        if self._connecting is not None:
            self._connecting.refuse(error)

    # Connections

    async def _run(self) -> None:
        failures = 0
        while self._close_reason is None:
            began = asyncio.get_running_loop().time()
            refusal = None
            try:
                await self._connect_once()
            except (
                UnauthorisedError, ProtocolVersionError, UnknownSessionError, ExpiredSessionError, ValueError,
            ) as error:
                self._finish(error if isinstance(error, StatewireError) else _unusable(error))
            except (StatewireError, OSError, asyncio.TimeoutError) as error:
                if self._status == "connecting" and not self._retry_initial_connection:
                    self._finish(error if isinstance(error, StatewireError) else _unusable(error))
                    break
                _log.info("cannot connect: %s; trying again", printable(error))
                refusal = error if isinstance(error, RPCError) else None
            except Exception as error:
                # A bug in this package, or an invalid response. Pending calls must fail and not wait
                # without end.
                _log.exception("internal error in the client; closing it")
                self._finish(_unusable(error))
            else:
                # The delay keeps growing while the server accepts connections and closes them immediately.
                if asyncio.get_running_loop().time() - began > 1:
                    failures = 0
            if self._close_reason is None:
                self._refusal = refusal
                self._set_status("reconnecting")
                await asyncio.sleep(self._backoff.delay(failures))
                failures += 1

    async def _connect_once(self) -> None:
        """Connects, and returns when the connection has ended.

        - Raises: The error that prevented the client from attaching to the session.
        """
        self._replicas = {
            store.name: store._replica
            for store in self._stores.values() if store.is_subscribed and store._replica is not None
        }
        connection = await asyncio.wait_for(
            Connection.to(self.address, self, self._replicas, self._tls, self._log), self.timeout)
        self._connecting = connection
        try:
            await self._enter(connection)
            self._connection = connection
            if self._phase != self._entered_phase:
                connection.notify("frontend/lifecycle", {"phase": self._phase})
            self._set_status("connected")
            await self._stay(connection)
        finally:
            self._connection = self._connecting = None
            self._inputs.disconnected()
            await asyncio.shield(self._leave(connection))

    async def _leave(self, connection: Connection) -> None:
        try:
            await asyncio.wait_for(asyncio.shield(connection.close()), self.timeout)
        except asyncio.TimeoutError:
            connection.abort()

    async def _enter(self, connection: Connection) -> None:
        """Sends `initialize`, and opens the session or attaches to it."""
        hello: JSONObject = {"protocolVersion": PROTOCOL_VERSION, "client": {"name": self._name}}
        if self._token is not None:
            hello["token"] = self._token
        greeted = await connection.request("initialize", hello, self.timeout)
        connection.limits = Limits.of(greeted.get("limits"))
        accepted = None
        if self.session is None:
            await self._open_session(connection)
        else:
            try:
                accepted = await self._attach(connection)
            except (UnknownSessionError, ExpiredSessionError):
                if not self._was_in_session:
                    raise
                await self._begin_again(connection)
        if self._was_in_session:
            self.reconnects += 1
        self._was_in_session = True
        if not connection.end.done():
            self._inputs.connected(connection, accepted)

    async def _open_session(self, connection: Connection) -> None:
        result = await self._entered(connection, "session/open", {"frontend": self.frontend})
        self.session = str(result.get("session"))

    async def _attach(self, connection: Connection) -> int | None:
        """Attaches to the session; returns the last sequence number accepted from this frontend."""
        stores = self._requested()
        revisions: dict[str, int | None] = {}
        for store in stores:
            replica = self._replicas.get(store.name)
            revisions[store.name] = None if replica is None or replica.has_diverged else replica.revision
        params: JSONObject = {
            "session": self.session, "frontend": self.frontend, "role": self.role, "revisions": revisions}
        try:
            result = await self._entered(connection, "session/attach", params)
        except UnknownStoreError:
            # At least one store does not exist. Subscribing one by one finds which.
            params["revisions"] = {}
            stores = self._requested()
            result = await self._entered(connection, "session/attach", params)
            await self._subscribe_all(connection, stores)
        else:
            for store in stores:
                if "closed" in result.get("stores", {}).get(store.name, {}):
                    self._close_store(store)
                else:
                    store.held(self._replicas.get(store.name))
        accepted = result.get("sequence")
        return accepted if type(accepted) is int else None

    def _requested(self) -> list[Store[Any, Any]]:
        """Lists the stores that `session/attach` names.

        It ends each other subscription, so these include those whose response has not arrived.
        """
        return [
            store for store in self._stores.values() if store.is_subscribed or store.open_subscriptions > 0]

    async def _entered(self, connection: Connection, method: str, params: JSONObject) -> JSONObject:
        """Sends `session/open` or `session/attach`.

        Attaching makes a frontend active. An inactive one says so without waiting for the response.
        """
        _, entered = connection.begin(method, params)
        self._entered_phase = self._phase
        if self._phase == "inactive":
            connection.notify("frontend/lifecycle", {"phase": self._phase})
        return await asyncio.wait_for(entered, self.timeout)

    async def _begin_again(self, connection: Connection) -> None:
        """Opens a new session with the same stores, after the server has lost the old one."""
        _log.warning("the session has expired; opening a new one")
        self._inputs.session_was_lost()
        await self._open_session(connection)
        await self._subscribe_all(
            connection, [store for store in self._stores.values() if store.is_subscribed])

    async def _subscribe_all(self, connection: Connection, stores: list[Store[Any, Any]]) -> None:
        for store in stores:
            try:
                await self._subscribe(connection, store)
            except RPCError as error:
                self._stores.pop(store.name, None)
                store.ended(error)

    async def _subscribe(self, connection: Connection, store: Store[Any, Any]) -> None:
        opening: JSONObject = {"store": store.name, "kind": store.kind.name}
        # An observer must not open a store. `store/subscribe` fails if the store is not open.
        if store.config is not None and self.role != "observer":
            await connection.request("store/open", {**opening, "config": dict(store.config)}, self.timeout)

        subscription = {"store": store.name}
        store.open_subscriptions += 1
        try:
            await connection.request("store/subscribe", subscription, self.timeout)
        except UnknownStoreError:
            if store.config is not None or store.kind.name == store.name or self.role == "observer":
                raise
            await connection.request("store/open", opening, self.timeout)
            await connection.request("store/subscribe", subscription, self.timeout)
        finally:
            store.open_subscriptions -= 1
        store.is_subscribed = True
        store.held(connection.replicas.get(store.name))

    async def _stay(self, connection: Connection) -> None:
        """Sends pings and verifies states until the connection ends."""
        loop = asyncio.get_running_loop()
        next_check = loop.time() + (self._verify_interval or 0)
        liveness, count = Liveness(), connection.received_count
        while not connection.end.done():
            await asyncio.wait([connection.end], timeout=self._ping_interval / BEATS_PER_PERIOD)
            if connection.received_count != count:
                count = connection.received_count
                liveness.received()
            try:
                match liveness.beat(connection.is_awaiting):
                    case "ping":
                        connection.start("ping", {}, lambda _: None)
                    case "dead":
                        connection.abort()
                if self._verify_interval is not None and loop.time() >= next_check:
                    await self._check_all(connection)
                    next_check = loop.time() + self._verify_interval
            except TimedOutError:
                connection.abort()
            except StatewireError:
                continue
        if self._close_reason is None:
            _log.info("connection lost: %s; reconnecting", connection.end.result())

    async def _check_all(self, connection: Connection) -> None:
        for name, replica in list(self._replicas.items()):
            if self._checked.get(name) != replica.revision and not replica.has_diverged:
                response = await connection.request("store/state", {"store": name}, self.timeout)
                # The replica may have a later revision by now, which was not compared.
                self._checked[name] = response.get("revision", -1)

    # State of the connection

    async def _ready(self) -> Connection:
        """Waits for a connection that is attached to the session.

        - Raises: The error that has closed the client.
        """
        while True:
            if self._close_reason is not None:
                raise self._close_reason
            if self._connection is not None and not self._connection.end.done():
                return self._connection
            await self._state.wait(self._state.count)

    async def _whenever_connected(self, act: Callable[[Connection], Any]) -> Any:
        """Runs `act` with a connection, and again with the next one if the connection is lost."""
        while True:
            connection = await self._ready()
            try:
                return await act(connection)
            except ConnectionLostError:
                await asyncio.sleep(0)

    def _set_status(self, status: Status) -> None:
        if self._status != status:
            self._status = status
        self._state.notify()

    def _close_store(self, store: Store[Any, Any]) -> None:
        self._stores.pop(store.name, None)
        store.ended(StoreClosedError(-32011, "the store is closed"))

    def _finish(self, error: StatewireError) -> None:
        """Closes the client with an error."""
        if self._close_reason is not None:
            return
        self._close_reason = error
        self._set_status("closed")
        self._inputs.end(error)
        left = isinstance(error, SessionEndedError) and error.reason == "clientClosed"
        for store in list(self._stores.values()):
            store.ended(None if left else error)
        self._stores.clear()
        self._notifications.end()
        self._state.end(None)
        if self._connection is not None:
            self._connection.shut()


def _unusable(error: BaseException) -> ConnectionLostError:
    lost = ConnectionLostError(f"cannot connect: {error or type(error).__name__}")
    lost.__cause__ = error
    return lost
