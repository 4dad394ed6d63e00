# SPDX-License-Identifier: Apache-2.0
"""Share links, denied browser features, and the texts of the form."""

import json

from driving import Driving, Wire, expect

DENIED = """
for (const name of ["sessionStorage", "localStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });
for (const name of ["clipboard", "permissions", "serviceWorker"])
  Object.defineProperty(Navigator.prototype, name, { value: undefined });
delete window.Notification;
delete Crypto.prototype.randomUUID;
Element.prototype.animate = undefined;
Document.prototype.getAnimations = () => [];
Element.prototype.setPointerCapture = () => { throw new DOMException("denied", "NotFoundError"); };
window.matchMedia = () => { throw new Error("denied"); };
window.prompt = () => { throw new Error("denied"); };
"""


class Links(Driving):
    def link(self, page):
        return page.evaluate("location.origin + '/#' + sessionStorage.session")

    def test_link_in_an_open_tab(self):
        one, two = self.open(), self.open()
        self.add(one, "Milk")
        two.fill("#first", "carrots")
        # If the server has not accepted a text yet, the page asks.
        two.on("dialog", lambda dialog: dialog.accept())
        one.fill("#first", "swordfish")
        link = self.link(one)
        left = self.link(two)
        self.assertNotEqual(link, left)
        two.evaluate("link => (location.href = link)", link)
        expect(two.locator("#present")).to_have_text("· 2 online")
        self.is_live(two)
        expect(two.locator("#first")).to_have_value("swordfish")
        self.assertNotIn("#", two.url)
        one.fill("#second", "sword")
        expect(two.locator("#second")).to_have_value("sword")
        self.add(two, "Bread")
        self.shows(one, "Milk", "Bread")
        self.assertEqual(self.link(two), link)
        two.reload()
        self.is_live(two)
        expect(two.locator("#first")).to_have_value("swordfish")
        two.go_back()
        self.assertNotIn("#", two.url)
        self.is_live(two)
        self.assertEqual(self.link(two), link)

    def test_texts_survive_a_link(self):
        one, two = self.open(), self.open()
        self.add(two, "Milk", "Bread")
        left, link = self.link(two), self.link(one)
        two.fill("#first", "swordfish")
        expect(two.locator("#messages li")).to_have_count(2)
        two.fill("#add-title", "Half a thou")
        self.row(two, "Milk").locator("button.title").click()
        two.keyboard.insert_text("Oat milk")
        questions = []
        two.on("dialog", lambda dialog: (questions.append(dialog.message), dialog.accept()))
        two.evaluate("link => (location.href = link)", link)
        expect(two.locator("#present")).to_have_text("· 2 online")
        self.is_live(two)
        self.is_stored(two, "Oat milk", "Bread")
        expect(two.locator("#add-title")).to_have_value("Half a thou")
        # The form belongs to the session, which still has the text.
        expect(two.locator("#first")).to_have_value("")
        expect(two.locator("#notice")).to_contain_text(left)
        two.evaluate("link => (location.href = link)", left)
        expect(two.locator("#first")).to_have_value("swordfish")
        self.assertEqual(self.link(two), left)

    def test_link_that_loses_a_text_requires_confirmation(self):
        one, two = self.open(), self.open()
        self.add(two, "Milk")
        mine, link = self.link(two), self.link(one)

        def refused():
            two.fill("#first", "x" * 70_000)
            expect(two.locator("#submitted")).to_contain_text("Not saved")

        def emptied():
            self.row(two, "Milk").locator("button.title").click()
            two.keyboard.press("Delete")

        for begin, field in [(refused, "#first"), (emptied, "#todos textarea")]:
            with self.subTest(field):
                begin()
                text = two.locator(field).input_value()
                questions = []
                two.once("dialog", lambda dialog: (questions.append(dialog.message), dialog.dismiss()))
                two.evaluate("link => (location.href = link)", link)
                expect(two.locator("#notice")).to_contain_text("unsaved changes")
                self.assertEqual(len(questions), 1)
                expect(two.locator(field)).to_have_value(text)
                self.assertEqual(self.link(two), mine)
                two.get_by_role("button", name="Dismiss").click()
                two.fill("#first", "")
                expect(two.locator("#submitted")).to_have_text("")
        two.once("dialog", lambda dialog: dialog.accept())
        two.evaluate("link => (location.href = link)", link)
        expect(two.locator("#present")).to_have_text("· 2 online")
        self.assertEqual(self.link(two), link)

    def test_server_refuses_the_name(self):
        page = self.context().new_page()
        page.add_init_script("if (!sessionStorage.session) sessionStorage.frontend = 'x'.repeat(400)")
        page.goto(self.server.url)
        status = page.locator("#status")
        expect(status).to_have_attribute("data-state", "reconnecting")
        expect(status).to_contain_text("frontend")
        # Also while it reconnects.
        self.record(page, "#status span", None)
        page.get_by_role("button", name="Try now").click()
        expect(status).to_contain_text("frontend")

    def test_link_to_an_ended_session(self):
        page = self.open()
        page.fill("#first", "swordfish")
        expect(page.locator("#messages li")).to_have_count(2)
        mine = self.link(page)
        page.on("dialog", lambda dialog: dialog.accept())
        page.evaluate("location.hash = 'x'.repeat(32)")
        expect(page.locator("#notice")).to_contain_text("The session of the link has ended")
        self.is_live(page)
        self.assertEqual(self.link(page), mine)
        expect(page.locator("#first")).to_have_value("swordfish")
        expect(page.locator("#problem")).to_have_text("")
        self.assertNotIn("#", page.url)
        self.audit(page, "a notice")
        self.picture(page, "notice", full=False)
        page.get_by_role("button", name="Dismiss").click()
        expect(page.locator("#notice")).to_be_hidden()

    def test_link_and_own_session_have_ended(self):
        page = self.context().new_page()
        page.add_init_script("sessionStorage.session ??= 'y'.repeat(32)")
        wire = Wire(page)
        self.load(page, self.server.url + "#" + "x" * 32)
        expect(page.locator("#notice")).to_contain_text("This is a new session")
        self.is_live(page)
        self.add(page, "Milk")
        # One after the session of the link, one after the session of the tab.
        methods = [json.loads(text)["method"] for text in wire.sent]
        self.assertEqual(methods.count("session/open"), 2)
        self.assertNotIn(self.link(page)[-32:], ["x" * 32, "y" * 32])
        self.assertNotIn("#", page.url)

    def test_no_link_before_there_is_a_session(self):
        page = self.context().new_page()
        page.route_web_socket("**", lambda socket: None)
        page.goto(self.server.url)
        page.get_by_role("button", name="Share").dblclick()
        expect(page.locator("#notice")).to_contain_text("Not connected yet")


