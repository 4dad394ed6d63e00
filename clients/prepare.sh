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
  # The package lists of a fresh machine are often empty or old: updates them and tries again.
  command -v apt-get >/dev/null &&
    { $as_root apt-get install -y --no-install-recommends "$1" </dev/null >&2 ||
      { $as_root apt-get update </dev/null >&2 &&
        $as_root apt-get install -y --no-install-recommends "$1" </dev/null >&2; }; } ||
    { echo "cannot install the package $1; install it and run this again" >&2; exit 1; }
}

# absolute PATH: prints PATH as an absolute path.
absolute() {
  case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
  esac
}
