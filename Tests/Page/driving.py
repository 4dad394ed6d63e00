# SPDX-License-Identifier: Apache-2.0
"""Support of the page tests: a server and a browser."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

PROGRAM = os.environ["STATEWIRE"]
SCREENSHOTS = pathlib.Path(os.environ["SCREENSHOTS"])
# A folder to serve instead of the embedded page.
WEB_ROOT = os.environ.get("WEB_ROOT")
SCREENSHOTS.mkdir(parents=True, exist_ok=True)
# The timeout of an expectation in milliseconds; long enough for a slow machine.
PATIENCE = int(os.environ.get("PATIENCE", 120_000))
expect.set_options(timeout=PATIENCE)
# The looks of a screenshot, with the options of the browser.
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "has_touch": True},
    "phone-dark": {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "color_scheme": "dark"},
    "still": {"reduced_motion": "reduce"},
}


class Server:
    """The program with a temporary data folder. It keeps its port when it is restarted."""

    def __init__(self, *options, program=PROGRAM):
        self.options = options
        self.program = program
        self.folder = tempfile.TemporaryDirectory(prefix="statewire-page-")
        self.address = "127.0.0.1:0"
        # The address of the admin interface; None without one.
        self.admin = None
        self.start()

    def start(self):
        command = [self.program, "serve", "--web", self.address, "--data-dir", self.folder.name, *self.options]
        if WEB_ROOT:
            command += ["--web-root", WEB_ROOT]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = []
        for line in self.process.stderr:
            said.append(line)
            if match := re.search(r"admin interface at (https?://[\d.]+:\d+)", line):
                self.admin = match[1]
            if match := re.search(r"listening on (?:\w+://)?([\d.]+:\d+)", line):
                self.address = match[1]
                break
        else:
            raise RuntimeError("the server does not listen: " + "".join(said))
        self.reading = threading.Thread(target=self.read, args=[self.process.stderr])
        self.reading.start()

    @staticmethod
    def read(stream):
        with stream:
            for _ in stream:
                pass

    @property
    def url(self):
        return f"http://{self.address}/"

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.reading.join()

    def post(self, amount):
        subprocess.run([PROGRAM, "ledger", "post", amount, "--data-dir", self.folder.name], check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.reading.join()
        self.folder.cleanup()


class Wire:
    """The WebSockets of a page. While held, they forward nothing in either direction."""

    def __init__(self, page):
        self.is_held = False
        self.sockets = []
        self.sent = []
        self.received = []
        page.route_web_socket(re.compile("."), self.route)

    def route(self, socket):
        server = socket.connect_to_server()
        waiting = []
        self.sockets.append((socket, waiting))
        socket.on_message(lambda text: self.pass_on(server, text, waiting, self.sent))
        server.on_message(lambda text: self.pass_on(socket, text, waiting, self.received))

    def pass_on(self, target, text, waiting, seen):
        seen.append(text)
        if self.is_held:
            waiting.append((target, text))
        else:
            target.send(text)

    def hold(self):
        self.is_held = True

    def release(self):
        self.is_held = False
        for _, waiting in self.sockets:
            while waiting:
                target, text = waiting.pop(0)
                target.send(text)

    def has_responses(self, page):
        """Returns True when all inputs of the page have their responses."""
        ids = lambda texts, is_wanted: {message["id"] for message in map(json.loads, texts) if is_wanted(message)}
        while ids(self.sent, lambda message: message["method"] == "store/send") - ids(
            self.received, lambda message: "method" not in message
        ):
            page.wait_for_timeout(20)

    def cut(self):
        """Drops held messages and closes the connections."""
        for socket, waiting in self.sockets:
            waiting.clear()
            socket.close()
        self.sockets.clear()
        self.is_held = False


class Driving(unittest.TestCase):
    """A test with a server and a browser. Output on the browser console fails the test."""

    @classmethod
    def setUpClass(cls):
        cls.playwright = sync_playwright().start()
        path = shutil.which("chromium") or shutil.which("google-chrome")
        cls.browser = cls.playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()

    options = []
    program = PROGRAM

    def setUp(self):
        self.server = Server(*self.options, program=self.program)
        self.complaints = []
        # Chromium logs each failed attempt to connect.
        self.expected_complaints = r"ERR_CONNECTION_REFUSED|Password forms should have"
        self.contexts = []

    def tearDown(self):
        for context in self.contexts:
            context.close()
        self.server.stop()
        complaints = [text for text in self.complaints if not re.search(self.expected_complaints, text)]
        self.assertEqual(complaints, [])

    def context(self, **options):
        options = {"viewport": {"width": 1200, "height": 900}, **options}
        context = self.browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        return context

    def open(self, context=None, url=None, **options):
        return self.load((context or self.context(**options)).new_page(), url)

    def open_wired(self, **options):
        # Chromium logs a connection that is cut while it is being established.
        self.expected_complaints += "|closed before the connection is established"
        page = self.context(**options).new_page()
        wire = Wire(page)
        return self.load(page), wire

    def load(self, page, url=None):
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(url or self.server.url)
        self.is_live(page)
        return page

    def is_live(self, page):
        expect(page.locator("#status")).to_have_attribute("data-state", "connected")
        expect(page.locator("#todo")).to_have_attribute("aria-busy", "false")

    def add(self, page, *titles):
        for title in titles:
            page.fill("#add-title", title)
            page.press("#add-title", "Enter")
            expect(self.row(page, title)).to_be_visible()
        self.is_settled(page)

    def is_settled(self, page):
        """Waits until all inputs to the list have their responses."""
        expect(page.locator(".sending")).to_have_count(0)
        page.wait_for_function(
            """() => {
              let unsent;
              try { unsent = sessionStorage.unsent; } catch {}
              return (unsent ?? "[]") === "[]";
            }"""
        )

    def row(self, page, title):
        return page.locator("#todos li").filter(has=page.get_by_text(title, exact=True))

    def titles(self, page):
        return page.locator("#todos button.title").all_text_contents()

    def shows(self, page, *titles):
        expect(page.locator("#todos button.title")).to_have_text(list(titles))

    def send(self, page, *inputs):
        """Sends inputs as another client."""
        page.evaluate(
            """async inputs => {
              const { connect } = await import("/client/index.js");
              const client = connect(location.origin.replace("http", "ws"));
              const store = client.store("todo");
              await Promise.all(inputs.map(input => store.send(input, { settle: true })));
              client.close();
            }""",
            list(inputs),
        )

    def stored(self, page):
        """Returns the list as another client sees it."""
        return page.evaluate(
            """async () => {
              const { connect } = await import("/client/index.js");
              const client = connect(location.origin.replace("http", "ws"));
              await client.store("todo").send({ type: "stateRequested" }, { settle: true });
              for await (const { todos } of client.store("todo").states()) {
                client.close();
                return todos;
              }
            }"""
        )

    def fill(self, page, count):
        """Adds todos titled Todo 1, Todo 2, …"""
        self.send(page, *({"type": "todoAdded", "title": f"Todo {number + 1}"} for number in range(count)))
        expect(page.locator("#count")).to_have_text(f"{count} of {count} open")

    def is_stored(self, page, *titles):
        """Waits until another client sees these todos."""
        shown = page.evaluate(
            """async titles => {
              const { connect } = await import("/client/index.js");
              const client = connect(location.origin.replace("http", "ws"));
              const store = client.store("todo");
              store.send({ type: "stateRequested" }).catch(() => {});
              setTimeout(() => client.close(), 20_000);
              let shown;
              for await (const { todos = [] } of store.states()) {
                shown = todos.map(({ title }) => title);
                if (`${shown}` === `${titles}`) break;
              }
              client.close();
              return shown;
            }""",
            list(titles),
        )
        self.assertEqual(shown, list(titles))

    def rename(self, page, title, new):
        self.row(page, title).locator("button.title").click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(new)
        page.keyboard.press("Enter")

    def grasp(self, page, title):
        """Presses the drag handle of a row."""
        box = self.row(page, title).locator(".grip").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        return box

    def rests(self, page):
        """Waits until finite animations have ended."""
        page.evaluate("""() => Promise.allSettled(document.getAnimations()
          .filter(animation => animation.effect.getTiming().iterations !== Infinity)
          .map(animation => animation.finished))""")

    def record(self, page, selector, attribute):
        """Starts to record the texts (or values of an attribute) of an element."""
        page.evaluate(
            """([selector, attribute]) => {
              const node = document.querySelector(selector);
              const seen = ((window.seen ??= {})[selector] = []);
              new MutationObserver(() => {
                const value = attribute ? node.getAttribute(attribute) : node.textContent;
                if (value !== null && seen.at(-1) !== value) seen.push(value);
              }).observe(node, { attributes: true, childList: true, characterData: true, subtree: true });
            }""",
            [selector, attribute],
        )

    def recorded(self, page, selector):
        return page.evaluate("selector => window.seen[selector]", selector)

    def audit(self, page, story):
        """Checks accessibility with axe-core: no findings of any severity."""
        # Elements that fade in have a lower contrast.
        self.rests(page)
        results = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
        findings = [
            f"{finding['id']}: {finding['help']}: {[node['html'] for node in finding['nodes']]}"
            for finding in results.response["violations"]
        ]
        self.assertEqual(findings, [], story)

    def picture(self, page, name, full=True):
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=full)
