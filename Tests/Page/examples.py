# SPDX-License-Identifier: Apache-2.0
"""The pages of Examples/Kanban and Examples/Auction."""

import os
import pathlib
import unittest

from axe_playwright_python.sync_playwright import Axe
from driving import PROGRAM, SCREENSHOTS, Driving, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Example(Driving):
    name = ""

    @classmethod
    def setUpClass(cls):
        cls.program = str(pathlib.Path(PROGRAM).with_name(cls.name))
        if not os.access(cls.program, os.X_OK):
            raise unittest.SkipTest(f"{cls.program} has not been built")
        cls.options = ["--web-root", str(ROOT / "Examples" / cls.name / "web")]
        super().setUpClass()

    def is_live(self, page):
        expect(page.locator("h1")).to_be_visible()

    def has_accessible(self, page):
        violations = Axe().run(page).response["violations"]
        self.assertEqual([violation["id"] for violation in violations], [])


class Kanban(Example):
    name = "Kanban"

    def test_two_pages_and_a_killed_server(self):
        one, two = self.open(), self.open()
        for title in ("Milk", "Tea"):
            one.fill("[name=title]", title)
            one.press("[name=title]", "Enter")
            expect(two.locator("#todo li span").last).to_have_text(title)
        one.get_by_label("Move Tea to doing").click()
        expect(two.locator("#doing li span")).to_have_text(["Tea"])
        two.locator("#doing li").drag_to(two.locator("#done"))
        expect(one.locator("#done li span")).to_have_text(["Tea"])
        one.locator("#undo").click()
        expect(two.locator("#doing li span")).to_have_text(["Tea"])
        two.locator("#redo").click()
        expect(one.locator("#done li span")).to_have_text(["Tea"])
        expect(one.locator("#saving")).to_have_text("Saved")
        one.locator("#timer").click()
        expect(two.locator("#left")).to_have_text("24:59")
        self.has_accessible(one)
        one.screenshot(path=SCREENSHOTS / "kanban.png")
        self.server.kill()
        self.server.start()
        two.get_by_label("Remove Milk").click()
        expect(one.locator("#todo li")).to_have_count(0)
        expect(one.locator("#done li span")).to_have_text(["Tea"])


class Auction(Example):
    name = "Auction"

    def person(self, name):
        page = self.open(url=f"{self.server.url}#{name}")
        expect(page.locator("#watchers")).to_contain_text(name)
        return page

    def test_seller_and_bidders(self):
        guest = self.open()
        expect(guest.locator("#person")).to_be_visible()
        sue, ann, bob = self.person("sue"), self.person("ann"), self.person("bob")
        sue.fill("[name=title]", "Vase")
        sue.locator("#offer button").click()
        for page, amount in ((ann, 11), (bob, 12)):
            page.fill("[name=amount]", str(amount))
            page.locator("#bid button").click()
            expect(sue.locator("#highest")).to_have_text(f"Highest bid {amount}")
        ann.fill("[name=amount]", "12")
        ann.locator("#bid button").click()
        expect(ann.locator("#problem")).to_have_text("the bid is too low or too high")
        expect(sue.locator("#bids li")).to_have_text(["ann: 11", "bob: 12"])
        expect(ann.locator("#bids li")).to_have_text(["ann: 11"])
        expect(bob.locator("#bids li")).to_have_text(["bob: 12"])
        expect(guest.locator("#bids li")).to_have_count(0)
        expect(guest.locator("#watchers")).to_have_text("ann, bob, guest, sue")
        bob.close()
        expect(ann.locator("#watchers")).to_have_text("ann, guest, sue")
        self.has_accessible(sue)
        sue.screenshot(path=SCREENSHOTS / "auction.png")
