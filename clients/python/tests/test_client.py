# SPDX-License-Identifier: Apache-2.0
"""The client with the program: resuming, exactly once, cancellation, waiting, optimistic updates."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import os
import pathlib
import signal
import unittest
from typing import Any, Literal, cast
from unittest import mock

from statewire import (
    BALANCE,
    FORM,
    LOADING,
    TODO,
    Backoff,
    Client,
    ConnectionLostError,
    InvalidParamsError,
    MethodNotFoundError,
    ObserverError,
    OtherConfigurationError,
    Replica,
    SessionEndedError,
    Store,
    StoreClosedError,
    TimedOutError,
    TooManyPendingError,
    UnauthorisedError,
    UnknownSessionError,
    UnknownStoreError,
)
from statewire.transports.process import ProcessTransport
from statewire.types import Todo, TodoViewState, TodoViewStateContent

from .support import PROGRAM, Server, folder, free_port, run

SOON = Backoff(base=0.01, maximum=0.1)
MEMORY = {"memory": {"count": 3}}


async def run_ready_tasks() -> None:
    """Let all tasks run until they wait: a chain of wake-ups takes a pass of the loop for each link."""
    for _ in range(10):
        await asyncio.sleep(0)


def titles(state: TodoViewState) -> list[str]:
    assert state["type"] == "content", state
    return [todo["title"] for todo in state["todos"]]


def with_todo(title: str, state: TodoViewState) -> TodoViewState:
    assert state["type"] == "content"
    return TodoViewStateContent(
        type="content", todos=[*state["todos"], Todo(id="drawn", title=title, completed=False)])


class ClientTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.WARNING)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_spawned(self) -> None:
        async def test() -> None:
            async with Client([PROGRAM, "serve", "--test"]) as client:
                form = await client.open(FORM)
                heard = form.events()
                self.assertFalse(form.state["submitAllowed"])
                await form.send(
                    {"type": "entriesChanged", "firstEntry": "swordfish", "secondEntry": "swordfish"})
                self.assertTrue(form.state["submitAllowed"])
                await form.send({"type": "submitTapped"})
                self.assertEqual(await anext(heard), {"type": "submitted"})

        run(test())

    def test_errors_are_typed(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, Client(server.url) as client:
                store = await client.open(TODO, "list", MEMORY)
                with self.assertRaises(InvalidParamsError) as caught:
                    await store.send({"type": "todoAdded", "title": " "})
                self.assertEqual(caught.exception.path, "/input/title")
                with self.assertRaises(UnknownStoreError):
                    await client.open("no such kind")
                async with Client(server.url, session=client.session) as other:
                    with self.assertRaises(OtherConfigurationError):
                        await other.open(TODO, "list", {"memory": {"count": 4}})
                with self.assertRaises(MethodNotFoundError):
                    await client.request("test/advanceClock", {"by": 1})
                async with Client(server.url, session=client.session, role="observer") as watching:
                    same = await watching.open(TODO, "list")
                    with self.assertRaises(ObserverError):
                        await same.send({"type": "stateRequested"})
                    await watching.set_role("driver")
                    await same.send({"type": "stateRequested"})
                    self.assertEqual(len(titles(same.state)), 3)

        run(test())

    def test_a_store_is_opened_once_by_concurrent_calls(self) -> None:
        """The store of the first call got no updates."""

        async def test() -> None:
            async with await Server.start() as server, Client(server.url) as client:
                stores = await asyncio.gather(*(client.open(TODO, "list", MEMORY) for _ in range(3)))
                self.assertEqual(len({*map(id, stores)}), 1)
                await stores[0].send({"type": "stateRequested"})
                self.assertEqual(len(titles(stores[0].state)), 3)
                # The other call opens the store if the first one ends before.
                first = asyncio.create_task(client.open(TODO, "other", MEMORY))
                second = asyncio.create_task(client.open(TODO, "other", MEMORY))
                await run_ready_tasks()
                first.cancel()
                self.assertTrue((await second).is_subscribed)
                failed = await asyncio.gather(
                    *(client.open("no such kind") for _ in range(2)), return_exceptions=True)
                self.assertEqual([type(error) for error in failed], [UnknownStoreError] * 2)

        run(test())

    def test_an_exception_of_on_state_is_reported(self) -> None:
        """It closed the client."""

        def fail(state: TodoViewState) -> None:
            raise ValueError("broken")

        async def test() -> None:
            reported: list[dict[str, Any]] = []
            asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
            async with await Server.start() as server, Client(server.url) as client:
                store = await client.open(TODO, "list", MEMORY)
                store.on_state = fail
                await store.send({"type": "stateRequested"})
                await store.wait_until(lambda state: state["type"] == "content", 10)
                self.assertEqual((client.status, client.reconnects), ("connected", 0))
            self.assertEqual({str(each["exception"]) for each in reported}, {"broken"})
            self.assertIn("'list'", reported[0]["message"])

        run(test())

    def test_the_role_changes_while_a_store_is_opened(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, Client(server.url) as client:
                store = await client.open(TODO, "list", MEMORY)
                async with Client(server.url, session=client.session, role="observer") as watching:
                    await watching.session_info()
                    same, _ = await asyncio.gather(watching.open(TODO, "list"), watching.set_role("driver"))
                    await store.send({"type": "stateRequested"})
                    await same.wait_until(lambda state: state["type"] == "content", 10)

        run(test())

    def test_the_first_connection(self) -> None:
        async def test() -> None:
            with self.assertRaises(ConnectionLostError):
                await Client(f"tcp://127.0.0.1:{free_port()}").connect()
            with self.assertRaises(ConnectionLostError):
                await Client("nonsense").connect()
            with self.assertRaises(ConnectionLostError):
                await Client([PROGRAM + "-that-is-not-there"]).connect()
            async with await Server.start() as server:
                with self.assertRaises(UnknownSessionError):
                    await Client(server.url, session="never was").connect()

        run(test())

    def test_iteration_skips_to_the_latest_state(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, Client(server.url) as client:
                store = await client.open(TODO, "list", MEMORY)
                states = aiter(store)
                self.assertEqual((await anext(states))["type"], "loading")
                await store.send({"type": "stateRequested"})
                for number in range(100):
                    store.post({"type": "todoAdded", "title": str(number)})
                await store.send({"type": "todoRenamed", "id": "1", "title": "last"})
                seen = await anext(states)
                self.assertEqual(titles(seen)[0], "last")
                self.assertEqual(len(titles(seen)), 103)
                waiting = asyncio.create_task(anext(states))
                await asyncio.sleep(0)
                self.assertFalse(waiting.done())
                await store.send({"type": "todoRemoved", "id": "1"})
                self.assertEqual(titles(await waiting)[0], "Todo 2")
                self.assertEqual(titles(seen)[0], "last", "what was handed out stays")
            self.assertEqual([state async for state in states], [])

        run(test())

    def test_does_not_repeat_equal_states(self) -> None:
        async def test() -> None:
            address = f"127.0.0.1:{free_port()}"
            server = await Server.start(listen=("--tcp", address))
            async with Client(f"tcp://{address}", backoff=SOON) as client:
                store = await client.open(TODO, "list", MEMORY)
                states = aiter(store)
                self.assertEqual((await anext(states))["type"], "loading")
                following = asyncio.create_task(anext(states))
                # The new session begins with an equal state.
                await server.kill()
                server = await Server.start(listen=("--tcp", address))
                async for status in client.statuses():
                    if status == "connected" and client.reconnects:
                        break
                # So does an optimistic update that changes nothing.
                await store.send({"type": "todoRemoved", "id": "none"}, optimistic=copy.copy)
                await asyncio.sleep(0)
                self.assertFalse(following.done())
                await store.send({"type": "stateRequested"})
                self.assertEqual(len(titles(await following)), 3)
            await server.kill()

        run(test())

    def test_a_value_is_not_the_same_as_another_type(self) -> None:
        async def test() -> None:
            values: list[Any] = [{"a": 1}, {"a": 1.0}, {"a": True}, {"a": True}, {"a": [1]}]
            replica = Replica("s", 0, values[0])
            store: Store[Any, Any] = Store(cast(Client, None), TODO, "s", None)
            store.held(replica)
            states = aiter(store)
            seen = [await anext(states)]
            for revision, value in enumerate(values[1:]):
                following = asyncio.create_task(anext(states))
                await run_ready_tasks()
                replica.reset(revision, value)
                store.changed(None)
                await run_ready_tasks()
                if following.done():
                    seen.append(following.result())
                else:
                    following.cancel()
            self.assertEqual(list(map(repr, seen)), ["{'a': 1}", "{'a': True}", "{'a': [1]}"])
            # A slow iteration skips states, which may lead back to the previous one.
            following = asyncio.create_task(anext(states))
            await run_ready_tasks()
            for value in {"b": 1}, {"a": [1]}:
                replica.reset(9, value)
                store.changed(None)
            await run_ready_tasks()
            self.assertFalse(following.done())
            following.cancel()

        run(test())

    def test_resumes_after_the_server_was_killed(self) -> None:
        async def test() -> None:
            with folder() as data:
                address = f"127.0.0.1:{free_port()}"
                options = ("--data-dir", data)
                server = await Server.start(*options, listen=("--tcp", address))
                async with Client(f"tcp://{address}", backoff=SOON) as client:
                    store = await client.open(TODO, "list", MEMORY)
                    await store.send({"type": "stateRequested"})
                    handle = client.session
                    for round in range(3):
                        await server.kill()
                        # The inputs wait for the server and are applied once.
                        sent = [
                            store.post({"type": "todoAdded", "title": f"{round} {number}"})
                            for number in range(5)
                        ]
                        while client.status == "connected":
                            await asyncio.sleep(0.001)
                        self.assertEqual(client.status, "reconnecting")
                        server = await Server.start(*options, listen=("--tcp", address))
                        await asyncio.gather(*sent)
                        self.assertEqual(len(titles(store.state)), 3 + 5 * (round + 1))
                        self.assertTrue(await store.verify())
                    self.assertEqual(client.session, handle)
                    self.assertEqual(client.reconnects, 3)
                    self.assertFalse(store.resyncs)
                await server.kill()

        run(test())

    def test_opens_new_session_after_session_loss(self) -> None:
        async def test() -> None:
            address = f"127.0.0.1:{free_port()}"
            server = await Server.start("--test", listen=("--tcp", address))
            async with Client(f"tcp://{address}", backoff=SOON) as client:
                store = await client.open(TODO, "list", MEMORY)
                await store.send({"type": "stateRequested"})
                await client.request("test/injectFault", {
                    "store": "list", "operation": "addTodo", "fault": {"type": "hang"}})
                unknown = asyncio.create_task(
                    store.send({"type": "todoAdded", "title": "?"}, settle=True))
                await asyncio.sleep(0)
                await client.request("ping")
                await server.kill()
                while client.status == "connected":
                    await asyncio.sleep(0.001)
                later = store.post({"type": "stateRequested"})
                server = await Server.start("--test", listen=("--tcp", address))
                with self.assertRaises(SessionEndedError) as caught:
                    await unknown
                self.assertEqual(caught.exception.reason, "lost")
                await later
                self.assertEqual(titles(store.state), ["Todo 1", "Todo 2", "Todo 3"])
                self.assertTrue(await store.verify())
            await server.kill()

        run(test())

    def test_spawned_server_restarts_with_its_session(self) -> None:
        async def test() -> None:
            with folder() as data:
                async with Client([PROGRAM, "serve", "--data-dir", data], backoff=SOON) as client:
                    store = await client.open(TODO, "list", MEMORY)
                    await store.send({"type": "stateRequested"})
                    handle = client.session
                    assert client._connection
                    wire = client._connection._transport
                    assert isinstance(wire, ProcessTransport)
                    assert wire.pid
                    os.kill(wire.pid, signal.SIGKILL)
                    await store.send({"type": "todoAdded", "title": "after"})
                    self.assertEqual(titles(store.state)[-1], "after")
                    self.assertEqual(client.session, handle)

        run(test())

    def test_evicted_client_does_not_reconnect(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, Client(server.url, frontend="page") as first:
                store = await first.open(TODO, "list", MEMORY)
                async with Client(server.url, session=first.session, frontend="page"):
                    with self.assertRaises(SessionEndedError) as caught:
                        async for _ in store:
                            pass
                    self.assertEqual(caught.exception.reason, "evicted")
                    self.assertEqual(first.status, "closed")
                    with self.assertRaises(SessionEndedError):
                        store.post({"type": "stateRequested"})

        run(test())

    def test_session_or_store_closed_by_another_client(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, Client(server.url) as watching:
                other = await Client(server.url, session=watching.session).__aenter__()
                store = await watching.open(TODO, "list", MEMORY)
                kept = await watching.open(TODO, "kept", MEMORY)
                presence = watching.notifications()
                await other.request("store/close", {"store": "list"})
                with self.assertRaises(StoreClosedError):
                    async for _ in store:
                        pass
                again = await watching.open(TODO, "list", MEMORY)
                self.assertIsNot(again, store)
                await other.end_session()
                with self.assertRaises(SessionEndedError) as caught:
                    async for _ in kept:
                        pass
                self.assertEqual(caught.exception.reason, "closed")
                self.assertEqual((await anext(presence)).method, "session/closed")

        run(test())

    def test_cancelling_cancels_on_the_server(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as client:
                store = await client.open(LOADING, "a", {"type": "mock", "states": [
                    {"state": {"type": "loading", "progress": None}},
                    {"after": 5, "state": {"type": "loaded", "value": 1}}]})
                loading = asyncio.create_task(store.send({"type": "load"}, settle=True))
                await store.wait_until(lambda state: state["type"] == "loading")
                loading.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await loading
                await client.request("test/advanceClock", {"by": 10})
                self.assertEqual(store.state["type"], "loading", "nothing was loaded")
                await store.send({"type": "reset"})
                with self.assertRaises(TimedOutError):
                    await store.send({"type": "load"}, settle=True, timeout=0.01)
                with self.assertRaises(TimedOutError):
                    await store.wait_until(lambda state: state["type"] == "loaded", timeout=0.01)
                await client.request("test/advanceClock", {"by": 10})
                self.assertEqual(store.state["type"], "loading")
                await store.send({"type": "reset"})
                # The next load succeeds.
                loading = asyncio.create_task(store.send({"type": "load"}, settle=True))
                await asyncio.sleep(0)
                await client.request("test/advanceClock", {"by": 10})
                await loading
                self.assertEqual(store.state["type"], "loaded")

        run(test())

    def test_optimistic_update_is_shown_immediately(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as client:
                store = await client.open(TODO)
                await store.send({"type": "stateRequested"}, settle=True)
                await client.request("test/injectFault", {
                    "store": "todo", "operation": "addTodo", "fault": {"type": "delay", "seconds": 1}})
                adding = asyncio.create_task(store.send(
                    {"type": "todoAdded", "title": "Milk"}, settle=True,
                    optimistic=lambda state: with_todo("Milk", state)))
                drawn = await store.wait_until(lambda state: titles(state) == ["Milk"])
                assert drawn["type"] == "content"
                self.assertEqual(drawn["todos"][0]["id"], "drawn")
                self.assertEqual(titles(store.confirmed), [])
                # Changes of other clients are shown below the update.
                async with Client(server.url, session=client.session) as other:
                    same = await other.open(TODO)
                    await same.send({"type": "todoAdded", "title": "Bread"}, settle=True)
                    await client.request("ping")
                    self.assertEqual(titles(store.state), ["Bread", "Milk"])
                await client.request("test/advanceClock", {"by": 1})
                await adding
                assert store.state["type"] == "content"
                self.assertEqual(titles(store.state), ["Bread", "Milk"])
                self.assertNotEqual(store.state["todos"][1]["id"], "drawn")
                self.assertIs(store.state, store.confirmed)

                # The update of a cancelled input disappears.
                with self.assertRaises(InvalidParamsError):
                    await store.send(
                        {"type": "todoAdded", "title": ""}, optimistic=lambda state: with_todo("", state))
                self.assertEqual(titles(store.state), ["Bread", "Milk"])

        run(test())

    def test_optimistic_update_is_shown_until_applied(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, Client(server.url) as client:
                store = await client.open(TODO, "list", {"memory": {"count": 0}})
                await store.send({"type": "stateRequested"})
                states = aiter(store)
                await anext(states)
                sent = [
                    store.post({"type": "todoAdded", "title": name},
                               optimistic=lambda state, name=name: with_todo(name, state))  # type: ignore[misc]
                    for name in "abc"
                ]
                self.assertEqual(titles(store.state), list("abc"))
                while not sent[-1].done():
                    self.assertEqual(titles(await anext(states)), list("abc"))
                self.assertIs(store.state, store.confirmed)
                await asyncio.gather(*sent)

        run(test())

    def test_rate_limited_inputs_are_resent(self) -> None:
        async def test() -> None:
            async with await Server.start("--maximum-inputs-per-second", "20") as server:
                async with Client(server.url, backoff=SOON) as client:
                    store = await client.open(TODO, "list", {"memory": {"count": 0}})
                    await store.send({"type": "stateRequested"})
                    names = [str(number) for number in range(60)]
                    sent = [store.post({"type": "todoAdded", "title": name}) for name in names]
                    await asyncio.gather(*sent)
                    self.assertEqual(titles(store.state), names)

                    # Cancelled inputs do not block later ones, whether they are refused or pending.
                    many = [asyncio.create_task(store.send({"type": "todoAdded", "title": f"x{number}"}))
                            for number in range(60)]
                    await asyncio.sleep(0)
                    for number in range(25, 60, 3):
                        many[number].cancel()
                        await asyncio.sleep(0.01)
                    later = [store.post({"type": "todoAdded", "title": f"y{number}"}) for number in range(9)]
                    await asyncio.wait(many)
                    await asyncio.gather(*later)
                    kept = [f"x{number}" for number in range(60) if not many[number].cancelled()]
                    shown = titles(store.state)[60:]
                    self.assertEqual([title for title in shown if title in kept], kept)
                    self.assertEqual(shown[-9:], [f"y{number}" for number in range(9)])
                    self.assertEqual(client._inputs.count, 0)

        run(test())

    def test_pending_inputs_are_bounded(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, Client(server.url, maximum_pending=4) as client:
                store = await client.open(TODO, "list", MEMORY)
                sent = [store.post({"type": "stateRequested"}) for _ in range(4)]
                with self.assertRaises(TooManyPendingError):
                    store.post({"type": "stateRequested"})
                await client.drain()
                sent.append(store.post({"type": "stateRequested"}))
                await asyncio.gather(*sent)
                listener = store.events()
                for number in range(300):
                    store.happened(number)
                self.assertEqual(listener.dropped, 44)
                self.assertEqual(await anext(listener), 44)

        run(test())

    def test_several_frontends_and_redaction(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as client:
                balance = await client.open(BALANCE)
                await balance.send({"type": "viewDidAppear"}, settle=True)
                self.assertEqual(balance.state["formattedBalance"], "$1.23")
                await client.set_phase("inactive")
                self.assertEqual(balance.state["formattedBalance"], "--")
                await client.set_phase("active")
                self.assertEqual(balance.state["formattedBalance"], "$1.23")

        run(test())

    def test_inactive_client_stays_redacted_after_reconnect(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server:
                async with Client(server.url, backoff=SOON, verify_interval=None) as client:
                    balance = await client.open(BALANCE)
                    await balance.send({"type": "viewDidAppear"}, settle=True)
                    await client.set_phase("inactive")
                    revision = balance.revision
                    assert client._connection
                    client._connection.abort()
                    while client.reconnects == 0:
                        await asyncio.sleep(0.001)
                    await client.request("ping")
                    self.assertEqual(balance.state["formattedBalance"], "--")
                    # Attaching makes the frontend active; the notification after it makes it inactive.
                    self.assertLessEqual(balance.revision, revision + 2)
                    self.assertTrue(await balance.verify())

        run(test())

    def test_phase_that_changes_while_the_client_attaches(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server:
                async with Client(server.url, backoff=SOON, verify_interval=None) as client:
                    balance = await client.open(BALANCE)
                    await balance.send({"type": "viewDidAppear"}, settle=True)
                    enter = client._entered
                    phases: list[tuple[Literal["active", "inactive"], str]] = [
                        ("inactive", "--"), ("active", "$1.23")]
                    for phase, shown in phases:
                        async def changing(
                            *arguments: Any, phase: Literal["active", "inactive"] = phase
                        ) -> Any:
                            result = await enter(*arguments)
                            await client.set_phase(phase)
                            return result

                        reconnects = client.reconnects
                        with mock.patch.object(client, "_entered", changing):
                            assert client._connection
                            client._connection.abort()
                            async for status in client.statuses():
                                if status == "connected" and client.reconnects > reconnects:
                                    break
                        await client.request("ping")
                        self.assertEqual(balance.state["formattedBalance"], shown)

        run(test())

    def test_tokens(self) -> None:
        async def test() -> None:
            with folder() as data:
                path = os.path.join(data, "tokens")
                pathlib.Path(path).write_text("me correct-horse-battery\n", encoding="utf-8")
                os.chmod(path, 0o600)
                async with await Server.start("--token-file", path) as server:
                    with self.assertRaises(UnauthorisedError):
                        await Client(server.url).connect()
                    with self.assertRaises(UnauthorisedError):
                        await Client(server.url, token="wrong-horse-wrong-battery").connect()
                    async with Client(server.url, token="correct-horse-battery") as client:
                        self.assertEqual((await client.session_info())["role"], "driver")

        run(test())

    def test_unix_socket(self) -> None:
        async def test() -> None:
            with folder() as data:
                path = os.path.join(data, "socket")
                async with await Server.start(listen=("--unix", path)):
                    async with Client(f"unix:{path}") as client:
                        store = await client.open(TODO, "list", MEMORY)
                        await store.send({"type": "stateRequested"})
                        self.assertTrue(await store.verify())

        run(test())

    def test_states_are_verified_periodically(self) -> None:
        async def test() -> None:
            async with await Server.start() as server:
                async with Client(server.url, ping_interval=0.01, verify_interval=0.01) as client:
                    store = await client.open(TODO, "list", MEMORY)
                    await store.send({"type": "stateRequested"})
                    assert store._replica
                    # The correct state is verified once; afterwards no verification is pending.
                    while client._checked.get("list") != store.revision:
                        await asyncio.sleep(0.001)
                    # The result of a wrong patch.
                    store._replica._document.apply(
                        [{"op": "replace", "path": "/todos/0/title", "value": "wrong"}])
                    store.held(None)
                    client._checked.clear()
                    await store.wait_until(lambda state: titles(state)[0] == "Todo 1")
                    self.assertEqual(store.resyncs["digest"], 1)

        run(test())

    def test_a_state_that_changes_during_a_check_is_checked_again(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, Client(server.url, verify_interval=None) as client:
                store = await client.open(TODO, "list", MEMORY)
                await store.send({"type": "stateRequested"})
                connection = client._connection
                assert connection
                checking = asyncio.create_task(client._check_all(connection))
                await asyncio.sleep(0)
                # Sent after the verification; the response arrives before its task continues.
                store.post({"type": "todoRemoved", "id": "1"})
                await checking
                while store.revision == 1:
                    await asyncio.sleep(0)
                self.assertEqual(client._checked["list"], 1)

        run(test())

    def test_silent_server_is_disconnected(self) -> None:
        async def test() -> None:
            connections = 0

            async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                nonlocal connections
                responses: list[Any] = [b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
                                      b'{"jsonrpc":"2.0","id":2,"result":{"session":"s","stores":{}}}\n']
                for response in responses:
                    await reader.readline()
                    writer.write(response)
                connections += 1
                with contextlib.suppress(ConnectionError):
                    await reader.read()
                writer.close()

            listener = await asyncio.start_server(mute, "127.0.0.1", 0)
            port = listener.sockets[0].getsockname()[1]
            # A busy machine may need longer for the start, which is not tested here.
            client = Client(f"tcp://127.0.0.1:{port}", ping_interval=0.01, timeout=0.1, backoff=SOON,
                            retry_initial_connection=True)
            async with client:
                while connections < 2:
                    await asyncio.sleep(0.001)
            listener.close()

        run(test())


if __name__ == "__main__":
    unittest.main()
