# SPDX-License-Identifier: Apache-2.0
"""Makes the picture of Scripts/picture: the page and the terminal program in one session."""

import base64
import os
import pathlib
import subprocess
import sys
import tempfile

import driving

# Runs in another interpreter: the terminal program is installed in its own environment.
TERMINAL = """
import asyncio, sys
from statewire import Client
from statewire.tui.app import StatewireApp
from statewire.tui.todos import TodoList

async def main(address, session, file):
    app = StatewireApp(lambda: Client(address, session=session))
    async with app.run_test(size=(80, 24)) as pilot:
        while len(app.query_one(TodoList).todos) < 4:
            await pilot.pause(0.1)
        await pilot.pause(1)
        open(file, "w").write(app.export_screenshot(title="statewire-tui"))

asyncio.run(main(*sys.argv[1:]))
"""

SIDE_BY_SIDE = """
<style>
  body { margin: 0; padding: 36px; display: flex; gap: 32px; align-items: center; background: #dfe5dd }
  img { border-radius: 12px; box-shadow: 0 12px 40px #0003 }
</style>
<img src="data:image/png;base64,%s" width="760"><img src="data:image/svg+xml;base64,%s" width="640">
"""


class Picture(driving.Driving):
    def runTest(self):
        self.server.post("1234.50")
        page = self.open()
        self.add(page, "Buy oat milk", "Write to the landlord", "Book the train to Zürich", "Water the ferns")
        page.get_by_role("checkbox", name="Water the ferns").check()
        page.click("#refresh")
        driving.expect(page.locator("#amount")).to_have_text("$1,234.50")
        session = page.evaluate("sessionStorage.session")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "terminal.svg"
            subprocess.run([os.environ["TERMINAL"], "-c", TERMINAL, f"ws://{self.server.address}/", session, file],
                           check=True, timeout=120)
            terminal = base64.b64encode(file.read_bytes()).decode()
        seen = base64.b64encode(page.screenshot()).decode()
        context = self.context(viewport={"width": 1504, "height": 700}, device_scale_factor=1)
        both = context.new_page()
        both.set_content(SIDE_BY_SIDE % (seen, terminal))
        both.screenshot(path=TARGET, full_page=True)


TARGET = sys.argv.pop()
driving.unittest.main(argv=[sys.argv[0], "Picture"])
