# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from driving import LOOKS, PROGRAM, Driving, Server, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "Examples/Stores/counter.py"
# Opens a session of its own with an `addTodo` store, and keeps its client.
ADDER = """async () => {
  const { connect } = await import("/client/index.js");
  const client = (window.adder = connect(location.origin.replace("http", "ws"), { frontend: "adder" }));
  await client.store("addTodo").send({ type: "validate", title: "Milk" });
}"""


class ConsoleDriving(Driving):
    options = ["--admin", "127.0.0.1:0"]

    def setUp(self):
        super().setUp()
        # Chromium logs each response with an error.
        self.expected_complaints += "|status of 40[04]"

    def console(self, context=None, **options):
        page = (context or self.context(**options)).new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.server.admin + "/console")
        expect(page.locator("#status")).to_have_attribute("data-state", "ready")
        return page

    def choose(self, page, session, store=None):
        page.locator("#session-list button").filter(has_text=session).click()
        expect(page.locator("#session-title")).not_to_have_text("Session")
        if store:
            page.locator("#stores button").filter(has=page.get_by_text(store, exact=True)).click()
            expect(page.locator("#store-title")).to_have_text(store)

    def leaf(self, page, key):
        return page.locator("#tree .leaf").filter(has=page.get_by_text(key, exact=True))


