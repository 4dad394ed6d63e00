# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the clients' tests: installs the tools that they need, where that is allowed.

# need TOOL PACKAGE: the tool is there, or comes with a package of Debian's or of its kin's.
need() {
  command -v "$1" >/dev/null || install "$2"
}

install() {
  if [ "$(id -u)" = 0 ]; then as_root=env; else as_root='sudo -n env'; fi
  as_root="$as_root DEBIAN_FRONTEND=noninteractive"
  echo "installing $1" >&2
  # The lists of packages of a fresh machine are often empty or old: a second try with new ones.
  command -v apt-get >/dev/null &&
    { $as_root apt-get install -y --no-install-recommends "$1" </dev/null >&2 ||
      { $as_root apt-get update </dev/null >&2 &&
        $as_root apt-get install -y --no-install-recommends "$1" </dev/null >&2; }; } ||
    { echo "this is needed, and could not be installed: $1" >&2; exit 1; }
}

# absolute PATH: the same from everywhere.
absolute() {
  case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
  esac
}