class Denied(Driving):
    def test_page_works_with_denied_browser_features(self):
        one = self.open()
        page = self.context().new_page()
        page.add_init_script(DENIED)
        self.load(page)
        self.add(page, "A", "B", "C")
        self.row(page, "A").get_by_role("checkbox").check()
        self.rename(page, "B", "Bread")
        self.grasp(page, "A")
        box = self.row(page, "C").bounding_box()
        page.mouse.move(box["x"] + 16, box["y"] + box["height"] * 0.9, steps=5)
        page.mouse.up()
        self.shows(page, "Bread", "C", "A")
        self.is_stored(page, "Bread", "C", "A")
        page.fill("#first", "swordfish")
        expect(page.locator("#messages li")).to_have_count(2)
        page.get_by_role("button", name="Share").click()
        expect(page.locator("#notice")).to_contain_text(f"{self.server.url}#")
        one.fill("#first", "carrots")
        link = one.evaluate("location.origin + '/#' + sessionStorage.session")
        page.on("dialog", lambda dialog: dialog.accept())
        page.evaluate("link => (location.href = link)", link)
        expect(page.locator("#first")).to_have_value("carrots")
        self.server.kill()
        expect(page.locator("#status")).to_have_attribute("data-state", "reconnecting")
        page.fill("#add-title", "D")
        page.press("#add-title", "Enter")
        self.server.start()
        self.is_live(page)
        self.is_stored(page, "Bread", "C", "A", "D")


class Form(Driving):
    def test_refused_entry_stays(self):
        page = self.open()
        page.check("#show")
        for field in ["#first", "#second"]:
            page.fill(field, "swordfish")
        expect(page.locator("#submit")).to_be_enabled()
        page.fill("#first", "x" * 70_000)
        expect(page.locator("#submitted")).to_contain_text("Not saved")
        expect(page.locator("#first")).to_have_value("x" * 70_000)
        expect(page.locator("#first")).to_have_attribute("aria-invalid", "true")
        # The server still has two matching entries.
        page.locator("#second").press("Enter")
        expect(page.locator("#first")).to_be_focused()
        expect(page.locator("#submitted")).to_contain_text("Not saved")
        self.audit(page, "an entry was refused")
        page.fill("#first", "swordfish")
        expect(page.locator("#first")).not_to_have_attribute("aria-invalid", "true")
        page.click("#submit")
        expect(page.locator("#submitted")).to_have_text("Saved.")

    def test_typing_is_not_overwritten(self):
        page, wire = self.open_wired()
        page.locator("#first").press_sequentially("sword")
        expect(page.locator("#messages li")).to_have_count(2)
        wire.hold()
        page.locator("#first").press_sequentially("fish")
        other = self.open(url=page.evaluate("location.origin + '/#' + sessionStorage.session"))
        other.fill("#second", "swordfish")
        wire.release()
        expect(page.locator("#submit")).to_be_enabled()
        expect(page.locator("#first")).to_have_value("swordfish")