class Console(ConsoleDriving):
    def test_stores_of_each_kind(self):
        app = self.open()
        self.server.post("1234.50")
        self.add(app, "Milk", "Bread")
        app.fill("#first", "swordfish")
        app.get_by_role("button", name="Refresh the balance").click()
        expect(app.locator("#amount")).to_have_text("$1,234.50")
        app.get_by_role("button", name="Load: Cached").click()
        app.evaluate(ADDER)
        handle = app.evaluate("sessionStorage.session")

        page = self.console()
        expect(page.locator("#session-list button")).to_have_count(2)
        self.choose(page, handle[:8], "todo")
        expect(self.leaf(page, "title").first).to_contain_text("Milk")
        self.audit(page, "a list")
        # The state is live, and changes are marked.
        self.row(app, "Milk").get_by_role("checkbox").check()
        expect(page.locator("#tree .changed").first).to_be_visible()
        self.picture(page, "todo")

        self.choose(page, handle[:8], "form")
        expect(self.leaf(page, "firstEntry")).to_contain_text("redacted")
        expect(self.leaf(page, "submitAllowed")).to_contain_text("false")
        self.choose(page, handle[:8], "balance")
        expect(self.leaf(page, "formattedBalance")).to_contain_text("redacted")
        expect(self.leaf(page, "isRefreshing")).to_contain_text("false")
        self.audit(page, "a balance")
        loader = page.locator("#stores button").filter(has_text="loading").first.locator("b").text_content()
        self.choose(page, handle[:8], loader)
        expect(page.locator("#revision")).to_contain_text("loading")
        self.choose(page, "adder", "addTodo")
        expect(self.leaf(page, "valid")).to_contain_text("true")
        for secret in ["swordfish", "1,234", "1234.5", handle]:
            self.assertNotIn(secret, page.content())

        # A client that leaves, and the end of a session.
        app.evaluate("adder.request('session/close').finally(() => adder.close())")
        expect(page.locator("#gone")).to_contain_text("ended")
        expect(page.locator("#session-list button")).to_have_count(1)
        self.audit(page, "the session has ended")

    def test_timeline(self):
        app = self.open()
        self.add(app, "Milk")
        handle = app.evaluate("sessionStorage.session")[:8]
        page = self.console()
        self.choose(page, handle, "todo")
        expect(page.locator(".event.opened").first).to_be_visible()
        self.row(app, "Milk").get_by_role("checkbox").check()
        app.fill("#first", "swordfish")
        expect(page.locator(".event.input").filter(has_text="todoCompleted")).to_be_visible()
        expect(page.locator(".event.input").filter(has_text="firstEntryChanged").first).to_contain_text("(redacted)")
        expect(page.locator(".event.end").first).to_contain_text("after")
        page.check("#only-store")
        expect(page.locator(".event").filter(has_text="firstEntryChanged")).to_have_count(0)
        self.assertNotIn("swordfish", page.content())

        # The state before the change, and the difference.
        update = page.locator(".event.update").filter(has_text="completed").last
        update.click()
        expect(page.locator("#event pre")).to_contain_text('"patch"')
        expect(page.locator("#travel-note")).to_contain_text("Showing revision")
        expect(self.leaf(page, "completed").first).to_contain_text("true")
        page.click("#earlier")
        expect(self.leaf(page, "completed").first).to_contain_text("false")
        self.audit(page, "an earlier state")
        self.picture(page, "timeline")
        page.click("#live")
        expect(self.leaf(page, "completed").first).to_contain_text("true")
        page.get_by_text("Compare two revisions").click()
        number = int(re.search(r"revision (\d+)", page.locator("#revision").text_content())[1])
        page.fill("#from", str(number - 1))
        page.fill("#to", str(number))
        page.click("#compare button")
        expect(page.locator("#differences")).to_contain_text("false → true")
        self.audit(page, "two revisions")

        # The keyboard moves through the events.
        page.focus("#events")
        page.keyboard.press("End")
        expect(page.locator(".event[aria-selected=true]")).to_be_visible()
        page.keyboard.press("Home")
        expect(page.locator(".event[aria-selected=true]")).to_contain_text("opened")

    def test_many_events(self):
        app = self.open()
        page = self.console()
        self.choose(page, app.evaluate("sessionStorage.session")[:8], "form")
        expect(page.locator(".event.opened").first).to_be_visible()
        app.evaluate(
            """async () => {
              const { connect } = await import("/client/index.js");
              const client = connect(location.origin.replace("http", "ws"), { session: sessionStorage.session });
              const form = client.store("form");
              for (let round = 0; round < 40; round++)
                await Promise.all(Array.from({ length: 200 }, (_, i) =>
                  form.send({ type: "firstEntryChanged", value: `${round} ${i}` })));
              client.close();
            }"""
        )
        # The page keeps up, has a bounded number of rows, and says what it has left out.
        expect(page.locator("#event-count")).to_have_text(re.compile(r"[0-9]{4,5} events"))
        expect(page.locator(".event").last).to_be_visible()
        self.assertLess(page.locator(".event").count(), 60)
        # The list follows its end, and later events would move the chosen one out of sight.
        expect(page.locator(".event", has_text="revision 8000")).to_be_visible()
        page.focus("#events")
        page.keyboard.press("Home")
        page.keyboard.press("End")
        expect(page.locator(".event[aria-selected=true]")).to_be_visible()

    def test_operating(self):
        app = self.open()
        self.add(app, "Milk")
        handle = app.evaluate("sessionStorage.session")[:8]
        page = self.console()
        page.on("dialog", lambda dialog: dialog.accept())
        self.choose(page, handle, "todo")
        page.get_by_text("Send an input").click()
        page.select_option("#input-type", "todoAdded")
        page.fill("#field-title", "Bread")
        self.audit(page, "a form")
        self.picture(page, "form")
        page.click("#send .main")
        expect(page.locator("#send-note")).to_have_text("Done.")
        self.shows(app, "Milk", "Bread")
        page.fill("#field-title", "x" * 5000)
        page.click("#send .main")
        expect(page.locator("#send-note")).to_contain_text("4096 bytes")
        self.choose(page, handle, "balance")
        page.click("#close-store")
        expect(page.locator("#revision")).to_contain_text("closed")
        page.get_by_role("button", name="Evict").click()
        expect(app.locator("#present")).to_have_text("")
        page.click("#end")
        expect(page.locator("#gone")).to_contain_text("ended")

    def test_conversation(self):
        app = self.open()
        app.evaluate(
            """async () => {
              const { connect } = await import("/client/index.js");
              window.own = connect(location.origin.replace("http", "ws"), { frontend: "recorded" });
              await own.request("store/open", { store: "<list>", kind: "todo", config: { memory: { count: 2 } } });
            }"""
        )
        page = self.console()
        self.choose(page, "recorded", "<list>")
        expect(page.locator(".event.opened").first).to_be_visible()
        app.evaluate(
            """async () => {
              const list = own.store("<list>");
              await list.send({ type: "stateRequested" }, { settle: true });
              await list.send({ type: "todoAdded", title: "Milk <3 <a> <<b>> <c-d> <_:e> <:f>" }, { settle: true });
              await list.send({ type: "todoCompleted", id: "1" }, { settle: true });
              await list.send({ type: "none" }).catch(() => {});
              own.close();
            }"""
        )
        expect(page.locator(".event.refused")).to_be_visible()
        expect(page.locator("#revision")).to_have_text("todo · revision 3")
        # Quick presses go as far as slow ones.
        page.evaluate("() => { for (let i = 0; i < 2; i++) document.querySelector('#earlier').click(); }")
        expect(page.locator("#travel-note")).to_have_text("Showing revision 1")
        with page.expect_download() as download:
            page.click("#save")
        path = download.value.path()
        text = path.read_text()
        self.assertEqual(text.count('"store/send"'), 4)
        self.assertEqual(self.play(text), 0, text)
        # A server that does something else fails it.
        self.assertEqual(self.play(text.replace('"completed":true', '"completed":false')), 1)
        self.assertEqual(self.play(text.replace('"type":"none"', '"type":"stateRequested"')), 1)

        # A recording that has ended, because the page was hidden, is not continued as if nothing were missing.
        ended = {"recording": False, "first": 0, "last": 0, "read": 0, "events": []}
        count = page.locator("#event-count").text_content()
        page.route("**/api/timeline*", lambda route: route.fulfill(json=ended), times=1)
        expect(page.locator("#event-count")).not_to_have_text(count)
        with page.expect_download() as download:
            page.click("#save")
        self.assertIn('# The store "<list>" is left out from here on', download.value.path().read_text())
        # A file without a request would always pass.
        page.click("#clear")
        page.click("#save")
        expect(page.locator("#session-note")).to_contain_text("There is nothing to save")

    def test_names_of_a_conversation(self):
        page = self.console()
        text = page.evaluate(
            """async () => {
              const { conversation } = await import("/console/conversation.js");
              const [one, two] = ["0123456789abcdef0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"];
              const states = [
                { id: one, url: `/${one}`, [one]: 1, at: { "9:41": two, "mine 9:41": 2 } },
                { "...": "...", more: { "...": "others" }, url: `/<${one}>`, note: `see <${one}`, other: `/${two}`, id: one },
              ];
              const input = (number, input) => [
                { type: "input", store: "<s>", number, input },
                { type: "end", stage: "input", store: "<s>", number, revision: number },
              ];
              const opened = { type: "opened", revision: 0 };
              const events = [
                { ...opened, store: "<s>", kind: "<<k>", config: { path: "<a:b>" } },
                // To compare each bracket with all after it takes minutes.
                ...input(0, { text: "mine 9:41", brackets: "<".repeat(300_000) }),
                ...input(1, { text: `see <${one}`, brackets: "<".repeat(300_000) + ` ${one}` }),
                { ...opened, store: "secret", kind: "k", config: { urls: ["(redacted)"] } },
                { type: "input", store: "secret", number: 1, input: {} },
              ];
              return conversation(events, async (store, revision) => states[revision]);
            }"""
        )
        messages = [json.loads(line[4:]) for line in text.splitlines() if line.startswith(("-->", "<--"))]
        opened, first, second = (message["params"] for message in messages if message.get("method") in ("store/open", "store/send"))
        self.assertEqual(opened, {"store": "<<s>", "kind": "<<<<k>", "config": {"path": "<<a:b>"}})
        brackets = "<" * 300_000
        self.assertEqual(first["input"], {"text": "mine 9:41", "brackets": brackets})
        self.assertEqual(second["input"], {"text": "see <<<id1>", "brackets": brackets + " <id1>"})
        self.assertEqual(
            [message["result"]["state"] for message in messages if "state" in message.get("result", "")],
            [
                # A name is a part of longer strings after the message that has given it a value.
                {"id": "<id1>", "url": "<_:string>", "at": {"mine 9:41": 2, "...": "..."}, "...": "..."},
                {"...": "<_>", "more": {"...": "others"}, "url": "/<<<id1>>", "note": "see <<<id1>", "other": "<_:string>", "id": "<id1>"},
            ],
        )
        self.assertIn('# The store "secret" is left out from here on: its configuration has a secret.', text)

    def test_store_that_is_left_out_and_opened_again(self):
        text = self.console().evaluate(
            """async () => {
              const { conversation } = await import("/console/conversation.js");
              const store = "<list>";
              const opened = (count) => ({ type: "opened", revision: 0, store, kind: "todo", config: { memory: { count } } });
              const secret = { type: "input", store, number: 1, input: { type: "todoAdded", title: "(redacted)" } };
              const closed = { type: "closed", store };
              return conversation([opened(1), secret, closed, opened(2), closed, { type: "gap" }, opened(3)]);
            }"""
        )
        methods = re.findall(r'"method":"store/(\w+)"', text)
        self.assertEqual(methods, ["open", "close", "open", "close", "open"])
        self.assertEqual(self.play(text), 0, text)

    def test_fields_of_a_schema(self):
        page = self.console()
        read = page.evaluate(
            """async () => {
              const { field } = await import("/console/schemaform.js");
              const read = (schema, isRequired, value) => {
                const [node, read] = field("x", schema, isRequired, {});
                const input = node.querySelector("input, select, textarea");
                if (value !== undefined) input.value = value;
                try { return `${JSON.stringify(read())}`; } catch (error) { return error.message; }
              };
              const types = (...type) => ({ type });
              return {
                "optional boolean": [undefined, "true", "false"].map((value) => read(types("boolean"), false, value)),
                "required boolean": read(types("boolean"), true),
                "blank number": [true, false].map((isRequired) => read(types("number"), isRequired, "  ")),
                "number": read(types("integer"), true, " 12 "),
                "nullable": ["string", "number", "boolean", "object"].map((type) => read(types(type, "null"), true, "")),
                "nullable choice": read({ anyOf: [{ enum: ["a"] }, { type: "null" }] }, true),
                "optional nullable": read(types("string", "null"), false, ""),
                "required string": read(types("string"), true, ""),
              };
            }"""
        )
        self.assertEqual(
            read,
            {
                "optional boolean": ["undefined", "true", "false"],
                "required boolean": "false",
                "blank number": ["x: enter a number", "undefined"],
                "number": "12",
                "nullable": ["null"] * 4,
                "nullable choice": "null",
                "optional nullable": "undefined",
                "required string": '""',
            },
        )

    def test_run_again(self):
        app = self.open()
        app.evaluate(
            """async () => {
              const { connect } = await import("/client/index.js");
              window.own = connect(location.origin.replace("http", "ws"), { frontend: "again" });
              await own.request("store/open", { store: "list", kind: "todo", config: { memory: { count: 1 } } });
            }"""
        )
        page = self.console()
        self.choose(page, "again", "list")
        expect(page.locator(".event.opened").first).to_be_visible()
        app.evaluate(
            """async () => {
              const list = own.store("list");
              await list.send({ type: "stateRequested" }, { settle: true });
              for (const title of ["Milk", "Bread"]) await list.send({ type: "todoAdded", title }, { settle: true });
            }"""
        )
        expect(page.locator("#revision")).to_have_text("todo · revision 3")
        page.get_by_text("Replay from this revision").click()
        page.click("#earlier")
        page.click("#earlier")
        run = page.get_by_role("button", name="Run a copy from revision 1")
        expect(run).to_be_visible()
        self.audit(page, "before a copy")
        run.click()
        expect(page.locator("#session-title")).to_have_text("Copy of list, revision 1")
        expect(page.locator("#copy-text")).to_contain_text("2 of 2 recorded inputs sent.")
        expect(page.locator("#revision")).to_have_text("todo · revision 3")
        expect(page.locator("#tree")).to_contain_text("Bread")
        expect(page.locator(".event.input").filter(has_text="todoAdded").first).to_be_visible()
        self.audit(page, "a copy")
        self.picture(page, "copy")

        # Another input, and the clock: only of the copy.
        page.get_by_text("Send an input").click()
        page.select_option("#input-type", "todoAdded")
        page.fill("#field-title", "Salt")
        page.click("#send .main")
        expect(page.locator("#tree")).to_contain_text("Salt")
        page.fill("#advance", "90")
        page.get_by_role("button", name="Advance the clock").click()
        expect(page.locator("#facts")).to_contain_text("90 s")
        page.click("#copy-original")
        expect(page.locator("#session-title")).to_contain_text("Session")
        expect(page.locator("#copy-note")).to_be_hidden()
        expect(page.locator("#clock")).to_be_hidden()
        expect(page.locator("#tree")).to_contain_text("Bread")
        expect(page.locator("#tree")).not_to_contain_text("Salt")

        # Without the inputs; then the copies end.
        page.click("#earlier")
        page.click("#earlier")
        page.uncheck("#again-inputs")
        page.get_by_role("button", name="Run a copy from revision 1").click()
        expect(page.locator("#revision")).to_have_text("todo · revision 1")
        expect(page.locator("#session-list button").filter(has_text="Copy of list")).to_have_count(2)
        for look, options in LOOKS.items():
            other = self.console(**options)
            other.locator("#session-list button").filter(has_text="Copy of list").first.click()
            other.locator("#stores button").first.click()
            expect(other.locator("#copy-text")).to_be_visible()
            self.audit(other, f"a copy: {look}")
            self.picture(other, f"copy-{look}")
        page.get_by_role("button", name="End the copy").click()
        expect(page.locator("#gone")).to_contain_text("ended")
        expect(page.locator("#session-list button").filter(has_text="Copy of list")).to_have_count(1)
        app.evaluate("own.close()")

    def play(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".conversation") as file:
            file.write(text)
            file.flush()
            return subprocess.run([PROGRAM, "play", file.name], stdout=subprocess.DEVNULL).returncode

    def test_search(self):
        app = self.open()
        app.evaluate(ADDER)
        page = self.console()
        expect(page.locator("#session-list button")).to_have_count(2)
        # Not a part that a random handle can contain: handles consist of hexadecimal digits.
        page.fill("#search", "ADDER")
        expect(page.locator("#session-list button")).to_have_count(1)
        page.fill("#search", "no such frontend")
        expect(page.locator("#no-sessions")).to_have_text("No session matches.")
        self.audit(page, "nothing was found")

    def test_long_list(self):
        app = self.open()
        self.send(app, *({"type": "todoAdded", "title": f"Todo {number}"} for number in range(250)))
        page = self.console()
        self.choose(page, app.evaluate("sessionStorage.session")[:8], "todo")
        todos = page.locator("#tree summary").filter(has_text="todos")
        expect(todos).to_contain_text("[250]")
        todos.click()
        more = page.get_by_role("button", name=re.compile("Show 100 of 150 more"))
        more.click()
        expect(page.get_by_role("button", name="Show 50 of 50 more")).to_be_visible()

    def test_keyboard(self):
        app = self.open()
        handle = app.evaluate("sessionStorage.session")[:8]
        page = self.console()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the sessions")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.locator("#search")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#session-title")).to_have_text(f"Session {handle}")
        # The focus stays in the list while it is shown again.
        expect(page.locator("#session-list button").first).to_be_focused()
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('#stores') !== null"):
                break
        page.keyboard.press("Enter")
        expect(page.locator("#store")).to_be_visible()
        name = page.locator("#store-title").text_content()
        page.go_back()
        expect(page.locator("#store")).to_be_hidden()
        page.go_forward()
        expect(page.locator("#store-title")).to_have_text(name)

    def test_screenshots(self):
        app = self.open()
        self.add(app, "Milk", "Bread", "Salt")
        app.fill("#first", "swordfish")
        handle = app.evaluate("sessionStorage.session")[:8]
        for name, options in LOOKS.items():
            with self.subTest(name):
                page = self.console(**options)
                self.choose(page, handle, "todo")
                expect(self.leaf(page, "title").first).to_contain_text("Milk")
                page.get_by_text("Limits", exact=False).first.click()
                expect(page.get_by_role("meter", name="Connections", exact=True)).to_be_visible()
                expect(page.get_by_role("meter", name="Updates for reconnecting clients")).to_be_visible()
                width = page.evaluate("document.documentElement.scrollWidth")
                self.assertEqual(width, options.get("viewport", {"width": 1200})["width"])
                self.audit(page, name)
                self.picture(page, name)


