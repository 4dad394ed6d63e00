# SPDX-License-Identifier: Apache-2.0
"""Installs the wheels and the npm tarball, and uses the clients in them."""

import re
import sys
import tarfile
import textwrap

from support import DIST, MACHINE, PROGRAM, PackageTest, free_port, package, run, serving

CLIENT = """
    import asyncio
    import sys
    from statewire import TODO, Client

    async def main():
        async with Client(sys.argv[1]) as client:
            todo = await client.open(TODO)
            await todo.send({"type": "stateRequested"}, settle=True)
            print(todo.state["type"])

    asyncio.run(main())
"""

SCRIPT = """
    import { connect } from "statewire/node";

    const client = connect(process.argv[2]);
    const todo = client.store("todo");
    await todo.send({ type: "stateRequested" });
    for await (const state of todo) {
      if (state.type === "content") break;
    }
    console.log("content");
    await client.close();
"""


class Wheels(PackageTest):
    def environment(self, wheel):
        run(sys.executable, "-m", "venv", self.folder / "venv")
        run(self.folder / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", wheel)
        return self.folder / "venv/bin"

    def test_the_wheel_with_the_program_serves_its_own_client(self):
        programs = self.environment(package(f"*manylinux*{MACHINE}.whl"))
        self.assertEqual((programs / "statewire").read_bytes(), PROGRAM.read_bytes())
        script = self.folder / "client.py"
        script.write_text(textwrap.dedent(CLIENT))
        port = free_port()
        with serving([programs / "statewire", "serve", "--tcp", f"127.0.0.1:{port}", "--data-dir", self.folder / "data"]):
            self.assertEqual(run(programs / "python", script, f"tcp://127.0.0.1:{port}"), "content\n")

    def test_pip_prefers_the_wheel_with_the_program(self):
        programs = self.environment(package("*any.whl"))
        self.assertFalse((programs / "statewire").exists())
        self.assertTrue((programs / "statewire-tui").exists())
        run(programs / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index",
            "--force-reinstall", "--find-links", DIST, "statewire")
        self.assertTrue((programs / "statewire").exists())


class NPM(PackageTest):
    def test_a_script_uses_the_tarball(self):
        with tarfile.open(package("statewire-*.tgz")) as archive:
            for member in archive.getmembers():
                self.assertTrue(member.name.startswith("package/"), member.name)
                member.name = re.sub("^package/", "node_modules/statewire/", member.name)
                archive.extract(member, self.folder)
        script = self.folder / "client.mjs"
        script.write_text(textwrap.dedent(SCRIPT))
        port = free_port()
        with serving([PROGRAM, "serve", "--tcp", f"127.0.0.1:{port}", "--data-dir", self.folder / "data"]):
            self.assertEqual(run("node", script, f"tcp://127.0.0.1:{port}"), "content\n")
