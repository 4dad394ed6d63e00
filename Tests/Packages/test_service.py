# SPDX-License-Identifier: Apache-2.0
"""The server under a service manager: notices, the watchdog, and sockets that the manager has opened."""

import os
import signal
import socket
import subprocess

from support import PROGRAM, PackageTest, run


class Service(PackageTest):
    def setUp(self):
        super().setUp()
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(self.folder / "notify"))
        self.manager.settimeout(60)
        self.addCleanup(self.manager.close)

    def start(self, *options, sockets=(), **variables):
        """Starts the server as systemd does: the sockets are the descriptors from 3."""
        def enter():
            # First out of the way, because a number may be in use by another socket.
            moved = [os.dup2(os.dup(it.fileno()), 100 + index) for index, it in enumerate(sockets)]
            for index, descriptor in enumerate(moved):
                os.dup2(descriptor, 3 + index)
                os.set_inheritable(3 + index, True)
            os.closerange(3 + len(sockets), 200)

        words = ["sh", "-c", 'export LISTEN_PID=$$ && exec "$@"', "sh", PROGRAM, "serve", *options]
        environment = {**os.environ, "NOTIFY_SOCKET": str(self.folder / "notify"),
                       "LISTEN_FDS": str(len(sockets)), **variables}
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, env=environment, preexec_fn=enter, close_fds=False)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def notice(self):
        return self.manager.recv(4096).decode()

    def test_ready_reloading_alive_and_stopping(self):
        server = self.start("--tcp", "127.0.0.1:0", "--data-dir", self.folder / "data", WATCHDOG_USEC="400000")
        self.assertEqual(self.notice(), "READY=1")
        for _ in range(3):
            self.assertEqual(self.notice(), "WATCHDOG=1")
        # Without tokens there is nothing to reload, and the server continues.
        server.send_signal(signal.SIGHUP)
        others = [text for text in (self.notice() for _ in range(8)) if text != "WATCHDOG=1"]
        self.assertEqual([text.split("\n")[0] for text in others[:2]], ["RELOADING=1", "READY=1"])
        server.terminate()
        while (text := self.notice()) == "WATCHDOG=1":
            pass
        self.assertEqual(text, "STOPPING=1")
        self.assertEqual(server.wait(60), 0)

    def test_a_server_that_is_stopped_while_it_starts_is_never_ready(self):
        # The store program never describes itself, so the server starts until it gets SIGTERM.
        program = f"sh -c 'echo >{self.folder / 'started'}; sleep 600'"
        os.mkfifo(self.folder / "started")
        server = self.start("--tcp", "127.0.0.1:0", "--store", f"a={program}")
        (self.folder / "started").read_text()
        server.terminate()
        self.assertEqual(self.notice(), "STOPPING=1")
        self.assertEqual(server.wait(60), 0)
        self.manager.setblocking(False)
        with self.assertRaises(BlockingIOError):
            self.notice()

    def test_a_stopped_process_is_not_alive(self):
        server = self.start("--tcp", "127.0.0.1:0", WATCHDOG_USEC="200000")
        self.assertEqual(self.notice(), "READY=1")
        self.assertEqual(self.notice(), "WATCHDOG=1")
        server.send_signal(signal.SIGSTOP)
        self.manager.settimeout(2)
        with self.assertRaises(TimeoutError):
            for _ in range(1000):
                self.notice()
        server.send_signal(signal.SIGCONT)

    def test_sockets_of_the_manager(self):
        web = socket.create_server(("127.0.0.1", 0))
        plain = socket.create_server(("127.0.0.1", 0))
        path = self.folder / "service.socket"
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(str(path))
        unix.listen()
        for it in (web, plain, unix):
            self.addCleanup(it.close)
        # This client connects before the server starts, as the one that causes the start.
        early = socket.create_connection(plain.getsockname())
        self.addCleanup(early.close)
        # An option with the same address is the same listener.
        same = "127.0.0.1:%d" % web.getsockname()[1]
        server = self.start("--web", same, sockets=(web, plain, unix), LISTEN_FDNAMES="web:tcp:statewire.socket")
        self.assertEqual(self.notice(), "READY=1")
        page = run("curl", "--silent", "--fail", "--noproxy", "*", "http://127.0.0.1:%d/" % web.getsockname()[1])
        self.assertIn("<title>", page)
        local = socket.socket(socket.AF_UNIX)
        self.addCleanup(local.close)
        local.connect(str(path))
        for client in (early, local):
            client.settimeout(60)
            client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            self.assertIn(b'"id":1,"result"', client.recv(4096))
        server.terminate()
        self.assertEqual(server.wait(60), 0)
        # The socket belongs to the manager, which starts the server again with it.
        self.assertTrue(path.exists())

    def test_an_unnamed_socket_is_an_error(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        server = self.start(sockets=(listener,))
        self.assertIn("FileDescriptorName", server.stderr.read())
        self.assertEqual(server.wait(60), 1)

    def test_sockets_beyond_loopback_need_tokens(self):
        listener = socket.create_server(("0.0.0.0", 0))
        self.addCleanup(listener.close)
        server = self.start(sockets=(listener,), LISTEN_FDNAMES="tcp")
        self.assertIn("is reachable from other machines without a token", server.stderr.read())
        self.assertEqual(server.wait(60), 1)
