# SPDX-License-Identifier: Apache-2.0
"""The servers of a chaos run: nodes, their database, their networks and the load balancer."""

import os
import re
import subprocess
import time

import faults
import networks
from balancer import Balancer, HAProxy
from fault_balancer import FAULTS, FaultBalancer
from nodes import Broken, Node, Postgres

LOOPBACK = "127.0.0.1"


class Cluster:
    """One node with a data folder, or several nodes with PostgreSQL and a load balancer."""

    def __init__(self, options, folder):
        self.stop_seconds = options.stop_seconds
        self.nodes, self.balancers = [], []
        self.postgres = self.networks = None
        try:
            self._start(options, folder)
        except BaseException:
            self.end()
            raise

    def _start(self, options, folder):
        self.program = os.path.abspath(options.program)
        self.data = os.path.join(folder, "data")
        if options.networks == "yes" or (options.networks == "auto" and options.nodes > 1):
            reason = networks.why_not()
            if reason is None:
                self.networks = networks.Networks()
            elif options.networks == "yes":
                raise Broken(f"no network namespaces: {reason}")
            else:
                print(f"without partitions: {reason}", flush=True)
        if options.nodes > 1 or options.postgres:
            self.postgres = Postgres(folder)
            self.address = self.postgres.start()
            url = self._database_address(self.address)
        for number in range(1, options.nodes + 1):
            name = f"node-{number}"
            storage = ["--data-dir", self.data]
            host, advertised, prefix = self._place(name)
            command = [self.program, "serve", "--session-time", "3600", "--history-bytes", "16384"]
            node = Node(name, command, folder, host, prefix)
            if self.postgres:
                mesh = f"{advertised}:{node.advertised}"
                storage = ["--database", url, "--node", name, "--tcp", mesh, "--advertise", mesh]
            node.command += [*storage, *(["--insecure"] if self.networks else []), *options.serve_option]
            self.nodes.append(node)
            node.start()
        self._balance(options, folder)

    def _database_address(self, address):
        """Returns the address of PostgreSQL for the nodes: in namespaces, that of a forwarder."""
        if self.networks is None:
            return address
        host, port = re.search(r"@([^:/]+):(\d+)", address).groups()
        outside = self.networks.outside("database")
        forwarder = Balancer([(host, int(port))], outside)
        self.balancers.append(forwarder)
        return address.replace(f"@{host}:{port}", f"@{outside}:{forwarder.port}")

    def drain(self, node):
        """Runs `statewire node drain` for a node. One that has just continued after a stop needs a moment to join again."""
        command = [self.program, "node", "drain", node.name, "--database", self.address]
        deadline = time.monotonic() + 10
        while True:
            run = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
            if not run.returncode:
                return
            if "there is no node" not in run.stderr or time.monotonic() > deadline:
                raise Broken(f"node drain: {run.stderr.strip()}")
            time.sleep(0.2)

    def _place(self, name):
        """Returns the hosts of a node for clients and for other nodes, and the command that enters its place."""
        if self.networks is None:
            return LOOPBACK, LOOPBACK, []
        self.networks.add(name)
        return (self.networks.address(name, "front"), self.networks.address(name, "mesh"),
                ["ip", "netns", "exec", self.networks.namespace(name)])

    def _balance(self, options, folder):
        """Sets the addresses for clients: of the nodes, or of the load balancer."""
        lists = [[(node.host, node.tcp) for node in self.nodes], [(node.host, node.web) for node in self.nodes]]
        if options.plant in FAULTS:
            balancer = FaultBalancer(lists[0], LOOPBACK, FAULTS[options.plant], options.seed)
            self.balancers.append(balancer)
            self.tcp, self.web = [(LOOPBACK, balancer.port)], lists[1]
            return
        if (options.balancer or ("none" if len(self.nodes) == 1 else "python")) == "none":
            self.tcp, self.web = lists
            return
        if options.balancer == "haproxy":
            balancer = HAProxy(folder, lists)
            self.balancers.append(balancer)
            ports = balancer.ports
        else:
            balancers = [Balancer(targets, LOOPBACK) for targets in lists]
            self.balancers += balancers
            ports = [balancer.port for balancer in balancers]
        self.tcp, self.web = ([(LOOPBACK, port)] for port in ports)

    def possible_faults(self):
        """Returns the names of the faults that this cluster can have."""
        return {name for name, fault in faults.FAULTS.items()
                if not (fault.is_planted and self.postgres) and (len(self.nodes) > 1 or not fault.needs_nodes)
                and (self.postgres or not fault.needs_postgres) and (self.networks or not fault.needs_networks)
                and ((self.postgres and self.postgres.disk) or not fault.needs_disk)}

    def end(self):
        for balancer in self.balancers:
            balancer.end()
        for node in self.nodes:
            node.kill()
        if self.postgres:
            self.postgres.end()
        if self.networks:
            self.networks.close()
