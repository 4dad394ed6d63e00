# SPDX-License-Identifier: Apache-2.0

import json
import os

from driving import Driving

TODOS = int(os.environ.get("TODOS", 10_000))
BOUND = float(os.environ.get("BOUND", 50))
UPDATES = """async todos => {
  const { connect } = await import("/client/index.js");
  const client = connect(location.origin.replace("http", "ws"));
  const store = client.store("todo");
  await store.send({ type: "stateRequested" }, { settle: true });
  let ids;
  for await (const { todos } of store.states()) {
    ids = todos.map(({ id }) => id);
    break;
  }
  // In sight and out of it, all kinds of change.
  const inputs = n => [
    { type: "todoRenamed", id: ids[n % 40], title: `Renamed ${n}` },
    { type: "todoMoved", id: ids[ids.length - 1 - n], before: ids[n % 20] },
    { type: "todoCompleted", id: ids[n % 30] },
    { type: "todoAdded", title: `Added ${n}` },
    { type: "todoRemoved", id: ids[60 + n] },
  ][n % 5];
  for (let n = 0; n < 100; n++) {
    store.send(inputs(n));
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  client.close();
}"""


class LongList(Driving):
    def setUp(self):
        super().setUp()
        self.other = self.context().new_page()
        # Not the page: only the client runs here.
        self.other.goto(self.server.url + "style.css")
        for start in range(0, TODOS, 1000):
            self.send(
                self.other,
                *({"type": "todoAdded", "title": f"Todo {start + n + 1}"} for n in range(min(1000, TODOS - start))),
            )

    def test_interactions(self):
        context = self.context()
        context.set_default_timeout(900_000)
        page = context.new_page()
        lines = []

        def measure(name, act):
            if name != "load":
                self.until_idle(page)
                page.evaluate(
                    """() => {
                      window.longest = 0;
                      let last = performance.now();
                      cancelAnimationFrame(window.frame);
                      const step = now => {
                        window.longest = Math.max(window.longest, now - last);
                        last = now;
                        window.frame = requestAnimationFrame(step);
                      };
                      window.frame = requestAnimationFrame(step);
                    }"""
                )
            self.browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"])
            act()
            self.until_idle(page)
            frame = page.evaluate("() => window.longest")
            tasks = self.tasks(self.browser.stop_tracing())
            lines.append((name, max(wall for wall, _ in tasks), max(cpu for _, cpu in tasks), frame))
            print("{:28} {:>10.1f} {:>10.1f} {:>10}".format(*lines[-1][:3], f"{frame:.1f}" if frame else ""), flush=True)

        print(f"\n{TODOS} todos; the longest, in milliseconds", flush=True)
        print("{:28} {:>10} {:>10} {:>10}".format("", "task", "its CPU", "frame"), flush=True)

        def load():
            page.goto(self.server.url)
            self.is_live(page)

        measure("load", load)
        grip = page.locator("#todos .grip").first.bounding_box()
        x, y = grip["x"] + 16, grip["y"] + 20

        def scroll():
            page.mouse.move(x + 100, y + 100)
            for by in [300] * 20 + [5000] * 5 + [-300] * 20 + [-100_000]:
                page.mouse.wheel(0, by)
                self.frame(page)

        def drag():
            page.mouse.move(x, y + 45)
            page.mouse.down()
            page.mouse.move(x, y + 400, steps=20)
            page.mouse.wheel(0, 600)
            self.frame(page)
            page.mouse.move(x, y + 200, steps=20)
            page.mouse.up()

        def to_the_top():
            page.evaluate("() => { (document.querySelector('#scroller') ?? document.documentElement).scrollTop = 0 }")
            self.until_idle(page)

        def rename():
            page.mouse.click(x + 150, y + 90)
            page.keyboard.type(" and more, as it is typed by hand")
            page.keyboard.press("Enter")

        def remove():
            for _ in range(3):
                page.evaluate("() => document.querySelector('#todos li button:last-child').click()")
                self.frame(page)

        measure("scroll", scroll)
        to_the_top()
        measure("drag", drag)
        to_the_top()
        measure("rename", rename)
        measure("remove", remove)
        measure("20 updates a second", lambda: self.other.evaluate(UPDATES))
        measure("100 more while scrolling", lambda: self.while_scrolling(page, x, y))
        self.assertEqual([line for line in lines[1:] if line[2] > BOUND], [])

    def while_scrolling(self, page, x, y):
        self.other.evaluate(f"() => {{ window.updates = ({UPDATES})() }}")
        page.mouse.move(x + 100, y + 100)
        for n in range(80):
            page.mouse.wheel(0, 300 if n < 40 else -300)
            self.frame(page)
        self.other.evaluate("() => window.updates")

    def frame(self, page):
        page.evaluate("() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))")

    def until_idle(self, page):
        """Waits until all inputs have their responses and are drawn."""
        page.evaluate("() => new Promise(resolve => setTimeout(() => requestIdleCallback(resolve), 1000))")

    def tasks(self, trace):
        """Returns the wall and CPU time of each task of the main thread of a page."""
        events = json.loads(trace)["traceEvents"]
        main = {(event["pid"], event["tid"]) for event in events if event.get("args", {}).get("name") == "CrRendererMain"}
        tasks = [event for event in events if event["name"] == "RunTask" and (event["pid"], event["tid"]) in main]
        return [(event.get("dur", 0) / 1000, event.get("tdur", 0) / 1000) for event in tasks]
