# SPDX-License-Identifier: Apache-2.0

import re

from driving import Driving, expect

# Opens a session of its own with an `addTodo` store, and keeps its client.
ADDER = """async () => {
  const { connect } = await import("/client/index.js");
  const client = (window.adder = connect(location.origin.replace("http", "ws"), { frontend: "adder" }));
  await client.store("addTodo").send({ type: "validate", title: "Milk" });
}"""


class Console(Driving):
    options = ["--admin", "127.0.0.1:0"]

    def setUp(self):
        super().setUp()
        # The page has fields for a passphrase outside of its form.
        self.expected_complaints += "|status of 404"

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

    def test_search(self):
        app = self.open()
        app.evaluate(ADDER)
        page = self.console()
        expect(page.locator("#session-list button")).to_have_count(2)
        page.fill("#search", "ADD")
        expect(page.locator("#session-list button")).to_have_count(1)
        page.fill("#search", "nobody")
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
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#store")).to_be_visible()
        name = page.locator("#store-title").text_content()
        page.go_back()
        expect(page.locator("#store")).to_be_hidden()
        page.go_forward()
        expect(page.locator("#store-title")).to_have_text(name)

    def test_looks(self):
        app = self.open()
        self.add(app, "Milk", "Bread", "Salt")
        app.fill("#first", "swordfish")
        handle = app.evaluate("sessionStorage.session")[:8]
        for name, options in {
            "light": {},
            "dark": {"color_scheme": "dark"},
            "phone": {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "has_touch": True},
            "phone-dark": {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "color_scheme": "dark"},
            "still": {"reduced_motion": "reduce"},
        }.items():
            with self.subTest(name):
                page = self.console(**options)
                self.choose(page, handle, "todo")
                expect(self.leaf(page, "title").first).to_contain_text("Milk")
                width = page.evaluate("document.documentElement.scrollWidth")
                self.assertEqual(width, options.get("viewport", {"width": 1200})["width"])
                self.audit(page, name)
                self.picture(page, name)
