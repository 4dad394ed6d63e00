# SPDX-License-Identifier: Apache-2.0
"""The faults of the chaos run. Each one is a function that breaks something, waits, and heals it.

`kill`, `stop`, `restart` and `rolling` work with any number of nodes; `postgres` needs PostgreSQL; the partitions need
network namespaces.
"""

import signal
import time


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


def postgres(cluster, random):
    """Kills all processes of PostgreSQL, and starts it again after up to two seconds."""
    cluster.postgres.kill()
    yield "postgres"
    time.sleep(random.uniform(0, 2))
    cluster.postgres.start()


def partition_database(cluster, random):
    """Cuts a node off from PostgreSQL."""
    yield from _partition(cluster, random, "database")


def partition_nodes(cluster, random):
    """Cuts a node off from the other nodes."""
    yield from _partition(cluster, random, "mesh")


def _partition(cluster, random, link):
    node = random.choice(cluster.nodes)
    cluster.networks.cut(node.name, link)
    yield node.name
    time.sleep(random.uniform(3, 12))
    cluster.networks.heal(node.name, link)


def _restart(node):
    if node.end() is None:
        print(f"{node.name} did not end by SIGTERM and was killed", flush=True)
    node.start()


# Faults by name, with the weight of each in a random choice.
FAULTS = {
    "kill": (kill, 6), "stop": (stop, 2), "restart": (restart, 3), "rolling": (rolling, 2),
    "postgres": (postgres, 2), "partition-database": (partition_database, 3), "partition-nodes": (partition_nodes, 3),
}
EVERYWHERE = {"kill", "stop", "restart", "rolling"}
WITH_POSTGRES = {"postgres"}
WITH_NETWORKS = {"partition-database", "partition-nodes"}
