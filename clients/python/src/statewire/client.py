# SPDX-License-Identifier: Apache-2.0
"""A frontend that survives its connections.

The session is opened once and attached to again after each lost connection, with the revisions held: the
server replays what was missed, or sends the state as it is. Inputs are numbered, so that those whose
answers were lost are sent again and applied exactly once.
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
from .connection import Connection, JSONObject, Observer
from .errors import (
    ConnectionLost,
    ServerError,
    SessionEnded,
    SessionOver,
    StatewireError,
    StoreClosed,
    TimedOut,
    Unauthorised,
    UnknownSession,
    UnknownStore,
    VersionNotSupported,
)
from .inputs import Input, Inputs, Sent
from .kinds import I, Kind, V
from .limits import Limits
from .liveness import BEATS_PER_PERIOD, Liveness
from .news import Happenings, Listener, Newest, News
from .printable import visible
from .store import Store
from .view import Fault, View
from .wires import Address

PROTOCOL_VERSION = "1"
_log = logging.getLogger("statewire")

# connecting: for the first time. open: all is up to date, or will be at once. waiting: the connection was
# lost and comes back by itself. closed: nothing more comes.
Status = Literal["connecting", "open", "waiting", "closed"]
Role = Literal["driver", "observer"]


class Notification(NamedTuple):
    """A notification of the server that belongs to no store of this client."""

    method: str
    params: dict[str, Any]


class Client(Observer):
    """A frontend's connection to a session, and the stores it looks at.

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
        is_patient: bool = False,
        ping_every: float = 20.0,
        check_every: float | None = 60.0,
        maximum_waiting: int = 1024,
    ) -> None:
        """
        - Parameters:
          - address: Where the server is, or the command that starts it; see `open_wire`.
          - session: The handle of a session to attach to. Without it a session is opened.
          - frontend: The name of this frontend in the session; a connection that comes under the same
            name takes its place. By default a name that nobody else has.
          - role: An observer sees all and sends nothing.
          - token: What is shown to a server that asks for one.
          - tls: Whom to trust over TLS; by default what the system trusts.
          - log: Where a spawned server's standard error goes, such as `subprocess.DEVNULL`; by default to
            this program's.
          - name: What this program is called, for the server's logs.
          - timeout: Seconds that an answer may take, unless effects are waited for.
          - backoff: How long to wait before connecting again.
          - is_patient: Whether to go on where the first connection fails, too.
          - ping_every: Seconds of silence after which the server is asked whether it is there; half of
            them while a response is awaited. With no message for three quarters of them more, the
            connection is given up.
          - check_every: Seconds after which the states of stores that have changed are compared with
            the server's. A check transfers the whole state; None for never.
          - maximum_waiting: Inputs that may wait for their answers.
        """
        self.address = address
        self.session = session
        self.frontend = frontend or f"python-{secrets.token_hex(6)}"
        self.role: Role = role
        self.timeout = timeout
        self._token, self._tls, self._log, self._name = token, tls, log, name
        self._backoff = backoff or Backoff()
        self._is_patient = is_patient
        self._ping_every, self._check_every = ping_every, check_every
        self._stores: dict[str, Store[Any, Any]] = {}
        self._inputs = Inputs(maximum_waiting, self._backoff)
        self._views: dict[str, View] = {}
        self._connection: Connection | None = None
        # Told when the connection is ready, is lost, or will never come again.
        self._state = News()
        self._status: Status = "connecting"
        self._notifications: Happenings[Notification] = Happenings()
        self._over: StatewireError | None = None
        self._refusal: ServerError | None = None
        self._was_in_session = False
        self._phase: Literal["active", "inactive"] = "active"
        self._running: asyncio.Task[None] | None = None
        self._checked: dict[str, int] = {}
        # The connection from its first request on; `_connection` is the same one once it is ready.
        self._connecting: Connection | None = None
        # How often the connection was lost and came back.
        self.resumes = 0

    # Life

    async def __aenter__(self) -> Client:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connects, and stays connected until `close`.

        - Raises: `StatewireError`, `OSError` if the first connection fails, unless this is patient.
        """
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        try:
            await self._ready()
        except BaseException:
            await self.close()
            raise

    async def close(self, *, end_session: bool = False) -> None:
        """Ends the connection. The session goes on for a while, for others and for whoever has its handle.
        Inputs that are not answered yet fail with `SessionEnded("left")`, also those that the server has.

        - Parameters:
          - end_session: Whether to end the session for everybody.
        """
        if end_session and self._connection is not None and self._over is None:
            # Where that fails, it ends by itself.
            with contextlib.suppress(StatewireError):
                await self._connection.request("session/close", timeout=self.timeout)
        self._finish(SessionEnded("left"))
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
            # What it has ended with was told to everybody.
            if not self._running.cancelled():
                self._running.exception()

    @property
    def status(self) -> Status:
        """How the connection is."""
        return self._status

    @property
    def over(self) -> StatewireError | None:
        """Why nothing more comes, if so."""
        return self._over

    @property
    def refusal(self) -> ServerError | None:
        """Why the server has refused the last connection, while this one waits for another."""
        return self._refusal if self._status == "waiting" else None

    def statuses(self) -> Newest[Status]:
        """How the connection is, at once and each time it changes."""
        return Newest(self._state, lambda: self._status)

    def notifications(self) -> Listener[Notification]:
        """What the server tells beside stores: `session/presence`, `session/traced`, `session/closed`."""
        return self._notifications.listen()

    # Asking

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
        """Opens a store and subscribes to it; the same once more for the same name.

        - Parameters:
          - kind: The kind, such as `TODO`.
          - name: The store's name in the session; by default that of its kind.
          - config: Its configuration. Without one the store may be open already with any, if its name
            is another one than its kind's.
        - Raises: `ServerError`, such as `OtherConfiguration`.
        """
        if isinstance(kind, str):
            kind = cast("Kind[I, V]", Kind(kind))
        name = name or kind.name
        known = self._stores.get(name)
        if known is not None and known.is_subscribed:
            return known
        store: Store[I, V] = Store(self, kind, name, config)
        self._stores[name] = store
        try:
            await self._whenever_connected(lambda connection: self._subscribe(connection, store))
        except BaseException:
            if self._stores.get(name) is store:
                del self._stores[name]
            raise
        return store

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> JSONObject:
        """Sends any other request, once there is a connection.

        - Raises: `ConnectionLost` if the connection ends before the answer: it is not sent again.
        """
        connection = await self._ready()
        return await connection.request(method, params, self.timeout if timeout is None else timeout)

    async def information(self) -> JSONObject:
        """What is in the session, and who is attached (`session/info`)."""
        return await self.request("session/info")

    async def look(self, is_looking: bool) -> None:
        """Says whether somebody looks at this frontend, on this connection and those that come."""
        self._phase = "active" if is_looking else "inactive"
        if self._connection is not None:
            await self.request("frontend/lifecycle", {"phase": self._phase})

    async def become(self, role: Role) -> None:
        """Changes the role in the session."""
        self.role = role
        await self._whenever_connected(self._attach)

    # For stores

    async def compare(self, store: str) -> None:
        """Has the server tell the state of a store, with which the one held is compared."""
        await self._whenever_connected(
            lambda connection: connection.request("store/state", {"store": store}, self.timeout))

    async def room(self) -> None:
        """Waits until another input may be sent."""
        await self._inputs.room()

    def send_input(
        self, store: str, value: Mapping[str, Any], wants_settled: bool,
        answered: Callable[[Sent | StatewireError], None], is_repeatable: bool,
    ) -> Input:
        """Sends an input; see `Store.send`."""
        return self._inputs.add(store, value, wants_settled, answered, is_repeatable)

    def give_up(self, entry: Input) -> None:
        """Nobody waits for the input any more."""
        self._inputs.give_up(entry)

    async def forget(self, store: Store[Any, Any]) -> None:
        """Sees nothing more of a store."""
        if self._stores.get(store.name) is not store:
            return
        del self._stores[store.name]
        store.ended(None)
        if self._connection is not None:
            # The next connection subscribes to what is here then.
            with contextlib.suppress(StatewireError):
                await self.request("store/unsubscribe", {"store": store.name})

    # What a connection tells

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
                self._finish(SessionEnded(str(params.get("reason"))))
            self._notifications.tell(Notification(method, params))

    def faulty(self, view: View, fault: Fault) -> None:
        """A state is not the server's: it is asked for anew, and frames go on from there."""
        store, connection = self._stores.get(view.store), self._connecting
        if store is None or connection is None:
            return
        store.resyncs[fault] += 1
        _log.warning("%s: %s at revision %d, asking anew", view.store, fault, view.revision)

        def answered(answer: JSONObject | StatewireError) -> None:
            if isinstance(answer, StoreClosed):
                self._close_store(store)
            elif isinstance(answer, ServerError):
                store.ended(answer)
            elif not isinstance(answer, StatewireError):
                store.held(self._views.get(store.name))

        # The next connection would attach without this revision.
        with contextlib.suppress(ConnectionLost):
            connection.start("store/subscribe", {"store": view.store}, answered)

    def failed(self, error: ServerError) -> None:
        """A frame was refused under no id: what was in it ends, for no other response comes."""
        if self._connecting is not None:
            self._connecting.refuse(error)

    # Connections

    async def _run(self) -> None:
        failures = 0
        while self._over is None:
            began = asyncio.get_running_loop().time()
            refusal = None
            try:
                await self._connect_once()
            except (Unauthorised, VersionNotSupported, UnknownSession, SessionOver, ValueError) as error:
                self._finish(error if isinstance(error, StatewireError) else _unusable(error))
            except (StatewireError, OSError, asyncio.TimeoutError) as error:
                if self._status == "connecting" and not self._is_patient:
                    self._finish(error if isinstance(error, StatewireError) else _unusable(error))
                    break
                _log.info("no connection: %s", visible(error))
                refusal = error if isinstance(error, ServerError) else None
            except Exception as error:
                # A fault of this package, or a response of no server; whoever waits is not left waiting.
                _log.exception("the client has failed")
                self._finish(_unusable(error))
            else:
                # A server that takes connections and drops them at once is not asked faster and faster.
                if asyncio.get_running_loop().time() - began > 1:
                    failures = 0
            if self._over is None:
                self._refusal = refusal
                self._set_status("waiting")
                await asyncio.sleep(self._backoff.delay(failures))
                failures += 1

    async def _connect_once(self) -> None:
        """Connects and stays until the end.

        - Raises: What was wrong, if the session was not reached.
        """
        self._views = {
            store.name: store._view
            for store in self._stores.values() if store.is_subscribed and store._view is not None
        }
        connection = await asyncio.wait_for(
            Connection.to(self.address, self, self._views, self._tls, self._log), self.timeout)
        self._connecting = connection
        try:
            await self._enter(connection)
            self._connection = connection
            self._set_status("open")
            await self._stay(connection)
        finally:
            self._connection = self._connecting = None
            self._inputs.disconnected()
            # Unless it has ended already, nothing more is expected of it.
            await asyncio.shield(self._leave(connection))

    async def _leave(self, connection: Connection) -> None:
        try:
            await asyncio.wait_for(asyncio.shield(connection.close()), self.timeout)
        except asyncio.TimeoutError:
            connection.abort()

    async def _enter(self, connection: Connection) -> None:
        """Shows who this is, and enters the session."""
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
            except (UnknownSession, SessionOver):
                if not self._was_in_session:
                    raise
                await self._begin_again(connection)
        if self._was_in_session:
            self.resumes += 1
        self._was_in_session = True
        if not connection.end.done():
            self._inputs.connected(connection, accepted)

    async def _open_session(self, connection: Connection) -> None:
        result = await self._entered(connection, "session/open", {"frontend": self.frontend})
        self.session = str(result.get("session"))

    async def _attach(self, connection: Connection) -> int | None:
        """Enters the session; the last number that it has accepted from this frontend."""
        stores = [store for store in self._stores.values() if store.is_subscribed]
        revisions: dict[str, int | None] = {}
        for store in stores:
            view = self._views.get(store.name)
            revisions[store.name] = None if view is None or view.is_faulty else view.revision
        params: JSONObject = {
            "session": self.session, "frontend": self.frontend, "role": self.role, "revisions": revisions}
        try:
            result = await self._entered(connection, "session/attach", params)
        except UnknownStore:
            # One of them does not exist here; which, is found out one by one.
            params["revisions"] = {}
            result = await self._entered(connection, "session/attach", params)
            await self._subscribe_all(connection, stores)
        else:
            for store in stores:
                if "closed" in result.get("stores", {}).get(store.name, {}):
                    self._close_store(store)
                else:
                    store.held(self._views.get(store.name))
        accepted = result.get("sequence")
        return accepted if type(accepted) is int else None

    async def _entered(self, connection: Connection, method: str, params: JSONObject) -> JSONObject:
        """Who enters a session is looked at, unless it says in the same breath that it is not."""
        _, entered = connection.begin(method, params)
        if self._phase == "inactive":
            connection.notify("frontend/lifecycle", {"phase": self._phase})
        return await asyncio.wait_for(entered, self.timeout)

    async def _begin_again(self, connection: Connection) -> None:
        """The session is gone; a new one gets the same stores."""
        _log.warning("the session is gone; a new one begins")
        self._inputs.session_was_lost()
        await self._open_session(connection)
        await self._subscribe_all(
            connection, [store for store in self._stores.values() if store.is_subscribed])

    async def _subscribe_all(self, connection: Connection, stores: list[Store[Any, Any]]) -> None:
        for store in stores:
            try:
                await self._subscribe(connection, store)
            except ServerError as error:
                self._stores.pop(store.name, None)
                store.ended(error)

    async def _subscribe(self, connection: Connection, store: Store[Any, Any]) -> None:
        opening: JSONObject = {"store": store.name, "kind": store.kind.name}
        # An observer opens nothing; what is not open yet is refused when it subscribes.
        if store.config is not None and self.role != "observer":
            await connection.request("store/open", {**opening, "config": dict(store.config)}, self.timeout)

        subscription = {"store": store.name}
        try:
            await connection.request("store/subscribe", subscription, self.timeout)
        except UnknownStore:
            if store.config is not None or store.kind.name == store.name or self.role == "observer":
                raise
            await connection.request("store/open", opening, self.timeout)
            await connection.request("store/subscribe", subscription, self.timeout)
        store.is_subscribed = True
        store.held(connection.views.get(store.name))

    async def _stay(self, connection: Connection) -> None:
        """Sees that the connection is alive and the states are right, until it ends."""
        loop = asyncio.get_running_loop()
        next_check = loop.time() + (self._check_every or 0)
        liveness, count = Liveness(), connection.received_count
        while not connection.end.done():
            await asyncio.wait([connection.end], timeout=self._ping_every / BEATS_PER_PERIOD)
            if connection.received_count != count:
                count = connection.received_count
                liveness.heard()
            try:
                match liveness.beat(connection.is_awaiting):
                    case "ask":
                        connection.start("ping", {}, lambda _: None)
                    case "gone":
                        connection.abort()
                if self._check_every is not None and loop.time() >= next_check:
                    await self._check_all(connection)
                    next_check = loop.time() + self._check_every
            except TimedOut:
                connection.abort()
            except StatewireError:
                continue
        if self._over is None:
            _log.info("lost the connection: %s", connection.end.result())

    async def _check_all(self, connection: Connection) -> None:
        for name, view in list(self._views.items()):
            if self._checked.get(name) != view.revision and not view.is_faulty:
                answer = await connection.request("store/state", {"store": name}, self.timeout)
                # The view may be of a later revision by now, which nothing was compared with.
                self._checked[name] = answer.get("revision", -1)

    # States

    async def _ready(self) -> Connection:
        """The connection, as soon as there is one.

        - Raises: What it all has ended with.
        """
        while True:
            if self._over is not None:
                raise self._over
            if self._connection is not None and not self._connection.end.done():
                return self._connection
            await self._state.after(self._state.count)

    async def _whenever_connected(self, act: Callable[[Connection], Any]) -> Any:
        """Acts on a connection, and again on the next one if it is lost meanwhile."""
        while True:
            connection = await self._ready()
            try:
                return await act(connection)
            except ConnectionLost:
                await asyncio.sleep(0)

    def _set_status(self, status: Status) -> None:
        if self._status != status:
            self._status = status
        self._state.tell()

    def _close_store(self, store: Store[Any, Any]) -> None:
        self._stores.pop(store.name, None)
        store.ended(StoreClosed(-32011, "the store was closed"))

    def _finish(self, error: StatewireError) -> None:
        """Nothing more comes, for this reason."""
        if self._over is not None:
            return
        self._over = error
        self._set_status("closed")
        self._inputs.end(error)
        left = isinstance(error, SessionEnded) and error.reason == "left"
        for store in list(self._stores.values()):
            store.ended(None if left else error)
        self._stores.clear()
        self._notifications.end()
        self._state.end(None)
        if self._connection is not None:
            self._connection.shut()


def _unusable(error: BaseException) -> ConnectionLost:
    lost = ConnectionLost(f"no connection: {error or type(error).__name__}")
    lost.__cause__ = error
    return lost
