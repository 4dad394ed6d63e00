# SPDX-License-Identifier: Apache-2.0
"""The list: unconfirmed todos, long lists, refused texts, dragging."""

import contextlib
import json
import signal
import sqlite3

from driving import Driving, expect

HEBREW = "לקנות חלב"


class Unconfirmed(Driving):
    def test_changes_of_a_pending_todo(self):
        page, wire = self.open_wired()
        self.add(page, "Bread")
        wire.hold()
        for title in ["Milk", "Salt", "Eggs"]:
            page.fill("#add-title", title)
            page.press("#add-title", "Enter")
        self.row(page, "Milk").get_by_role("checkbox").check()
        self.rename(page, "Milk", "Oat milk")
        page.get_by_role("button", name="Remove Salt").click()
        page.get_by_role("button", name="Move Eggs", exact=True).press("Home")
        self.shows(page, "Eggs", "Bread", "Oat milk")
        wire.release()
        self.is_settled(page)
        self.is_stored(page, "Eggs", "Bread", "Oat milk")
        expect(self.row(page, "Oat milk").get_by_role("checkbox")).to_be_checked()
        self.shows(page, "Eggs", "Bread", "Oat milk")

    def test_offline(self):
        page = self.open()
        self.add(page, "Bread")
        self.server.kill()
        expect(page.locator("#status")).to_have_attribute("data-state", "reconnecting")
        for title in ["Milk", "Salt"]:
            page.fill("#add-title", title)
            page.press("#add-title", "Enter")
        self.row(page, "Milk").get_by_role("checkbox").check()
        self.rename(page, "Milk", "Oat milk")
        page.get_by_role("button", name="Remove Salt").click()
        page.get_by_role("button", name="Remove Bread").click()
        self.server.start()
        self.is_live(page)
        self.is_settled(page)
        self.is_stored(page, "Oat milk")
        self.shows(page, "Oat milk")

    def test_rename_survives_the_response(self):
        page, wire = self.open_wired()
        wire.hold()
        page.fill("#add-title", "Milk")
        page.press("#add-title", "Enter")
        self.row(page, "Milk").locator("button.title").click()
        page.keyboard.type("Oat")
        wire.release()
        self.is_settled(page)
        page.keyboard.type(" milk")
        page.keyboard.press("Enter")
        self.shows(page, "Oat milk")
        expect(page.get_by_role("button", name="Rename Oat milk")).to_be_focused()
        self.is_stored(page, "Oat milk")

    def test_reload_before_the_response(self):
        page, wire = self.open_wired()
        self.add(page, "Milk", "Salt")
        wire.hold()
        page.fill("#add-title", "Bread")
        page.press("#add-title", "Enter")
        self.rename(page, "Milk", "Oat milk")
        page.get_by_role("button", name="Remove Salt").click()
        wire.cut()
        page.reload()
        self.is_live(page)
        self.is_settled(page)
        self.shows(page, "Oat milk", "Bread")
        self.is_stored(page, "Oat milk", "Bread")

    def test_cut_while_connecting(self):
        page, wire = self.open_wired()
        wire.hold()
        page.fill("#add-title", "Milk")
        page.press("#add-title", "Enter")
        self.server.process.send_signal(signal.SIGSTOP)
        wire.cut()
        while not wire.sockets:
            page.wait_for_timeout(20)
        with page.expect_console_message(lambda message: "before the connection is established" in message.text):
            wire.cut()
        self.server.process.send_signal(signal.SIGCONT)
        self.is_live(page)
        self.is_settled(page)
        self.is_stored(page, "Milk")

    def test_reload_after_the_server_received_the_input(self):
        page, wire = self.open_wired()
        page.fill("#add-title", "Milk")
        page.press("#add-title", "Enter")
        self.is_stored(page, "Milk")
        kept = json.dumps([{"input": self.added(wire)}])
        page.evaluate("kept => (sessionStorage.unsent = kept)", kept)
        page.reload()
        self.is_live(page)
        self.is_settled(page)
        self.is_stored(page, "Milk")

    def added(self, wire):
        inputs = [message["params"]["input"] for message in map(json.loads, wire.sent) if message["method"] == "store/send"]
        return next(input for input in inputs if input["type"] == "todoAdded")

    def test_remote_removal_during_a_rename(self):
        page = self.open()
        self.add(page, "Milk", "Bread")
        self.row(page, "Milk").locator("button.title").click()
        page.keyboard.type("Oat milk")
        self.send(page, {"type": "todoRemoved", "id": self.stored(page)[0]["id"]})
        self.shows(page, "Bread")
        expect(page.locator("#add-title")).to_have_value("Oat milk")
        expect(page.locator("#add-title")).to_be_focused()
        expect(page.locator("#problem")).to_contain_text("Milk was removed by someone else")

    def test_remote_removal_with_pending_inputs(self):
        page, wire = self.open_wired()
        titles = ["Milk", "Bread", "Salt", "Eggs", "Oil", "Tea"]
        self.add(page, *titles, "Rice")
        ids = {todo["title"]: todo["id"] for todo in self.stored(page)}
        for outcome in ["responded", "reloaded", "session ended"]:
            with self.subTest(outcome):
                other = self.open()
                renamed, ticked = removed = titles[:2]
                del titles[:2]
                wire.hold()
                self.rename(page, renamed, f"Other {renamed}")
                self.row(page, ticked).get_by_role("checkbox").check()
                page.get_by_role("button", name=f"Move {ticked}", exact=True).press("End")
                self.send(other, *({"type": "todoRemoved", "id": ids[title]} for title in removed))
                if outcome == "responded":
                    wire.release()
                elif outcome == "reloaded":
                    wire.cut()
                    page.reload()
                else:
                    self.end_session(other, page.evaluate("sessionStorage.session"))
                    wire.cut()
                self.is_live(page)
                self.is_settled(page)
                problem = page.locator("#problem")
                expect(problem).to_contain_text(f"Not renamed: “{renamed}” was removed by someone else.")
                expect(problem).to_contain_text(f"Not changed: “{ticked}” was removed by someone else.")
                expect(page.locator("#add-title")).to_have_value(f"Other {renamed}")
                page.fill("#add-title", "")
        self.is_stored(page, "Rice")

    def end_session(self, page, session):
        page.evaluate(
            """async session => {
              const { connect } = await import("/client/index.js");
              await connect(location.origin.replace("http", "ws"), { session }).endSession();
            }""",
            session,
        )

    def test_own_removal_is_not_announced(self):
        page, wire = self.open_wired()
        self.add(page, "Milk", "Bread")
        wire.hold()
        self.rename(page, "Milk", "Oat milk")
        self.row(page, "Oat milk").get_by_role("checkbox").check()
        page.get_by_role("button", name="Remove Oat milk").click()
        wire.release()
        self.is_settled(page)
        self.shows(page, "Bread")
        expect(page.locator("#problem")).to_have_text("")
        expect(page.locator("#add-title")).to_have_value("")

    def test_remote_rename_with_a_pending_rename(self):
        page, wire = self.open_wired()
        self.add(page, "Milk", "Salt")
        ids = [todo["id"] for todo in self.stored(page)]
        other = self.open()
        renames = [{"type": "todoRenamed", "id": id, "title": title} for id, title in zip(ids, ["Soy milk", "Sea salt"])]
        wire.hold()
        for title in ["Milk of oats", "Oat milk"]:
            self.rename(page, page.locator("button.title").first.text_content(), title)
        self.rename(page, "Salt", "Sea salt")
        self.send(other, *renames)
        wire.release()
        self.is_settled(page)
        expect(page.locator("#problem")).to_have_text(
            "Someone else renamed it to Soy milk. Your title has replaced it: Oat milk"
        )
        self.is_stored(page, "Oat milk", "Sea salt")
        # Again, after a reload.
        wire.hold()
        self.rename(page, "Oat milk", "Milk")
        self.send(other, renames[0])
        page.reload()
        wire.cut()
        self.is_live(page)
        expect(page.locator("#problem")).to_contain_text("renamed it to Soy milk. Your title has replaced it: Milk")
        self.is_stored(page, "Milk", "Sea salt")

    def test_storage_of_the_tab_is_corrupt(self):
        page = self.open()
        self.add(page, "Milk")
        added = {"input": {"type": "todoAdded", "id": "1", "title": "Bread"}}
        id = self.stored(page)[0]["id"]
        wrong = [
            {}, None, 1, [], {"input": None}, {"input": {}}, {"input": {"type": "todoAdded", "id": "2"}},
            {"input": {"type": "todoAdded", "id": 2, "title": "Salt"}}, {"input": {"type": ["todoAdded"], "id": "2"}},
            {"input": {"type": "todoRenamed", "id": id, "title": {}}},
            {"input": {"type": "todoMoved", "id": id, "before": 3}}, {"input": {"type": "todoMoved", "id": id, "before": "x"}, "next": 7},
            {"input": {"type": "todoMoved", "id": id, "before": "x"}, "next": [7]}, {"input": {"type": "todoCompleted", "id": id}, "from": 7},
        ]
        for kept in ["null", "{", "[{}]", "{}", "7", '""', json.dumps([*wrong, added])]:
            with self.subTest(kept):
                page.evaluate("kept => (sessionStorage.unsent = kept)", kept)
                page.reload()
                self.is_live(page)
                self.is_settled(page)
                expect(page.locator("#problem")).to_have_text("")
        self.is_stored(page, "Milk", "Bread")
        expect(self.row(page, "Milk").get_by_role("checkbox")).not_to_be_checked()

    def test_focus_moves_after_remote_removal(self):
        page = self.open()
        self.add(page, "Milk", "Bread")
        page.get_by_role("button", name="Remove Milk").focus()
        self.send(page, {"type": "todoRemoved", "id": self.stored(page)[0]["id"]})
        expect(page.get_by_role("button", name="Remove Bread")).to_be_focused()

    def test_drop_before_a_removed_row(self):
        page, wire = self.open_wired()
        self.add(page, "A", "B", "C", "D")
        ids = {todo["title"]: todo["id"] for todo in self.stored(page)}
        wire.hold()
        page.get_by_role("button", name="Move A", exact=True).press("ArrowDown")
        self.shows(page, "B", "A", "C", "D")
        other = self.open()
        self.send(other, {"type": "todoRemoved", "id": ids["C"]})
        wire.release()
        self.shows(page, "B", "A", "D")
        self.is_stored(page, "B", "A", "D")

    def test_drop_before_a_locally_removed_row(self):
        page, wire = self.open_wired()
        self.add(page, "A", "B", "C", "D")
        wire.hold()
        move = page.get_by_role("button", name="Move D", exact=True)
        move.press("ArrowUp")
        page.get_by_role("button", name="Remove C").click()
        move.press("ArrowUp")
        self.shows(page, "A", "D", "B")
        wire.release()
        self.is_settled(page)
        self.is_stored(page, "A", "D", "B")

    def test_remote_removal_during_a_drag(self):
        page = self.open()
        self.add(page, "A", "B", "C", "D")
        ids = {todo["title"]: todo["id"] for todo in self.stored(page)}
        self.rests(page)
        self.grasp(page, "A")
        box = self.row(page, "B").bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + box["height"] * 0.9)
        self.send(page, {"type": "todoRemoved", "id": ids["C"]})
        self.send(page, {"type": "todoRemoved", "id": ids["B"]})
        page.mouse.up()
        self.shows(page, "A", "D")
        self.is_stored(page, "A", "D")

    def test_storage_fails(self):
        page, wire = self.open_wired()
        self.add(page, "Milk")
        fault = "BEGIN SELECT RAISE(FAIL, 'broken'); END"
        self.sql(f"CREATE TRIGGER one BEFORE INSERT ON todo {fault}", f"CREATE TRIGGER two BEFORE UPDATE ON todo {fault}")
        page.fill("#add-title", "Bread")
        page.press("#add-title", "Enter")
        self.rename(page, "Milk", "Oat milk")
        expect(page.locator("#again")).to_be_visible()
        # The rename follows the failed todo, so it must fail too.
        wire.has_responses(page)
        self.sql("DROP TRIGGER one", "DROP TRIGGER two")
        page.click("#again")
        expect(page.locator("#again")).to_be_hidden()
        expect(page.locator("#problem")).to_contain_text("cannot save it")
        expect(page.locator("#add-title")).to_have_value("Bread")
        expect(page.get_by_role("textbox", name="New title of Milk")).to_have_value("Oat milk")

    def sql(self, *statements):
        with contextlib.closing(sqlite3.connect(f"{self.server.folder.name}/statewire.sqlite")) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()


