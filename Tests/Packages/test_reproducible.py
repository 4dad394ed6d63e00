# SPDX-License-Identifier: Apache-2.0

import tarfile
import unittest

from support import DIST, FOLDER, ROOT, package


class Reproducible(unittest.TestCase):
    def test_a_second_build_has_the_same_bytes(self):
        names = sorted(path.name for path in DIST.iterdir())
        self.assertEqual(len(names), 6, names)
        self.assertEqual(names, sorted(path.name for path in (FOLDER / "again").iterdir()))
        for name in names:
            with self.subTest(name):
                self.assertEqual((DIST / name).read_bytes(), (FOLDER / "again" / name).read_bytes())

    def test_the_tarball_belongs_to_root_and_names_no_folder_of_this_machine(self):
        with tarfile.open(package("statewire-*.tar.gz")) as archive:
            members = archive.getmembers()
            self.assertEqual({(member.uid, member.gid, member.uname) for member in members}, {(0, 0, "root")})
            self.assertEqual(len({member.mtime for member in members}), 1)
            self.assertEqual([member.name for member in members], sorted(member.name for member in members))
            for member in members:
                if member.isfile():
                    self.assertNotIn(str(ROOT).encode(), archive.extractfile(member).read(), member.name)
