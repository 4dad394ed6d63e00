# SPDX-License-Identifier: Apache-2.0

import pathlib
import subprocess
import tempfile

from console import ConsoleDriving
from driving import expect

CLIENT = "Cl1ent-Token-3q2-7wEkP0bEr0QpXv"
OPERATOR = "0perator-Token-9xT_4mZq1nAxWbYd"


class Tokens(ConsoleDriving):
    """The console of a server with tokens of clients and of operators."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="statewire-tokens-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, line in {"clients": f"alice {CLIENT}", "operators": f"olga {OPERATOR}"}.items():
            file = self.folder / name
            file.touch(0o600)
            file.write_text(line + "\n")
        self.options = [*ConsoleDriving.options, *self.files()]
        super().setUp()
        self.expected_complaints += "|status of 401"

    def files(self):
        return ["--token-file", str(self.folder / "clients"), "--admin-token-file", str(self.folder / "operators")]

    def page(self, fragment="", **options):
        page = self.context(ignore_https_errors=True, **options).new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.urls = []
        page.on("request", lambda request: self.urls.append(request.url))
        page.goto(self.server.admin + "/console/" + fragment)
        return page

    def sign_in(self, page, token):
        page.fill("#token", token)
        page.get_by_role("button", name="Sign in").click()

    def is_ready(self, page):
        expect(page.locator("#status")).to_have_attribute("data-state", "ready")
        expect(page.locator("#sign-in")).to_be_hidden()

    def test_form(self):
        page = self.page()
        expect(page.locator("#token")).to_be_focused()
        expect(page.locator("#status")).to_have_text("Sign in")
        self.audit(page, "the form")
        self.picture(page, "sign-in")
        for token in ["wrong-token-0123456789", CLIENT]:
            self.sign_in(page, token)
            expect(page.locator("#sign-in-note")).to_have_text("The server does not accept this token.")
        self.audit(page, "a wrong token")
        self.sign_in(page, "Größe")
        expect(page.locator("#sign-in-note")).to_contain_text("ASCII")
        self.sign_in(page, OPERATOR)
        self.is_ready(page)
        # Another load of the tab, but not another tab, has the token.
        page.reload()
        self.is_ready(page)
        expect(self.page().locator("#sign-in")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.locator("#sign-in")).to_be_visible()
        self.assertEqual(page.evaluate("sessionStorage.length"), 0)

    def test_fragment(self):
        page = self.page("#token=" + OPERATOR)
        self.is_ready(page)
        self.assertNotIn(OPERATOR, page.url)
        self.assertNotIn(OPERATOR, page.content())
        # The fragment is sent to no server.
        self.assertFalse([url for url in self.urls if OPERATOR in url.split("#")[0]])
        # The tokens of the file change: the page asks again.
        (self.folder / "operators").write_text("olga another-token-0123456789\n")
        self.server.process.send_signal(1)
        expect(page.locator("#sign-in-note")).to_have_text("The server does not accept this token.")
        page.goto(self.server.admin + "/console/#token=another-token-0123456789")
        self.is_ready(page)

    def test_screenshots(self):
        for name, options in {"sign-in-dark": {"color_scheme": "dark"}, "sign-in-phone": {"viewport": {"width": 360, "height": 740}}}.items():
            page = self.page(**options)
            expect(page.locator("#token")).to_be_focused()
            self.audit(page, name)
            self.picture(page, name)


class Encrypted(Tokens):
    """The same over TLS."""

    def files(self):
        script = pathlib.Path(__file__).parents[1] / "Scripts/make-certificates"
        subprocess.run([script, self.folder / "tls"], check=True)
        tls = self.folder / "tls"
        # The page of clients stays as it is: these tests use the console only.
        return [*super().files(), "--tls-cert", str(tls / "server.pem"), "--tls-key", str(tls / "server.key")]