class Texts(Driving):
    def test_no_rename_without_an_edit(self):
        page, wire = self.open_wired()
        title = "  Milk\r\nand \u2028 bread\n "
        self.send(page, {"type": "todoAdded", "title": title})
        row = page.locator("#todos li")
        for leave in [lambda: page.locator("#add-title").click(), lambda: page.keyboard.press("Enter")]:
            row.locator("button.title").click()
            expect(row.locator("textarea")).to_be_focused()
            leave()
            expect(row.locator("textarea")).to_have_count(0)
        self.add(page, "Salt")
        self.assertNotIn("todoRenamed", "".join(wire.sent))
        self.assertEqual(self.stored(page)[0]["title"], title)

        row.first.locator("button.title").click()
        page.keyboard.press("Control+End")
        for _ in range(2):
            page.keyboard.press("ArrowLeft")
        page.keyboard.type(" now")
        page.keyboard.press("Enter")
        self.is_stored(page, "  Milk\r\nand \u2028 bread now\n ", "Salt")

    def test_remote_rename_is_not_overwritten(self):
        page = self.open()
        self.add(page, "Milk")
        self.row(page, "Milk").locator("button.title").click()
        self.send(page, {"type": "todoRenamed", "id": self.stored(page)[0]["id"], "title": "Oat milk"})
        expect(page.locator("button.title")).to_have_text("Oat milk")
        page.keyboard.press("Enter")
        self.is_settled(page)
        self.is_stored(page, "Oat milk")

    def test_remote_rename_requires_confirmation(self):
        page = self.open()
        self.add(page, "Milk")
        id = self.stored(page)[0]["id"]
        field = page.get_by_role("textbox", name="New title of")
        for end in ["Escape", "Enter"]:
            page.locator("button.title").click()
            page.keyboard.insert_text("Oat milk")
            self.send(page, {"type": "todoRenamed", "id": id, "title": f"{end} milk"})
            expect(page.locator("button.title")).to_have_text(f"{end} milk")
            page.keyboard.press("Enter")
            expect(page.locator("#problem")).to_contain_text(f"renamed it to {end} milk")
            expect(field).to_have_value("Oat milk")
            page.keyboard.press(end)
            expect(field).to_have_count(0)
            self.is_settled(page)
            self.is_stored(page, "Oat milk" if end == "Enter" else "Escape milk")

    def test_empty_title(self):
        page = self.open()
        self.add(page, "Milk")
        self.row(page, "Milk").locator("button.title").click()
        page.keyboard.press("Delete")
        page.keyboard.press("Enter")
        expect(page.locator("#problem")).to_contain_text("The title must not be empty")
        page.keyboard.press("Escape")
        self.shows(page, "Milk")

    def test_lines_become_todos(self):
        page = self.open()
        page.fill("#add-title", "Milk\n\n  Bread\r\nSalt ")
        expect(page.get_by_role("button", name="Add 3", exact=True)).to_be_visible()
        self.audit(page, "several lines")
        self.picture(page, "lines", full=False)
        page.press("#add-title", "Enter")
        self.shows(page, "Milk", "Bread", "Salt")
        expect(page.locator("#add-title")).to_have_value("")
        page.press("#add-title", "Shift+Enter")
        expect(page.locator("#add-title")).to_have_value("\n")
        page.press("#add-title", "Enter")
        self.is_stored(page, "Milk", "Bread", "Salt")

    def test_refused_texts_return(self):
        page, wire = self.open_wired()
        self.add(page, "Salt")
        wire.hold()
        refused = ["x" * 5000, "😀" * 1100]
        page.fill("#add-title", f"Milk\n{refused[0]}\nBread\n{refused[1]}")
        page.press("#add-title", "Enter")
        page.locator("#add-title").press_sequentially("Eggs")
        self.rename(page, "Salt", "y" * 5000)
        page.locator("#add-title").focus()
        wire.release()
        expect(page.locator("#problem")).to_contain_text("4096 bytes")
        expect(page.locator("#add-title")).to_have_value("\n".join(["Eggs", *refused]))
        editor = page.get_by_role("textbox", name="New title of Salt")
        expect(editor).to_have_value("y" * 5000)
        expect(page.locator("#add-title")).to_be_focused()
        editor.fill("z" * 5000)
        editor.press("Enter")
        expect(page.locator("#problem")).to_contain_text("4096 bytes")
        expect(editor).to_have_value("z" * 5000)
        expect(editor).to_be_focused()
        editor.fill("Sea salt")
        editor.press("Enter")
        self.shows(page, "Sea salt", "Milk", "Bread")
        self.is_stored(page, "Sea salt", "Milk", "Bread")

    def test_repeated_clicks_and_keys_act_once(self):
        page = self.open()
        self.add(page, "A", "B", "C")
        page.get_by_role("button", name="Remove A").click()
        self.shows(page, "B", "C")
        self.rests(page)
        for press in [page.mouse.down, page.mouse.up]:
            press(click_count=2)
        self.is_settled(page)
        page.get_by_role("button", name="Remove B").focus()
        for isRepeat in [False, True, True]:
            self.key(page, "keyDown", isRepeat)
        self.key(page, "keyUp")
        self.shows(page, "C")
        page.fill("#add-title", "D")
        page.get_by_role("button", name="Add").dblclick()
        self.shows(page, "C", "D")
        self.is_settled(page)
        self.is_stored(page, "C", "D")

    def key(self, page, event, isRepeat=False):
        session = page.context.new_cdp_session(page)
        text = {} if event == "keyUp" else {"text": "\r"}
        session.send(
            "Input.dispatchKeyEvent",
            {"type": event, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "autoRepeat": isRepeat, **text},
        )

    def test_direction(self):
        page = self.open()
        self.add(page, "Milk", HEBREW, "abc \u202egnirts\u202c\u2069 \u202edcba")
        title = self.row(page, HEBREW).locator("button.title")
        self.assertEqual(title.evaluate("node => getComputedStyle(node).direction"), "rtl")
        self.picture(page, "direction", full=False)
        # The text after a value stays after it, whatever controls the value has.
        left = page.evaluate(
            """async () => {
              const { write } = await import("/dom.js");
              const node = document.querySelector("#announcement");
              node.className = "";
              write(node, "before ", "\\u2069\\u202evalue", " after");
              const place = part => {
                const range = document.createRange();
                range.selectNodeContents(part);
                return range.getBoundingClientRect().left;
              };
              return [...node.childNodes].map(place);
            }"""
        )
        self.assertEqual(left, sorted(left))