class StoreProgram(ConsoleDriving):
    """A kind in Python, whose file changes while it is served."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="statewire-console-")
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "counter.py")
        self.file.write_text(EXAMPLE.read_text())
        self.options = [
            *ConsoleDriving.options, "--watch",
            "--store", f"counter=env PYTHONPATH={ROOT}/clients/python/src {sys.executable} {self.file}",
        ]
        super().setUp()

    def test_program_that_breaks(self):
        app = self.open()
        app.evaluate("""async () => {
          const { connect } = await import("/client/index.js");
          const client = (window.counter = connect(location.origin.replace("http", "ws"), { frontend: "counter" }));
          await client.store("counter").send({ type: "incrementTapped" });
        }""")
        page = self.console()
        self.choose(page, "counter", "counter")
        expect(self.leaf(page, "count")).to_contain_text("1")
        expect(page.locator("#problems")).to_be_hidden()

        whole = self.file.read_text()
        self.file.write_text(whole.replace("return {", "return {{", 1))
        expect(page.locator("#problems")).to_contain_text("Store kind counter: the earlier program continues")
        expect(page.locator("#problems")).to_contain_text("SyntaxError")
        self.audit(page, "a program that cannot run")
        self.picture(page, "problem")
        app.evaluate("counter.store('counter').send({ type: 'incrementTapped' })")
        expect(self.leaf(page, "count")).to_contain_text("2")

        self.file.write_text(whole.replace("+ 1", "+ 5"))
        expect(page.locator("#problems")).to_be_hidden()
        app.evaluate("counter.store('counter').send({ type: 'incrementTapped' })")
        expect(self.leaf(page, "count")).to_contain_text("7")
        app.evaluate("counter.close()")


class Refusals(ConsoleDriving):
    """A kind in Python with types, which refuses inputs after they have begun."""

    STORE = """
