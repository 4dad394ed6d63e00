# SPDX-License-Identifier: Apache-2.0
"""Installs the package for Debian in a system of its own, and runs the unit's command there."""

import os
import pathlib
import re
import shlex
import unittest

from support import FOLDER, PackageTest, free_port, inside, package, run, serving

# Commands of a system that is not running.
QUIET = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


def everything(system):
    """The paths and kinds of all files, except those that every installation changes."""
    changing = re.compile(r"^/(var/(log|cache|lib/dpkg)|proc|sys|dev|etc/(passwd|group|shadow|gshadow|sub[ug]id)-)")
    found = run("find", system, "-xdev", "-printf", "/%P %y %m %U:%G\n").splitlines()
    return sorted(line for line in found if not changing.match(line) and not line.startswith("/tmp"))


@unittest.skipUnless(os.geteuid() == 0, "a chroot requires root")
class DebianPackage(PackageTest):
    @classmethod
    def setUpClass(cls):
        cls.system = FOLDER / "system"
        release = pathlib.Path("/etc/os-release").read_text()
        suite = re.search(r"VERSION_CODENAME=(\w+)", release)[1]
        # From where this machine gets its packages.
        sources = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages")
        mirror = re.search(rf"^(\S+) {suite}$", sources, re.MULTILINE)
        run("debootstrap", "--variant=minbase", suite, cls.system, *([mirror[1]] if mirror else []), env=QUIET)

    def inside(self, *command):
        return run(*inside(self.system, "0:0", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"), *command)

    def unit(self):
        """The settings of the unit."""
        text = (self.system / "usr/lib/systemd/system/statewire.service").read_text()
        return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))

    def command(self, address):
        """The unit's command as its user, with other addresses."""
        unit = self.unit()
        start = unit["ExecStart"] + f" --web {address} --admin 127.0.0.1:{free_port()}"
        user = self.inside("id", "-u", unit["User"]).strip()
        group = self.inside("id", "-g", unit["Group"]).strip()
        return [*inside(self.system, f"{user}:{group}"), *shlex.split(start)]

    def test_install_serve_remove_and_purge(self):
        before = everything(self.system)
        accounts = [(self.system / "etc" / name).read_text() for name in ("passwd", "group")]
        run("cp", package("*.deb"), self.system / "tmp/statewire.deb")
        self.inside("dpkg", "--install", "/tmp/statewire.deb")

        port = free_port()
        with serving(self.command(f"127.0.0.1:{port}")):
            page = run("curl", "--silent", "--fail", "--noproxy", "*", f"http://127.0.0.1:{port}/")
            self.assertIn("<title>", page)
            mode = run("stat", "--format=%a", self.system / "var/lib/statewire")
            self.assertEqual(mode.strip(), "700")
        data = list((self.system / "var/lib/statewire").iterdir())
        self.assertTrue(data, "the server has written no data")
        user = self.inside("id", "-u", "statewire").strip()
        self.assertNotEqual(user, "0")
        self.assertEqual({str(path.stat().st_uid) for path in data}, {user})

        self.assertEqual(self.inside("dpkg", "--verify", "statewire"), "")
        self.assertTrue(self.inside("statewire", "--version").startswith("0."))
        self.inside("statewire", "config", "check", "--config", "/etc/statewire/statewire.yaml")
        changed = "data-dir: /var/lib/statewire\n"
        (self.system / "etc/statewire/statewire.yaml").write_text(changed)
        self.inside("dpkg", "--install", "/tmp/statewire.deb")
        # A changed file of the configuration stays, and the data too.
        self.assertEqual((self.system / "etc/statewire/statewire.yaml").read_text(), changed)
        self.inside("dpkg", "--remove", "statewire")
        self.assertTrue((self.system / "etc/statewire/statewire.yaml").exists())
        self.assertTrue(list((self.system / "var/lib/statewire").iterdir()))
        self.inside("dpkg", "--purge", "statewire")
        self.assertEqual(set(everything(self.system)) ^ set(before), set())
        self.assertEqual([(self.system / "etc" / name).read_text() for name in ("passwd", "group")], accounts)

    def test_the_package_is_complete(self):
        content = run("dpkg-deb", "--contents", package("*.deb"))
        for name in ("/usr/bin/statewire", "/usr/share/man/man1/statewire-serve.1.gz",
                     "/usr/share/bash-completion/completions/statewire",
                     "/usr/share/zsh/vendor-completions/_statewire",
                     "/usr/share/fish/vendor_completions.d/statewire.fish",
                     "/usr/share/doc/statewire/copyright", "/usr/share/doc/statewire/NOTICES.gz",
                     "/usr/share/doc/statewire/grafana.json",
                     "/usr/lib/systemd/system/statewire.service", "/usr/lib/systemd/system/statewire.socket"):
            self.assertIn(f".{name}\n", content)
        self.assertEqual(set(re.findall(r"^\S+ (\S+) ", content, re.MULTILINE)), {"root/root"})
