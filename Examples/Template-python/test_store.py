# SPDX-License-Identifier: Apache-2.0

import shutil
import subprocess
import unittest

from store import IncrementTapped, SecondPassed, StartTapped, State, StopTapped, kind
from statewire.stores import TestStore


class StoreTests(unittest.TestCase):
    def test_each_tap_adds_one(self):
        with TestStore(kind) as store:
            store.send(IncrementTapped())
            store.send(IncrementTapped())
            self.assertEqual(store.state, State(count=2))

    def test_the_store_counts_each_second_until_it_is_stopped(self):
        with TestStore(kind) as store:
            store.send(StartTapped())
            store.advance(1000)
            store.receive(SecondPassed())
            self.assertEqual(store.state, State(count=1, isRunning=True))
            store.send(StopTapped())
            store.advance(5000)
            self.assertEqual(store.state, State(count=1))


class ServedTests(unittest.TestCase):
    @unittest.skipUnless(shutil.which("statewire"), "the program statewire is not in PATH")
    def test_a_client_receives_the_messages_of_the_conversation(self):
        server = "statewire serve --test --store counter='python3 store.py'"
        subprocess.run(["statewire", "play", "counter.conversation", "--spawn", server], check=True)


if __name__ == "__main__":
    unittest.main()