from dataclasses import dataclass
from statewire.stores import Refusal, StoreKind, serve

@dataclass(frozen=True)
class State:
    names: tuple[str, ...] = ()

@dataclass(frozen=True)
class Added:
    name: str

@dataclass(frozen=True)
class Cleared: ...

def update(state: State, event: Added | Cleared):
    match event:
        case Added(name):
            if not name.strip():
                raise Refusal("a name is needed", ["name"])
            return State((*state.names, name))
        case Cleared():
            return State()

serve(StoreKind(initial=State(), update=update))
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="statewire-console-")
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name, "names.py")
        file.write_text(self.STORE)
        self.kind = f"names=env PYTHONPATH={ROOT}/clients/python/src {sys.executable} {file}"
        self.options = [*ConsoleDriving.options, "--store", self.kind]
        super().setUp()

    def test_refused_input(self):
        app = self.open()
        app.evaluate("""async () => {
          const { connect } = await import("/client/index.js");
          window.own = connect(location.origin.replace("http", "ws"), { frontend: "recorded" });
          await own.request("store/open", { store: "names", kind: "names", config: {} });
        }""")
        page = self.console()
        self.choose(page, "recorded", "names")
        app.evaluate("""async () => {
          await own.request("store/close", { store: "names" });
          await own.request("store/open", { store: "names", kind: "names", config: {} });
        }""")
        expect(page.locator(".event.opened")).to_have_count(2)
        page.get_by_text("Send an input").click()
        # The form has a field for each member, as for a built-in kind.
        page.select_option("#input-type", "added")
        page.fill("#field-name", " ")
        page.click("#send .main")
        expect(page.locator("#send-note")).to_contain_text("a name is needed")
        page.fill("#field-name", "Milk")
        page.click("#send .main")
        expect(page.locator("#send-note")).to_have_text("Done.")
        expect(self.leaf(page, "0")).to_contain_text("Milk")
        with page.expect_download() as download:
            page.click("#save")
        text = download.value.path().read_text()
        with tempfile.NamedTemporaryFile("w", suffix=".conversation") as file:
            file.write(text)
            file.flush()
            played = subprocess.run([PROGRAM, "play", file.name, "--spawn", f"{PROGRAM} serve --test --store '{self.kind}'"])
        self.assertEqual(played.returncode, 0, text)
        self.assertEqual(text.count('"error":"<_>"'), 1, text)
        app.evaluate("own.close()")


class UnderTest(ConsoleDriving):
    """The console of a server with a virtual clock."""

    options = [*ConsoleDriving.options, "--test"]

    def test_clock_and_faults(self):
        app = self.context().new_page()
        # A file, because the page would wait for the clock.
        app.goto(self.server.url + "style.css")
        app.evaluate(ADDER)
        page = self.console()
        expect(page.locator("#status")).to_contain_text("under test")
        self.choose(page, "adder", "addTodo")
        page.fill("#advance", "90")
        page.get_by_role("button", name="Advance the clock").click()
        expect(page.locator("#session-note")).to_have_text("Done.")
        expect(page.locator("#facts")).to_contain_text("90 s")
        page.get_by_text("Inject a fault").click()
        page.fill("#operation", "addTodo")
        page.click("#fault button")
        expect(page.locator("#fault-note")).to_have_text("Done.")
        self.audit(page, "a fault")
        app.evaluate("""adder.store("addTodo").send({ type: "addTodo", title: "Milk" }, { settle: true })""")
        expect(page.locator(".event.end").filter(has_text="failed").first).to_be_visible()
