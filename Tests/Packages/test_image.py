# SPDX-License-Identifier: Apache-2.0
"""Unpacks the image as container engines do, and runs its command without the files of this machine."""

import json
import os
import tarfile
import unittest

from support import PackageTest, free_port, inside, package, run, serving


@unittest.skipUnless(os.geteuid() == 0, "a chroot requires root")
class Image(PackageTest):
    def setUp(self):
        super().setUp()
        with tarfile.open(package("*.oci.tar")) as archive:
            archive.extractall(self.folder / "image")
        self.index = json.loads((self.folder / "image/index.json").read_text())
        tag = self.index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"]
        run("umoci", "unpack", "--image", f"{self.folder}/image:{tag}", self.folder / "bundle")
        self.root = self.folder / "bundle/rootfs"

    def blob(self, descriptor):
        return json.loads((self.folder / "image/blobs" / descriptor["digest"].replace(":", "/")).read_text())

    def test_its_command_serves_as_an_unprivileged_user(self):
        manifest = self.blob(self.index["manifests"][0])
        config = self.blob(manifest["config"])["config"]
        self.assertNotIn(config["User"].split(":")[0], ("", "0", "root"))
        runtime = json.loads((self.folder / "bundle/config.json").read_text())["process"]
        self.assertEqual(runtime["args"], config["Entrypoint"] + config["Cmd"])
        self.assertEqual(f"{runtime['user']['uid']}:{runtime['user']['gid']}", config["User"])

        web, admin = f"0.0.0.0:{free_port()}", f"127.0.0.1:{free_port()}"
        here = {"0.0.0.0:7280": web, "127.0.0.1:7229": admin}
        enter = inside(self.root, config["User"], *config["Env"])
        command = [here.get(word, word) for word in runtime["args"]]
        check = [here.get(word, word) for word in config["Healthcheck"]["Test"][1:]]
        with self.assertRaisesRegex(AssertionError, "no response"):
            run(*enter, *check)
        with serving([*enter, *command]):
            self.assertEqual(run(*enter, *check), "alive\n")
            port = web.split(":")[1]
            page = run("curl", "--silent", "--fail", "--noproxy", "*", f"http://127.0.0.1:{port}/")
            self.assertIn("<title>", page)
        self.assertTrue(list((self.root / "var/lib/statewire").iterdir()))

    def test_the_program_finds_libpq_in_it(self):
        # Nothing listens there; without libpq the reason would be another.
        with self.assertRaisesRegex(AssertionError, "(?i)connection refused|is the server running"):
            run(*inside(self.root, "65532:65532"), "/usr/bin/statewire", "node", "list", "--database",
                f"postgres://unknown@127.0.0.1:{free_port()}/none")
