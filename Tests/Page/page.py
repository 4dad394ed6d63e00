# SPDX-License-Identifier: Apache-2.0

from driving import LOOKS, Driving, expect

EVERYDAY = ["Buy oat milk", "Write to the landlord about the window", "Book the train to Zürich"]


class Page(Driving):
    def test_list(self):
        page = self.open()
        expect(page.locator("#empty")).to_be_visible()
        self.audit(page, "nothing in the list")
        self.add(page, "Milk", "Bread", "Salt")
        expect(page.locator("#count")).to_have_text("3 of 3 open")

        self.row(page, "Bread").get_by_role("checkbox").check()
        expect(page.locator("#count")).to_have_text("2 of 3 open")
        self.row(page, "Milk").locator(".title").click()
        self.audit(page, "a title is edited")
        page.keyboard.type("Oat milk")
        page.keyboard.press("Enter")
        self.shows(page, "Oat milk", "Bread", "Salt")
        self.row(page, "Salt").locator(".title").click()
        page.keyboard.type("Pepper")
        page.keyboard.press("Escape")
        self.shows(page, "Oat milk", "Bread", "Salt")

        self.row(page, "Salt").get_by_role("button", name="Remove").click()
        self.shows(page, "Oat milk", "Bread")
        page.reload()
        self.is_live(page)
        self.shows(page, "Oat milk", "Bread")
        expect(self.row(page, "Bread").get_by_role("checkbox")).to_be_checked()

    def test_list_refuses(self):
        page = self.open()
        page.fill("#add-title", "x" * 5000)
        page.press("#add-title", "Enter")
        expect(page.locator("#problem")).to_contain_text("4096 bytes")
        expect(page.locator("#add-title")).to_have_value("x" * 5000)
        self.shows(page)
        self.audit(page, "a title was refused")
        self.picture(page, "refused", full=False)

    def test_dragging(self):
        page = self.open()
        self.add(page, "A", "B", "C", "D")
        self.drag(page, "A", "C", below=True)
        self.shows(page, "B", "C", "A", "D")
        self.drag(page, "D", "B", below=False)
        self.shows(page, "D", "B", "C", "A")
        self.is_settled(page)
        page.reload()
        self.is_live(page)
        self.shows(page, "D", "B", "C", "A")

    def drag(self, page, title, target, below):
        self.rests(page)
        handle = self.row(page, title).locator(".grip").bounding_box()
        box = self.row(page, target).bounding_box()
        x = handle["x"] + handle["width"] / 2
        page.mouse.move(x, handle["y"] + handle["height"] / 2)
        page.mouse.down()
        y = box["y"] + box["height"] * (0.9 if below else 0.1)
        page.mouse.move(x, y, steps=5)
        self.picture(page, f"dragging-{title}", full=False)
        page.mouse.up()

    def test_keyboard(self):
        page = self.open()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the task list")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        for title in ["Milk", "Bread", "Salt"]:
            page.keyboard.type(title)
            page.keyboard.press("Enter")
            expect(self.row(page, title)).to_be_visible()
        self.is_settled(page)

        def tab_to(locator):
            for _ in range(60):
                if locator.evaluate("node => node === document.activeElement"):
                    return
                page.keyboard.press("Tab")
            self.fail("the keyboard does not get there")

        tab_to(page.get_by_role("button", name="Move Bread", exact=True))
        page.keyboard.press("ArrowUp")
        self.shows(page, "Bread", "Milk", "Salt")
        expect(page.locator("#announcement")).to_have_text("Bread, 1 of 3")
        expect(page.get_by_role("button", name="Move Bread", exact=True)).to_be_focused()
        page.keyboard.press("End")
        self.shows(page, "Milk", "Salt", "Bread")
        expect(page.get_by_role("button", name="Move Bread", exact=True)).to_be_focused()
        self.picture(page, "keyboard", full=False)
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        expect(page.locator("#count")).to_have_text("2 of 3 open")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.keyboard.type("Rye bread")
        page.keyboard.press("Enter")
        self.shows(page, "Milk", "Salt", "Rye bread")
        expect(page.get_by_role("button", name="Rename Rye bread")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        self.shows(page, "Milk", "Salt")
        expect(page.get_by_role("button", name="Remove Salt")).to_be_focused()

        tab_to(page.locator("#first"))
        page.keyboard.type("swordfish")
        page.keyboard.press("Tab")
        page.keyboard.type("swordfish")
        page.keyboard.press("Enter")
        expect(page.locator("#submitted")).to_have_text("Saved.")
        tab_to(page.get_by_role("button", name="Load: Download"))
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Cancel: Download")).to_be_visible()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#loader-download [role=status]")).to_have_text("Loading cancelled.")
        expect(page.get_by_role("button", name="Reset: Download")).to_be_focused()

    def test_form(self):
        page = self.open()
        messages = page.locator("#messages li")
        expect(messages).to_have_text(["Please enter values of at least 5 characters."])
        expect(page.locator("#submit")).to_be_disabled()
        page.locator("#first").press("Enter")
        page.locator("#first").press_sequentially("swordfish")
        expect(messages).to_have_text(
            ["Values for fields must match.", "Please enter values of at least 5 characters."]
        )
        self.audit(page, "the form has messages")
        page.locator("#second").press_sequentially("swordfish")
        expect(messages).to_have_count(0)
        page.click("#submit")
        expect(page.locator("#submitted")).to_have_text("Saved.")
        page.check("#show")
        expect(page.locator("#first")).to_have_attribute("type", "text")

    def test_typing_in_the_middle(self):
        page = self.open()
        page.check("#show")
        field = page.locator("#first")
        field.press_sequentially("ad")
        field.press("ArrowLeft")
        field.press_sequentially("bc")
        expect(field).to_have_value("abcd")

    def test_balance(self):
        page = self.open()
        self.server.post("1234.50")
        page.get_by_role("button", name="Refresh the balance").click()
        expect(page.locator("#amount")).to_have_text("$1,234.50")
        expect(page.locator("#info")).to_contain_text("Last update: Today")

        # Headless Chromium shows all tabs at the same time, so the test overrides the visibility.
        hide = """hidden => {
          Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }"""
        page.evaluate(hide, True)
        expect(page.locator("#amount")).to_have_text("••••")
        self.assertNotIn("1,234", page.content())
        self.audit(page, "the balance is hidden")
        self.picture(page, "hidden", full=False)
        page.evaluate(hide, False)
        expect(page.locator("#amount")).to_have_text("$1,234.50")

    def test_loaders(self):
        page = self.open()
        self.record(page, "#loader-download .meter", "aria-valuenow")
        self.record(page, "#loader-retried [role=status]", None)
        card = {name: page.locator(f"#loader-{name}") for name in ["download", "retried", "time-limit", "cached", "in-parallel", "debounced"]}
        said = {name: node.get_by_role("status") for name, node in card.items()}
        for node in card.values():
            node.get_by_role("button", name="Load").click()
        bar = card["download"].get_by_role("progressbar")
        self.audit(page, "loaders at work")
        self.picture(page, "loaders")
        expect(said["time-limit"]).to_have_text("Error: Request timed out")
        expect(said["download"]).to_have_text("Loaded: 4.2 MB")
        expect(bar).to_have_attribute("aria-valuenow", "100")
        expect(said["cached"]).to_have_text("Loaded: from the source")
        expect(said["in-parallel"]).to_have_text("Loaded: fast, steady, slow")
        expect(said["debounced"]).to_have_text("Loaded: latest result")
        expect(said["retried"]).to_have_text("Error: The source did not respond")
        expect(said["retried"]).to_have_attribute("aria-label", "An error occurred")
        texts = [text for text in self.recorded(page, "#loader-retried [role=status]")
                 if text not in ("Loading…", "Requesting…")]
        self.assertEqual(
            texts, ["Retrying… (attempt 2 of 3)", "Retrying… (attempt 3 of 3)", "Error: The source did not respond"]
        )
        self.assertEqual(
            self.recorded(page, "#loader-download .meter"), ["0", "7", "18", "34", "52", "71", "88", "96", "100"]
        )
        self.audit(page, "loaders at their end")

        card["retried"].get_by_role("button", name="Try again").click()
        card["retried"].get_by_role("button", name="Cancel").click()
        expect(said["retried"]).to_have_text("Loading cancelled.")
        card["retried"].get_by_role("button", name="Reset").click()
        expect(said["retried"]).to_have_text("Not loaded yet")

    def test_killed_server(self):
        page = self.open()
        self.add(page, "Milk")
        page.fill("#first", "swordfish")
        page.fill("#second", "sword")
        page.fill("#add-title", "Half a thou")
        before = page.evaluate("sessionStorage.session")
        self.server.kill()
        expect(page.locator("#status")).to_have_attribute("data-state", "reconnecting")
        # Changes while the server is down are shown and stay pending.
        page.locator("#second").press("End")
        page.locator("#second").press_sequentially("fish")
        self.row(page, "Milk").get_by_role("checkbox").check()
        expect(page.locator("#status")).to_contain_text("unsent")
        self.audit(page, "no server")
        self.picture(page, "offline")

        self.server.start()
        self.is_live(page)
        self.assertEqual(page.evaluate("sessionStorage.session"), before)
        expect(page.locator("#first")).to_have_value("swordfish")
        expect(page.locator("#second")).to_have_value("swordfish")
        expect(page.locator("#messages li")).to_have_count(0)
        expect(page.locator("#submit")).to_be_enabled()
        expect(page.locator("#add-title")).to_have_value("Half a thou")
        self.add(page, "Bread")
        self.shows(page, "Milk", "Bread")
        page.reload()
        self.is_live(page)
        self.shows(page, "Milk", "Bread")
        expect(self.row(page, "Milk").get_by_role("checkbox")).to_be_checked()
        expect(page.locator("#first")).to_have_value("swordfish")

    def test_repeated_server_kills(self):
        page = self.open()
        titles = []
        for number in range(4):
            self.server.kill()
            for part in "ab":
                titles.append(f"{number}{part}")
                page.fill("#add-title", titles[-1])
                page.press("#add-title", "Enter")
            self.server.start()
            self.is_live(page)
            self.is_settled(page)
            self.shows(page, *titles)

    def test_two_tabs(self):
        one = self.open()
        self.add(one, *EVERYDAY)
        one.context.grant_permissions(["clipboard-read", "clipboard-write"])
        one.get_by_role("button", name="Share").click()
        expect(one.get_by_role("button", name="Link copied")).to_be_visible()
        link = one.evaluate("navigator.clipboard.readText()")
        two = self.open(url=link)
        self.assertNotIn("#", two.url)
        self.assertEqual(*(page.evaluate("sessionStorage.session") for page in [one, two]))
        for page in [one, two]:
            expect(page.locator("#present")).to_have_text("· 2 online")
            self.shows(page, *EVERYDAY)

        two.fill("#first", "swordfish")
        expect(one.locator("#first")).to_have_value("swordfish")
        one.fill("#second", "swordfish")
        expect(two.locator("#submit")).to_be_enabled()
        one.get_by_role("button", name="Load: Cached").click()
        expect(two.locator("#loader-cached").get_by_role("status")).to_have_text("Loaded: from the source")
        one.get_by_role("button", name=f"Move {EVERYDAY[0]}", exact=True).press("End")
        two.get_by_role("button", name=f"Remove {EVERYDAY[1]}").click()
        for page in [one, two]:
            self.shows(page, EVERYDAY[2], EVERYDAY[0])
        two.close()
        expect(one.locator("#present")).to_have_text("")

    def test_duplicated_tab(self):
        # A duplicated tab has a copy of the session storage, with the frontend name.
        context = self.context()
        one = self.open(context)
        self.add(one, "Milk")
        two = context.new_page()
        kept = one.evaluate("JSON.stringify(sessionStorage)")
        two.add_init_script(f"if (!sessionStorage.session) Object.assign(sessionStorage, {kept})")
        two.goto(self.server.url)
        for page in [one, two]:
            expect(page.locator("#present")).to_have_text("· 2 online")
        self.add(one, "Bread")
        self.add(two, "Salt")
        for page in [one, two]:
            self.shows(page, "Milk", "Bread", "Salt")

    def test_screenshots(self):
        page = self.open()
        self.server.post("1234.50")
        self.add(page, *EVERYDAY, "Water the ferns")
        self.row(page, "Water the ferns").get_by_role("checkbox").check()
        self.is_settled(page)
        for name, options in LOOKS.items():
            with self.subTest(name):
                page = self.open(**options)
                page.fill("#first", "swordfish")
                expect(page.locator("#amount")).to_have_text("$1,234.50")
                page.get_by_role("button", name="Load: Download").click()
                page.get_by_role("button", name="Load: Retried").click()
                page.get_by_role("button", name="Load: Time limit").click()
                expect(page.locator("#loader-time-limit")).to_have_attribute("data-state", "failure")
                if name == "still":
                    self.assertEqual(page.evaluate("document.getAnimations().length"), 0)
                width = page.evaluate("document.documentElement.scrollWidth")
                self.assertEqual(width, options.get("viewport", {"width": 1200})["width"])
                self.audit(page, name)
                self.picture(page, name)

    def test_size(self):
        context = self.context()
        page = context.new_page()
        sizes = {}
        page.on("response", lambda response: sizes.update({response.url: len(response.body())}))
        page.goto(self.server.url)
        self.is_live(page)
        total = sum(sizes.values())
        print(f"\n{len(sizes)} files, {total} bytes", flush=True)
        self.assertLess(total, 97_000, sizes)
