# SPDX-License-Identifier: Apache-2.0
"""Tests of the bindings of the JavaScript client with the real libraries. All draw the same panels."""

import functools
import http.server
import os
import threading
import urllib.request

from driving import Driving, Server, expect

SITE = os.environ["SITE"]


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def panel(store="todo", client="first", list=None, **members):
    if list:
        members |= {"kind": "todo", "config": {"list": list}}
    return {"client": client, "store": store, **members}


class Panels(Driving):
    """Pages are served by another server than the program, whose policy does not allow import maps."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=SITE))
        threading.Thread(target=cls.files.serve_forever).start()
        cls.origin = f"http://127.0.0.1:{cls.files.server_port}"
        cls.options = ["--web-origin", cls.origin]

    @classmethod
    def tearDownClass(cls):
        cls.files.shutdown()
        cls.files.server_close()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        self.expected_complaints += "|ERR_CONNECTION_RESET|React DevTools|development build of Vue"

    def visit(self, name, options=""):
        page = self.context().new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(f"{self.origin}/{name}.html?server=ws://{self.server.address}/{options}")
        page.wait_for_function("() => Boolean(window.draw)")
        page.evaluate("Promise.all(Object.values(clients).map(client => client.connected()))")
        return page

    def draw(self, page, *panels):
        page.evaluate("panels => draw(panels)", list(panels))

    def fill(self, page, name, *titles, client="second"):
        """Adds todos to a list as another client."""
        page.evaluate(
            """async ([client, name, titles]) => {
              const store = clients[client].store("of " + name, { kind: "todo", config: { list: name } });
              for (const title of titles) await store.send({ type: "todoAdded", title }, { settle: true });
            }""",
            [client, name, list(titles)],
        )

    def shows(self, page, *texts):
        expect(page.locator("output")).to_have_text(list(texts))

    def sent(self, page, method, store):
        """Counts the requests of both clients."""
        return page.evaluate(
            "([method, store]) => sent.filter(([, one, other]) => one === method && other === store).length", [method, store]
        )

    def is_sent(self, page, method, store, count):
        page.wait_for_function(
            "([method, store, count]) => sent.filter(([, one, other]) => one === method && other === store).length === count",
            arg=[method, store, count],
        )


class Shared:
    """Tests of all bindings."""

    name: str
    options_of_page = ""

    def begin(self):
        page = self.visit(self.name, self.options_of_page)
        self.fill(page, "a", "Milk")
        self.fill(page, "b", "Salt")
        return page

    def loaded(self, page, name, client="first"):
        page.evaluate("([client, name]) => load(client, name)", [client, name])

    def test_components_share_a_subscription(self):
        page = self.begin()
        self.draw(page, panel("a", list="a"), panel("a", list="a"))
        self.loaded(page, "a")
        self.shows(page, "Milk", "Milk")
        self.fill(page, "a", "Bread")
        self.shows(page, "Milk, Bread", "Milk, Bread")
        self.draw(page, panel("a", list="a"))
        self.shows(page, "Milk, Bread")
        self.fill(page, "a", "Salt")
        self.shows(page, "Milk, Bread, Salt")
        self.assertEqual(self.sent(page, "store/subscribe", "a"), 1)
        self.assertEqual(self.sent(page, "store/unsubscribe", "a"), 0)
        self.draw(page)
        self.is_sent(page, "store/unsubscribe", "a", 1)
        self.assertEqual(self.sent(page, "store/subscribe", "a"), 1)
        # Mounted again.
        self.draw(page, panel("a", list="a"))
        self.shows(page, "Milk, Bread, Salt")
        self.is_sent(page, "store/subscribe", "a", 2)

    def test_the_store_changes(self):
        page = self.begin()
        self.draw(page, panel("a", list="a"))
        self.loaded(page, "a")
        self.shows(page, "Milk")
        self.draw(page, panel("b", list="b"))
        self.loaded(page, "b")
        self.shows(page, "Salt")
        self.is_sent(page, "store/unsubscribe", "a", 1)
        self.fill(page, "a", "Bread")
        self.fill(page, "b", "Pepper")
        self.shows(page, "Salt, Pepper")
        # Back and forth without a pause.
        for store in "abababa":
            self.draw(page, panel(store, list=store))
        self.shows(page, "Milk, Bread")
        self.fill(page, "a", "Rice")
        self.shows(page, "Milk, Bread, Rice")

    def test_the_client_changes(self):
        page = self.begin()
        self.draw(page, panel("a", list="a"))
        self.loaded(page, "a")
        self.shows(page, "Milk")
        self.draw(page, panel("a", client="second", list="a"))
        self.loaded(page, "a", client="second")
        self.shows(page, "Milk")
        page.evaluate("clients.first.close()")
        self.fill(page, "a", "Bread")
        self.shows(page, "Milk, Bread")

    def test_there_is_no_client_yet(self):
        page = self.begin()
        self.draw(page, panel("a", client="none", list="a"))
        expect(page.locator("section")).to_have_attribute("data-status", "connecting")
        self.draw(page, panel("a", list="a"))
        self.loaded(page, "a")
        self.shows(page, "Milk")

    def test_the_configuration_changes(self):
        page = self.begin()
        self.draw(page, panel("a", list="a"))
        self.loaded(page, "a")
        self.shows(page, "Milk")
        # The session has a store with this name and another configuration.
        self.draw(page, panel("a", list="b"))
        expect(page.locator("b")).to_contain_text("another kind or configuration")
        self.shows(page, "nothing")
        self.draw(page, panel("a", list="a"))
        self.shows(page, "Milk")
        expect(page.locator("b")).to_have_text("")

    def test_errors_are_shown(self):
        page = self.begin()
        self.draw(page, panel("x", kind="nothing"), panel("a", list="a"))
        self.loaded(page, "a")
        expect(page.locator("b").first).to_contain_text("nothing")
        self.shows(page, "nothing", "Milk")
        # A store that another client closes, and opens again.
        page.evaluate("clients.first.store('a').close()")
        expect(page.locator("b").nth(1)).to_contain_text("closed")
        page.locator(".retry").nth(1).click()
        expect(page.locator("b").nth(1)).to_have_text("")
        self.loaded(page, "a")
        self.shows(page, "nothing", "Milk")
        page.evaluate("clients.first.close()")
        expect(page.locator("section").nth(1)).to_have_attribute("data-status", "closed")
        expect(page.locator("b").nth(1)).to_contain_text("ended")

    def test_the_server_restarts(self):
        page = self.begin()
        self.draw(page, panel("a", list="a"))
        self.loaded(page, "a")
        self.shows(page, "Milk")
        self.server.kill()
        expect(page.locator("section")).to_have_attribute("data-status", "reconnecting")
        self.shows(page, "Milk")
        page.locator(".add").click()
        self.shows(page, "Milk, New")
        expect(page.locator("section")).to_have_attribute("data-optimistic", "true")
        self.server.start()
        expect(page.locator("section")).to_have_attribute("data-status", "connected")
        expect(page.locator("section")).to_have_attribute("data-optimistic", "false")
        self.shows(page, "Milk, New")
        self.fill(page, "a", "Bread")
        self.shows(page, "Milk, New, Bread")

    def test_optimistic_updates(self):
        page = self.begin()
        self.draw(page, panel("a", list="a"), panel("a", list="a"))
        self.loaded(page, "a")
        self.shows(page, "Milk", "Milk")
        page.evaluate("hold()")
        page.locator(".add").first.click()
        self.shows(page, "Milk, New", "Milk, New")
        expect(page.locator("section").nth(1)).to_have_attribute("data-optimistic", "true")
        page.evaluate("release()")
        expect(page.locator("section").nth(1)).to_have_attribute("data-optimistic", "false")
        self.shows(page, "Milk, New", "Milk, New")


class React(Shared, Panels):
    name = "react"

    def test_no_tearing(self):
        page = self.begin()
        # The naive hook shows that the test detects tearing.
        for name, is_naive in ("plain", False), ("naive", True):
            page.evaluate(
                """async name => {
                  const options = { kind: "todo", config: { list: name } };
                  await Promise.all([load("first", name, options), load("second", name, options)]);
                }""",
                name,
            )
            result = page.evaluate("([isNaive, name]) => tear(isNaive, name)", [is_naive, name])
            self.assertEqual(result["torn"] > 0, is_naive, (name, result))
            self.assertGreater(result["shown"], 1, result)


class StrictReact(React):
    """In strict mode React mounts each component twice."""

    options_of_page = "&strict"


class ReactByImportMap(Panels):
    name = "react-map"
    options_of_page = ""
    begin, loaded = Shared.begin, Shared.loaded
    test_the_store_changes = Shared.test_the_store_changes


class Vue(Shared, Panels):
    name = "vue"


class Svelte(Shared, Panels):
    name = "svelte"


class Embedded(Panels):
    def test_the_program_serves_the_bindings(self):
        """The files are those of the folder."""
        for name in "react.js", "vue.js", "svelte.js", "src/view.js", "src/equal.js":
            with self.subTest(name), urllib.request.urlopen(f"{self.server.url}client/{name}") as served:
                with open(f"{SITE}/client/{name}", "rb") as file:
                    self.assertEqual(served.read(), file.read())


del Shared, Panels
