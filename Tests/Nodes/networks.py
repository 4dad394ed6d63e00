# SPDX-License-Identifier: Apache-2.0
"""Network namespaces: one for each node, with three links that can be cut one by one.

| link | network | between |
|---|---|---|
| front | 10.N.1.0/24 | load balancer and nodes |
| database | 10.N.2.0/24 | nodes and PostgreSQL |
| mesh | 10.N.3.0/24 | the nodes |

A link is cut by setting its outer end down: packets disappear, and neither end of a connection is notified. Needs root and `ip`.
"""

import contextlib
import os
import random
import shutil
import subprocess

LINKS = ("front", "database", "mesh")
# The address of this machine in each network.
OUTSIDE = 254


def why_not():
    """Returns the reason why there are no network namespaces here, or None."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if shutil.which("ip") is None:
        return "the program ip is missing (package iproute2)"
    try:
        with contextlib.closing(Networks()) as networks:
            networks.add("try")
    except OSError as error:
        return str(error)
    return None


class Networks:
    """The three networks of a run, and the namespaces in them."""

    def __init__(self):
        self.octet = random.SystemRandom().randrange(128, 250)
        self.names = []
        try:
            for number, link in enumerate(LINKS, 1):
                bridge = self._bridge(link)
                _ip("link", "add", bridge, "type", "bridge")
                _ip("addr", "add", f"10.{self.octet}.{number}.{OUTSIDE}/24", "dev", bridge)
                _ip("link", "set", bridge, "up")
        except OSError:
            self.close()
            raise

    def _bridge(self, link):
        return f"sw{self.octet}{link[:4]}"

    def _outer(self, name, link):
        return f"sw{self.octet}{link[0]}{self.names.index(name) + 1}"

    def add(self, name):
        """Makes the namespace of a node."""
        self.names.append(name)
        number = len(self.names)
        _ip("netns", "add", self.namespace(name))
        _ip("-n", self.namespace(name), "link", "set", "lo", "up")
        for network, link in enumerate(LINKS, 1):
            outer = self._outer(name, link)
            _ip("link", "add", outer, "type", "veth", "peer", "name", link, "netns", self.namespace(name))
            _ip("link", "set", outer, "master", self._bridge(link))
            _ip("link", "set", outer, "up")
            _ip("-n", self.namespace(name), "addr", "add", f"10.{self.octet}.{network}.{number}/24", "dev", link)
            _ip("-n", self.namespace(name), "link", "set", link, "up")

    def namespace(self, name):
        return f"statewire{self.octet}-{name}"

    def address(self, name, link):
        return f"10.{self.octet}.{LINKS.index(link) + 1}.{self.names.index(name) + 1}"

    def outside(self, link):
        """Returns the address of this machine in a network."""
        return f"10.{self.octet}.{LINKS.index(link) + 1}.{OUTSIDE}"

    def cut(self, name, link):
        _ip("link", "set", self._outer(name, link), "down")

    def restore(self, name, link):
        _ip("link", "set", self._outer(name, link), "up")

    def close(self):
        for name in self.names:
            _ip("netns", "del", self.namespace(name), check=False)
        for link in LINKS:
            _ip("link", "del", self._bridge(link), check=False)


def _ip(*words, check=True):
    run = subprocess.run(["ip", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if check and run.returncode:
        raise OSError(f"ip {' '.join(words)}: {run.stderr.strip()}")
