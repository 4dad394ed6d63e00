# SPDX-License-Identifier: Apache-2.0
"""Tests of the program of `make release`: parts that it must have, and parts that it must not have."""

import http.server
import json
import re
import subprocess
import threading
import unittest

from support import PROGRAM, run

# The time of day at 11:01:48 UTC in summer and in winter.
ZONES = {
    "UTC": ("11:01:48 AM", "11:01:48 AM"),
    "Europe/Berlin": ("1:01:48 PM", "12:01:48 PM"),
    "America/New_York": ("7:01:48 AM", "6:01:48 AM"),
    "US/Eastern": ("7:01:48 AM", "6:01:48 AM"),
    "Asia/Kolkata": ("4:31:48 PM", "4:31:48 PM"),
    "Australia/Lord_Howe": ("9:31:48 PM", "10:01:48 PM"),
}


class Balance(http.server.BaseHTTPRequestHandler):
    """A balance service whose path is the date of its response."""

    def do_GET(self):
        body = json.dumps({"balance": "1.00", "date": f"{self.path[1:]} 11:01:48 +0000"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Program(unittest.TestCase):
    def test_time_zones_are_in_the_remaining_data_of_icu(self):
        service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Balance)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        self.addCleanup(service.server_close)
        self.addCleanup(service.shutdown)
        requests = [("store/subscribe", {"store": "balance"}),
                    ("store/send", {"store": "balance", "settle": True, "input": {"type": "refreshButtonWasTapped"}})]
        lines = "".join(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
                        for number, (method, params) in enumerate(requests))
        for zone, expected in ZONES.items():
            for day, time in zip(("2021-06-02", "2021-01-02"), expected):
                with self.subTest(zone, day=day):
                    url = f"http://127.0.0.1:{service.server_address[1]}/{day}"
                    ended = subprocess.run(
                        [PROGRAM, "serve", "--test", "--time-zone", zone, "--balance-url", url], input=lines,
                        stdout=subprocess.PIPE, text=True, timeout=120, check=True)
                    self.assertEqual(re.findall(r"Last update: [^\"]* (\S+ [AP]M)\.\"", ended.stdout)[-1:], [time],
                                     ended.stdout)

    def test_an_unknown_time_zone_is_an_error(self):
        ended = subprocess.run([PROGRAM, "serve", "--time-zone", "Europe/Nowhere"], stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(ended.returncode, 64)
        self.assertIn("Europe/Nowhere", ended.stderr)

    def test_the_version_names_protocol_commit_and_toolchain(self):
        lines = run(PROGRAM, "--version").splitlines()
        for line, form in zip(lines, (r"\d+\.\d+\.\d+", r"protocol \d+", r"commit [0-9a-f]{40}(-dirty)?", r"Swift [\d.]+"),
                              strict=True):
            self.assertRegex(line, f"^{form}$")

    def test_the_program_is_small(self):
        # 43 MB; with exports, unwind tables and all data of ICU it has 87.
        self.assertLess(PROGRAM.stat().st_size, 46_000_000)
