# SPDX-License-Identifier: Apache-2.0
"""Random interactions over connections that are held, released and cut: no interaction is lost."""

import os
import random

from driving import Driving, expect

STEPS = int(os.environ.get("STEPS", 70))
SEED = int(os.environ.get("SEED", 0))


class Interactions(Driving):
    def test_every_interaction_is_saved(self):
        self.random = random.Random(SEED)
        self.page, self.wire = self.open_wired()
        self.page.on("dialog", lambda dialog: dialog.accept())
        # The expected list: title and completed.
        self.todos = []
        self.count = 0
        steps = []
        for _ in range(STEPS):
            act = self.random.choice(
                [self.add, self.add, self.add_three, self.remove, self.rename_one, self.tick, self.move]
                + [self.wire.hold, self.wire.release, self.wire.cut, self.reload]
            )
            steps.append(act.__name__)
            act()
            self.assertEqual(self.titles(self.page), [title for title, _ in self.todos], (SEED, steps))
        self.wire.release()
        self.is_live(self.page)
        self.is_stored(self.page, *(title for title, _ in self.todos))
        self.is_settled(self.page)
        stored = [[todo["title"], todo["completed"]] for todo in self.stored(self.page)]
        self.assertEqual(stored, self.todos, (SEED, steps))

    def title(self):
        self.count += 1
        return f"Todo {self.count}"

    def add(self, count=1):
        # All rows of a list up to this length are in the document.
        if len(self.todos) > 15:
            return self.remove()
        titles = [self.title() for _ in range(count)]
        self.page.fill("#add-title", "\n".join(titles))
        self.page.press("#add-title", "Enter")
        self.todos += [[title, False] for title in titles]

    def add_three(self):
        self.add(3)

    def any(self):
        """Returns the index and the row of a random todo; adds one to an empty list."""
        if not self.todos:
            self.add()
        index = self.random.randrange(len(self.todos))
        return index, self.row(self.page, self.todos[index][0])

    def remove(self):
        index, row = self.any()
        row.get_by_role("button", name="Remove").press("Enter")
        self.todos.pop(index)

    def rename_one(self):
        index, _ = self.any()
        title = self.title()
        self.rename(self.page, self.todos[index][0], title)
        self.todos[index][0] = title

    def tick(self):
        index, row = self.any()
        row.get_by_role("checkbox").press("Space")
        self.todos[index][1] = not self.todos[index][1]

    def move(self):
        index, row = self.any()
        last = len(self.todos) - 1
        places = {"Home": 0, "End": last, "ArrowUp": max(0, index - 1), "ArrowDown": min(last, index + 1)}
        key = self.random.choice(list(places))
        row.locator(".grip").press(key)
        self.todos.insert(places[key], self.todos.pop(index))

    def reload(self):
        self.wire.cut()
        self.page.reload()
        self.is_live(self.page)
