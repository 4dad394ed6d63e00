# SPDX-License-Identifier: Apache-2.0
"""The faults of the chaos run. Each one is a function that breaks something, waits, and restores it.

`postgres`, `full` and `partition-database` need PostgreSQL, the partitions network namespaces. `full` needs a disk of
PostgreSQL alone.
"""

import os
import shutil
import signal
import time
from typing import Any, NamedTuple


def kill(cluster, random):
    """Kills a node by SIGKILL, and starts it again after up to two seconds."""
    node = random.choice(cluster.nodes)
    node.kill()
    yield node.name
    time.sleep(random.uniform(0, 2))
    node.start()


def stop(cluster, random):
    """Stops a node by SIGSTOP and lets it continue by SIGCONT, so that it acts on what it knew before."""
    node = random.choice(cluster.nodes)
    node.signal(signal.SIGSTOP)
    yield node.name
    time.sleep(cluster.stop_seconds)
    node.signal(signal.SIGCONT)


def restart(cluster, random):
    """Ends a node by SIGTERM and starts it again immediately."""
    node = random.choice(cluster.nodes)
    yield node.name
    _restart(node)


def rolling(cluster, random):
    """Restarts all nodes, one after the other, as an upgrade does."""
    yield "all"
    for node in random.sample(cluster.nodes, len(cluster.nodes)):
        _restart(node)
        time.sleep(1)


def drain(cluster, random):
    """Lets a node hand its sessions over by `statewire node drain`, and starts it again."""
    node = random.choice(cluster.nodes)
    yield node.name
    cluster.drain(node)
    node.wait_for_end()
    node.start()


def postgres(cluster, random):
    """Kills all processes of PostgreSQL, and starts it again after up to two seconds."""
    cluster.postgres.kill()
    yield "postgres"
    time.sleep(random.uniform(0, 2))
    cluster.postgres.start()


def full(cluster, random):
    """Fills the disk of PostgreSQL to the last byte; every other time the log of transactions needs a new segment.

    Without space for a table, a transaction fails. Without space for its log, PostgreSQL ends.
    """
    filling = cluster.postgres.disk.fill(random.uniform(3, 8))
    next(filling)
    yield "postgres"
    if random.random() < 0.5:
        cluster.postgres.switch_log()
    for _ in filling:
        pass
    cluster.postgres.ensure()


def partition_database(cluster, random):
    """Cuts a node off from PostgreSQL."""
    yield from _partition(cluster, random, "database")


def partition_nodes(cluster, random):
    """Cuts a node off from the other nodes."""
    yield from _partition(cluster, random, "mesh")


def partition_clients(cluster, random):
    """Cuts a node off from its clients and the load balancer."""
    yield from _partition(cluster, random, "front")


def rewind(cluster, random):
    """Kills the node and gives it the data folder of three seconds before: commits are lost.

    No server can survive that. It shows that the checker finds in a real history what its tests plant.
    """
    node, data = cluster.nodes[0], cluster.data
    node.kill()
    yield node.name
    shutil.copytree(data, data + ".before")
    node.start()
    time.sleep(3)
    node.kill()
    shutil.rmtree(data)
    os.rename(data + ".before", data)
    node.start()


def _partition(cluster, random, link):
    node = random.choice(cluster.nodes)
    cluster.networks.cut(node.name, link)
    yield node.name
    time.sleep(random.uniform(3, 12))
    cluster.networks.restore(node.name, link)


def _restart(node):
    node.end()
    node.start()


class Fault(NamedTuple):
    """A fault, its weight in a random choice, and what it needs."""

    cause: Any
    weight: int
    needs_nodes: bool = False
    needs_postgres: bool = False
    needs_networks: bool = False
    needs_disk: bool = False
    # Planted: no server survives it. It happens only if it is asked for.
    is_planted: bool = False


FAULTS = {
    "kill": Fault(kill, 6),
    "stop": Fault(stop, 2),
    "restart": Fault(restart, 3),
    "rolling": Fault(rolling, 2, needs_nodes=True),
    "drain": Fault(drain, 2, needs_nodes=True, needs_postgres=True),
    "postgres": Fault(postgres, 2, needs_postgres=True),
    "full": Fault(full, 2, needs_disk=True),
    "partition-database": Fault(partition_database, 3, needs_postgres=True, needs_networks=True),
    "partition-nodes": Fault(partition_nodes, 3, needs_nodes=True, needs_networks=True),
    "partition-clients": Fault(partition_clients, 2, needs_networks=True),
    "rewind": Fault(rewind, 1, is_planted=True),
}