class Frames(Driving):
    options = ["--maximum-frame-bytes", "20000"]

    def test_text_exceeds_the_frame_limit(self):
        page = self.open()
        self.add(page, "Milk")
        page.fill("#add-title", "x" * 30_000)
        page.press("#add-title", "Enter")
        expect(page.locator("#problem")).to_contain_text("Not added: ")
        expect(page.locator("#add-title")).to_have_value("x" * 30_000)
        self.shows(page, "Milk")
        self.rename(page, "Milk", "y" * 30_000)
        expect(page.locator("#problem")).to_contain_text("Not renamed: ")
        expect(page.get_by_role("textbox", name="New title of Milk")).to_have_value("y" * 30_000)
        page.fill("#first", "z" * 30_000)
        expect(page.locator("#submitted")).to_contain_text("Not saved: ")
        expect(page.locator("#first")).to_have_value("z" * 30_000)
        expect(page.locator("#status")).to_have_text("Connected")


class Long(Driving):
    def test_rows_out_of_sight_are_not_drawn(self):
        page = self.open()
        self.fill(page, 300)
        rows = page.locator("#todos li")
        self.assertLess(rows.count(), 120)
        first = self.row(page, "Todo 1")
        expect(first).to_have_attribute("aria-posinset", "1")
        expect(first).to_have_attribute("aria-setsize", "300")
        self.audit(page, "a long list")
        page.locator("#scroller").evaluate("node => (node.scrollTop = node.scrollHeight)")
        expect(self.row(page, "Todo 300")).to_be_in_viewport()
        expect(self.row(page, "Todo 300")).to_have_attribute("aria-posinset", "300")
        expect(first).to_have_count(0)
        self.assertLess(rows.count(), 120)
        self.picture(page, "long", full=False)

    def test_keyboard(self):
        page = self.open()
        self.fill(page, 300)
        button = lambda name: page.get_by_role("button", name=name, exact=True)
        button("Remove Todo 1").press("End")
        expect(button("Remove Todo 300")).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(button("Remove Todo 299")).to_be_focused()
        page.keyboard.press("PageUp")
        expect(button("Remove Todo 289")).to_be_focused()
        page.keyboard.press("Shift+Tab")
        expect(button("Rename Todo 289")).to_be_focused()
        page.keyboard.press("Home")
        expect(button("Rename Todo 1")).to_be_focused()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Shift+Tab")
        expect(button("Move Todo 1")).to_be_focused()
        page.keyboard.press("End")
        expect(button("Move Todo 1")).to_be_focused()
        expect(button("Move Todo 1")).to_be_in_viewport()
        expect(page.locator("#announcement")).to_have_text("Todo 1, 300 of 300")
        # A focused row stays in the document, at any distance.
        page.locator("#scroller").evaluate("node => (node.scrollTop = 0)")
        expect(self.row(page, "Todo 2")).to_be_in_viewport()
        page.keyboard.press("ArrowUp")
        expect(button("Move Todo 1")).to_be_focused()
        expect(page.locator("#announcement")).to_have_text("Todo 1, 299 of 300")
        page.locator("#add-title").focus()
        for _ in range(3):
            page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip the task list")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(button("Refresh the balance")).to_be_focused()

    def test_finding(self):
        page = self.open()
        self.fill(page, 300)
        self.send(page, {"type": "todoAdded", "title": "Water the ferns"})
        find = page.get_by_role("searchbox", name="Search tasks")
        find.fill("FERN")
        self.shows(page, "Water the ferns")
        expect(page.locator("#announcement")).to_have_text("1 found")
        find.fill("todo 29")
        page.get_by_role("button", name="Move Todo 290", exact=True).press("End")
        expect(page.locator("#todos li").last).to_contain_text("Todo 290")
        find.fill("")
        self.is_settled(page)
        titles = [todo["title"] for todo in self.stored(page)]
        self.assertEqual(titles[298:], ["Todo 290", "Todo 300", "Water the ferns"])
        find.fill("nothing has this")
        expect(page.locator("#empty")).to_have_text("No matching tasks")
        self.add(page, "Salt")
        expect(self.row(page, "Salt")).to_be_in_viewport()

    def test_scroll_position_is_stable(self):
        page = self.open()
        self.fill(page, 300)
        page.locator("#scroller").evaluate("node => (node.scrollTop = 4000)")
        row = self.row(page, "Todo 104")
        expect(row).to_be_in_viewport()
        before = row.bounding_box()["y"]
        ids = [todo["id"] for todo in self.stored(page)]
        self.send(page, *({"type": "todoRemoved", "id": id} for id in ids[:7]))
        expect(page.locator("#count")).to_have_text("293 of 293 open")
        expect(row).to_have_attribute("aria-posinset", "97")
        self.rests(page)
        self.assertAlmostEqual(row.bounding_box()["y"], before, delta=1)

    def test_heights_differ(self):
        page = self.open()
        titles = [f"Todo {number} " + "of several lines " * (number % 7 * 5) for number in range(200)]
        self.send(page, *({"type": "todoAdded", "title": title} for title in titles))
        expect(page.locator("#count")).to_have_text("200 of 200 open")
        for place in [0, 2000, 5000, 1e6, 3000]:
            page.locator("#scroller").evaluate("(node, place) => (node.scrollTop = place)", place)
            page.wait_for_function(
                """() => {
                  const box = document.querySelector("#scroller").getBoundingClientRect();
                  const rows = [...document.querySelectorAll("#todos li")].map(row => row.getBoundingClientRect());
                  return rows.every((row, i) => !i || Math.abs(row.top - rows[i - 1].bottom) < 1) &&
                    rows[0].top <= box.top && rows.at(-1).bottom >= box.bottom - 1;
                }"""
            )


