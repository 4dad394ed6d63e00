#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests todo.lua in Neovim: the language client of an editor drives a store."""

import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class NeovimTests(unittest.TestCase):
    """The language client of an editor, from `initialize` to `exit`."""

    DRIVER = """
        local function wait(condition) assert(vim.wait(60000, condition, 10), 'too late') end
        local function shown() return vim.api.nvim_buf_get_lines(0, 0, -1, true) end
        vim.cmd('luafile ' .. vim.env.EXAMPLE)
        vim.cmd('Todo milk')
        vim.cmd('Todo two words')
        wait(function() return #shown() == 2 and shown()[1] ~= '' end)
        vim.fn.writefile(shown(), vim.env.SHOWN)
        vim.lsp.stop_client((vim.lsp.get_clients or vim.lsp.get_active_clients)())
        wait(function() return vim.fn.getfsize(vim.env.STATUS) > 0 end)
    """

    def test_drives_a_store_and_exits_cleanly(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "driver.lua").write_text(self.DRIVER)
            service = folder / "service"
            service.write_text('#!/bin/sh\n"$PROGRAM" "$@"\necho $? >"$STATUS"\n')
            service.chmod(0o700)
            command = f"lua local fine, why = pcall(dofile, '{folder}/driver.lua') if not fine then print(why) end"
            editor = subprocess.run(
                ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", command, "-c", "qa!"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240,
                env={
                    **os.environ, "EXAMPLE": str(HERE / "todo.lua"), "STATEWIRE": str(service),
                    "PROGRAM": os.environ["STATEWIRE"], "XDG_STATE_HOME": name,
                    "SHOWN": str(folder / "shown"), "STATUS": str(folder / "status"),
                })
            self.assertEqual(editor.stdout, b"")
            self.assertEqual((folder / "shown").read_text(), "[ ] milk\n[ ] two words\n")
            self.assertEqual((folder / "status").read_text(), "0\n")


if __name__ == "__main__":
    unittest.main()
