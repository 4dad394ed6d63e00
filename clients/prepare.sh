# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the test scripts of the clients: installs the tools that they need, if permitted.

# need TOOL PACKAGE: installs a Debian package if the tool is missing.
need() {
  command -v "$1" >/dev/null || install "$2"
}

install() {
  if [ "$(id -u)" = 0 ]; then as_root=env; else as_root='sudo -n env'; fi
  as_root="$as_root DEBIAN_FRONTEND=noninteractive"
  echo "installing $1" >&2
  # Another script may install something at the same time.
  locked='-o DPkg::Lock::Timeout=600'
  # The package lists of a fresh machine are often empty or old: updates them and tries again.
  command -v apt-get >/dev/null &&
    { $as_root apt-get $locked install -y --no-install-recommends "$1" </dev/null >&2 ||
      { $as_root apt-get update </dev/null >&2 &&
        $as_root apt-get $locked install -y --no-install-recommends "$1" </dev/null >&2; }; } ||
    { echo "cannot install the package $1; install it and run this again" >&2; exit 1; }
}

# browser_tests FOLDER: installs Chromium, and what drives it into a virtual environment of Python.
browser_tests() {
  need python3 python3
  command -v chromium >/dev/null || command -v google-chrome >/dev/null || need chromium chromium
  "$1/bin/python" -c 'import playwright, axe_playwright_python' 2>/dev/null && return
  python3 -c 'import ensurepip' 2>/dev/null || install python3-venv
  rm -rf "$1"
  python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check playwright==1.65.2 axe-playwright-python==0.1.8
}

# absolute PATH: prints PATH as an absolute path.
absolute() {
  case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
  esac
}
