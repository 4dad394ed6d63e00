# SPDX-License-Identifier: Apache-2.0
"""Carries out the interactions of Tests/Scripts/unreliable-network on the page in headless Chromium: URL SCALE."""

import json
import shutil
import sys

from playwright.sync_api import Error, sync_playwright

# Runs before the scripts of the page: divides its timers, and records its error messages and connections.
PREPARE = """scale => {
  for (const name of ["setTimeout", "setInterval"]) {
    const whole = window[name];
    window[name] = (work, time, ...rest) => whole(work, time / scale, ...rest);
  }
  window.words = [];
  window.connections = 0;
  let last = "connecting";
  // Chromium reports this if a ResizeObserver continues in the next frame; the page does not show it.
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
    """Carries out interactions with mouse and keyboard."""

    def __init__(self, page):
        self.page = page
        # The number of refused texts that were given back to the field.
        self.given_back = 0

    def row(self, title):
        """Returns the row with a title by its current index, because the title may change later; or None."""
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
            # Updates arrive while a title is typed.
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

    def respond(self, interaction):
        if interaction["act"] == "look":
            return {"shown": self.page.evaluate(SHOWN)}
        if interaction["act"] == "end":
            state = self.page.evaluate("""() => ({
              words, reconnects: connections - 1,
              isLive: document.querySelector("#status").dataset.state === "connected" })""")
            # Two parts of the page show unconfirmed changes: the rows and the status.
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
                response = hands.respond(json.loads(line))
            except Error as error:
                response = {"failed": str(error)}
            print(json.dumps(response), flush=True)
        browser.close()


main()
