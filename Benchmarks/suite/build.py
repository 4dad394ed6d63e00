# SPDX-License-Identifier: Apache-2.0
"""Builds the baseline, the other servers and the load generator in .build/benchmarks."""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = os.path.join(ROOT, "Benchmarks")
BUILT = os.path.join(ROOT, ".build", "benchmarks")
C_FLAGS = ["-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
           "-Werror"]
# Optional packages for the Python server and the plot.
PACKAGES = ["orjson", "matplotlib"]


def built(name):
    return os.path.join(BUILT, name)


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def compiler():
    """Returns the clang of the Swift toolchain, which every machine that builds Statewire has; or cc."""
    swift = shutil.which("swift")
    clang = os.path.join(os.path.dirname(os.path.realpath(swift)), "clang") if swift else ""
    return clang if os.access(clang, os.X_OK) else "cc"


def sources(folder, ending):
    path = os.path.join(SOURCES, folder)
    return sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(ending))


def c_programs():
    os.makedirs(BUILT, exist_ok=True)
    for name in ("generator", "baseline"):
        run(compiler(), *C_FLAGS, "-o", built(name), *sources("common", ".c"), *sources(name, ".c"))


def python():
    """Returns the interpreter of a virtual environment with the packages, or the current interpreter."""
    own = built("venv/bin/python")
    try:
        if not os.path.exists(own):
            run(sys.executable, "-m", "venv", built("venv"))
        if subprocess.run([own, "-c", "import " + ", ".join(PACKAGES)], capture_output=True).returncode:
            run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES)
        return own
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"without {' and '.join(PACKAGES)}: {error}", file=sys.stderr)
        return sys.executable


def go_server():
    """Builds the Go server and returns its path; None if Go is not installed."""
    if not shutil.which("go"):
        return None
    run("go", "build", "-o", built("server-go"), os.path.join(SOURCES, "servers", "server.go"),
        env={**os.environ, "GO111MODULE": "off", "GOFLAGS": ""})
    return built("server-go")


def other_servers(packages=True):
    """Returns the command of each of the other servers that can run on this machine.

    The caller appends a port or `stdio`. With `packages` false, nothing is installed.
    """
    folder = os.path.join(SOURCES, "servers")
    found = {"python": [python() if packages else sys.executable, os.path.join(folder, "server.py")]}
    if shutil.which("node"):
        found["node"] = [shutil.which("node"), os.path.join(folder, "server.js")]
    if go := go_server():
        found["go"] = [go]
    return found
