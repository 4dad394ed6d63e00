# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the clients' tests: installs the tools that they need, where that is allowed.

# need TOOL PACKAGE: the tool is there, or comes with a package of Debian's or of its kin's.
need() {
  command -v "$1" >/dev/null && return
  if ! command -v apt-get >/dev/null; then
    echo "$1 is needed and not found" >&2
    exit 1
  fi
  echo "installing $2 for $1" >&2
  if [ "$(id -u)" = 0 ]; then as_root=env; else as_root='sudo -n env'; fi
  as_root="$as_root DEBIAN_FRONTEND=noninteractive"
  # The lists of packages of a fresh machine are often empty or old: a second try with new ones.
  $as_root apt-get install -y --no-install-recommends "$2" </dev/null >&2 ||
    { $as_root apt-get update </dev/null >&2 &&
      $as_root apt-get install -y --no-install-recommends "$2" </dev/null >&2; } ||
    { echo "$1 is needed: sudo apt-get install $2" >&2; exit 1; }
}

# absolute PATH: the same from everywhere.
absolute() {
  case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
  esac
}
