# SPDX-License-Identifier: Apache-2.0
"""The hands of Tests/Scripts/unreliable-network on the page, in headless Chromium: URL SCALE."""

import json
import shutil
import sys

from playwright.sync_api import Error, sync_playwright

# Before the page's own scripts: its timers are divided, and what it says and how it is connected is noted.
PREPARE = """scale => {
  for (const name of ["setTimeout", "setInterval"]) {
    const whole = window[name];
    window[name] = (work, time, ...rest) => whole(work, time / scale, ...rest);
  }
  window.words = [];
  window.connections = 0;
  let last = "connecting";
  // Chromium says that of an observer which goes on in the next frame; nobody is shown it.
  const isHarmless = (message) => message.startsWith("ResizeObserver loop");
  addEventListener("error", ({ message }) => isHarmless(message) || words.push(message));
  addEventListener("unhandledrejection", ({ reason }) => words.push(String(reason)));
  document.addEventListener("DOMContentLoaded", () => {
    const note = (selector, options, tell) => {
      const node = document.querySelector(selector);
      new MutationObserver(() => tell(node)).observe(node, options);
    };
    const text = { childList: true, characterData: true, subtree: true };
    note("#problem", text, ({ textContent }) => textContent && words.push(textContent));
    note("#status", { attributeFilter: ["data-state"] }, ({ dataset }) => {
      if (dataset.state !== last) connections += dataset.state === "connected";
      last = dataset.state;
    });
  });
}"""
SHOWN = """() => [...document.querySelectorAll("#todos > li")].map(row => [
  row.querySelector("button.title")?.textContent ?? row.querySelector("input.title").defaultValue,
  row.querySelector("input[type=checkbox]").checked])"""


class Hands:
    """Does with mouse and keyboard what a person does."""

    def __init__(self, page):
        self.page = page
        # How often the field had a text that was refused, given back.
        self.given_back = 0

    def row(self, title):
        """The row with a title, now; it is found by its place, since the title may change meanwhile."""
        titles = [shown for shown, _ in self.page.evaluate(SHOWN)]
        return self.page.locator("#todos > li").nth(titles.index(title)) if title in titles else None

    def add(self, title, twice):
        self.page.fill("#add-title", title)
        self.page.press("#add-title", "Enter")
        if twice:
            self.page.press("#add-title", "Enter")

    def rename(self, row, title, by, slowly):
        page = self.page
        row.locator(".title").click()
        if slowly:
            # While a title is typed, updates come.
            page.keyboard.press("End")
            for letter in " half":
                page.keyboard.type(letter)
                page.wait_for_timeout(50)
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(title)
        if by == "enter":
            page.keyboard.press("Enter")
        else:
            page.locator("#count").click()

    def move(self, row, by):
        row.locator("button").first.press("ArrowUp" if by < 0 else "ArrowDown")

    def act(self, interaction):
        act, twice = interaction["act"], interaction.get("twice", False)
        if act in ("add", "refused"):
            self.add(interaction["title"], twice)
            return {}
        row = self.row(interaction["row"])
        if row is None:
            return {"missing": True}
        if act == "rename":
            self.rename(row, interaction["title"], interaction["by"], interaction["slowly"])
        elif act == "tick":
            row.get_by_role("checkbox").click(click_count=2 if twice else 1)
        elif act == "remove":
            row.locator("button").last.click(click_count=2 if twice else 1)
        elif act == "move":
            self.move(row, interaction["to"] - interaction["from"])
        return {}

    def answer(self, interaction):
        if interaction["act"] == "look":
            return {"shown": self.page.evaluate(SHOWN)}
        if interaction["act"] == "end":
            state = self.page.evaluate("""() => ({
              words, resumes: connections - 1,
              isLive: document.querySelector("#status").dataset.state === "connected" })""")
            # Two parts of the page say what is not confirmed: the rows and the status.
            pending = self.page.locator(".sending").count() + (not state.pop("isLive"))
            return {**state, "pending": pending, "shown": self.page.evaluate(SHOWN)}
        return self.act(interaction)


def main():
    url, scale = sys.argv[1], float(sys.argv[2])
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(60_000)
        page.add_init_script(f"({PREPARE})({scale})")
        page.goto(url)
        page.wait_for_selector("#status[data-state=connected]")
        page.wait_for_selector("#todo[aria-busy=false]")
        hands = Hands(page)
        print(json.dumps({"ready": True}), flush=True)
        for line in sys.stdin:
            try:
                answer = hands.answer(json.loads(line))
            except Error as error:
                answer = {"failed": str(error)}
            print(json.dumps(answer), flush=True)
        browser.close()


main()
