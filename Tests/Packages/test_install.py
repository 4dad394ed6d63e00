# SPDX-License-Identifier: Apache-2.0
"""`make install` and `make uninstall`, and the manual pages and completions that they install."""

import os
import shutil
import unittest

from support import PROGRAM, ROOT, PackageTest, run

QUIET = {**os.environ, "MAKEFLAGS": ""}


class Install(PackageTest):
    def make(self, target):
        run("make", "-C", ROOT, target, f"PROGRAM={PROGRAM}", "PREFIX=/opt/tools", f"DESTDIR={self.folder}", env=QUIET)

    def test_uninstall_removes_all_files(self):
        self.make("install")
        root = self.folder / "opt/tools"
        self.assertEqual((root / "bin/statewire").read_bytes(), PROGRAM.read_bytes())
        (root / "bin/other").touch()
        self.make("uninstall")
        left = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
        self.assertEqual(left, ["bin/other"])

    def test_each_command_has_a_manual_page_and_completions(self):
        self.make("install")
        share = self.folder / "opt/tools/share"
        pages = {path.name for path in (share / "man/man1").iterdir()}
        self.assertLess({"statewire.1.gz", "statewire-serve.1.gz", "statewire-journal-list.1.gz"}, pages)
        if shutil.which("man"):
            text = run("man", "--warnings=w", "-l", share / "man/man1/statewire-serve.1.gz",
                       env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C.UTF-8", "MANROFFOPT": ""})
            self.assertIn("--data-dir", text)
            self.assertNotRegex(text, "(?m)^(troff|mdoc|<standard input>)")
        completions = share / "bash-completion/completions/statewire"
        words = run("bash", "-c", f"""source {completions} && COMP_WORDS=(statewire ser) COMP_CWORD=1 COMP_LINE='statewire ser'
            COMP_POINT=13 && _statewire statewire ser statewire && printf '%s\\n' "${{COMPREPLY[@]}}" """)
        self.assertEqual(words, "serve\n")
        for shell, file in (("zsh", "zsh/site-functions/_statewire"), ("fish", "fish/vendor_completions.d/statewire.fish")):
            self.assertIn("--data-dir" if shell == "zsh" else "data-dir", (share / file).read_text())
            if shutil.which(shell):
                run(shell, "-n", share / file)


if __name__ == "__main__":
    unittest.main()
