# SPDX-License-Identifier: Apache-2.0
#
# Functions that start and stop the server. The sourcing script must use `set -eu`, run in the project's
# folder and set $statewire to the path of the program. Sourcing this file creates the folder $scratch; at the
# end of the script the server is stopped and the folder removed.

mkdir -p .build
# A relative path in the project, so that no path with a space is part of a command line.
scratch=$(mktemp -d .build/server.XXXXXX)
trap 'trap "" INT TERM HUP; server_stop || :; rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts the server on the loopback port $port or the next free one; returns when its log says that it
# listens. Arguments are options of `statewire serve`. Sets $port and $address. If $with_page is set, the
# server also serves the page, 53 ports above; sets $page.
server_start() {
  tries=0
  while [ "$tries" -lt 100 ]; do
    address=127.0.0.1:$port
    page=127.0.0.1:$((port + 53))
    rm -f "$scratch/pid" "$scratch/status" "$scratch/log"
    # The subshell writes the exit status to a file: a script cannot see the end of the server otherwise.
    (
      "$statewire" serve --tcp "$address" ${with_page:+--web "$page"} "$@" </dev/null >"$scratch/log" 2>&1 &
      trap '' INT TERM HUP
      echo $! >"$scratch/pid.new" && mv "$scratch/pid.new" "$scratch/pid"
      status=0
      wait $! || status=$?
      echo "$status" >"$scratch/status.new" && mv "$scratch/status.new" "$scratch/status"
    ) &
    server_shell=$!
    server_wait listens 30 && return
    [ -e "$scratch/status" ] && grep -qi 'in use' "$scratch/log" || break
    port=$((port + 1)) tries=$((tries + 1))
  done
  echo "the server does not listen on $address; its log:" >&2
  cat "$scratch/log" >&2
  server_stop >/dev/null 2>&1 || :
  return 1
}

listens() { grep -i listening "$scratch/log" 2>/dev/null | grep -qE "[^0-9]$port([^0-9]|\$)"; }
ended() { [ -e "$scratch/status" ]; }

# Waits until the command $1 succeeds, for at most $2 seconds; stops waiting if the server ends.
server_wait() {
  tenths=$(($2 * 10))
  until "$1"; do
    [ "$tenths" -gt 0 ] && ! ended || return 1
    tenths=$((tenths - 1))
    sleep 0.1
  done
}

# Stops the server with SIGTERM and waits for its end. Fails if its exit status is not 0.
server_stop() {
  [ -n "${server_shell:-}" ] || return 0
  until [ -e "$scratch/pid" ]; do sleep 0.1; done
  ended || kill -TERM "$(cat "$scratch/pid")" || :
  server_wait ended 15 || kill -KILL "$(cat "$scratch/pid")" || :
  wait "$server_shell" || :
  server_shell=
  [ "$(cat "$scratch/status")" = 0 ] && return
  echo "the server ended with status $(cat "$scratch/status") after SIGTERM; its log:" >&2
  cat "$scratch/log" >&2
  return 1
}