class Dragging(Driving):
    def test_wheel(self):
        page = self.open()
        self.fill(page, 100)
        self.rests(page)
        box = self.grasp(page, "Todo 2")
        page.mouse.move(box["x"] + 16, box["y"] + 30)
        page.mouse.wheel(0, 1200)
        page.wait_for_function("() => document.querySelector('#scroller').scrollTop === 1200")
        target = page.evaluate(
            """([x, y]) => {
              const rows = [...document.querySelectorAll("#todos li:not(.dragged)")];
              return rows.filter(row => row.offsetTop + row.offsetHeight / 2 <
                y + document.querySelector("#scroller").scrollTop -
                document.querySelector("#scroller").getBoundingClientRect().top).at(-1).textContent.trim();
            }""",
            [box["x"] + 16, box["y"] + 30 - 16 + 16],
        )
        page.mouse.up()
        self.is_settled(page)
        titles = [todo["title"] for todo in self.stored(page)]
        self.assertLessEqual(abs(titles.index("Todo 2") - titles.index(target)), 1)
        self.assertGreater(titles.index("Todo 2"), 25)

    def test_edges(self):
        page = self.open()
        self.fill(page, 60)
        self.rests(page)
        self.grasp(page, "Todo 1")
        box = page.locator("#scroller").bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 4)
        page.wait_for_function(
            """() => {
              const { scrollTop, clientHeight, scrollHeight } = document.querySelector("#scroller");
              return scrollTop > 100 && scrollTop + clientHeight >= scrollHeight - 1;
            }"""
        )
        self.picture(page, "dragged-to-the-end", full=False)
        page.mouse.up()
        expect(page.locator("#announcement")).to_have_text("Todo 1, 60 of 60")
        self.is_settled(page)
        self.assertEqual(self.stored(page)[-1]["title"], "Todo 1")

    def test_touch(self):
        page = self.open(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
        self.add(page, "A", "B", "C")
        touch = self.touch(page)
        self.rests(page)
        grip, last = (self.row(page, title).locator(".grip").bounding_box() for title in "AC")
        x = grip["x"] + 10
        touch("touchStart", x, grip["y"] + 10)
        for step in range(1, 6):
            touch("touchMove", x, grip["y"] + 10 + (last["y"] + 12 - grip["y"]) * step / 5)
        self.picture(page, "touch", full=False)
        touch("touchEnd")
        self.shows(page, "B", "C", "A")
        self.is_stored(page, "B", "C", "A")

    def test_cancelled(self):
        page = self.open(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
        self.add(page, "A", "B", "C")
        touch = self.touch(page)
        self.rests(page)
        grip, last = (self.row(page, title).locator(".grip").bounding_box() for title in "AC")
        touch("touchStart", grip["x"] + 10, grip["y"] + 10)
        touch("touchMove", grip["x"] + 10, last["y"] + 30)
        touch("touchCancel")
        expect(page.locator(".dragged")).to_have_count(0)
        self.grasp(page, "A")
        page.mouse.move(last["x"] + 10, last["y"] + 30)
        page.keyboard.press("Escape")
        expect(page.locator(".dragged")).to_have_count(0)
        page.mouse.up()
        self.shows(page, "A", "B", "C")
        self.is_settled(page)
        self.is_stored(page, "A", "B", "C")

    def touch(self, page):
        session = page.context.new_cdp_session(page)

        def touch(kind, x=None, y=None):
            points = [] if x is None else [{"x": x, "y": y}]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        return touch
