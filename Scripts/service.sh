# SPDX-License-Identifier: Apache-2.0
#
# Starting and stopping the service; for scripts that have said `set -eu`, stand in the project's
# folder and have put the path of the program in $statewire. Sourcing it makes $scratch, a folder
# that is removed at the end of the script, as is the service.

mkdir -p .build
# Inside the project and relative, so that no path with a space in it reaches a command line.
scratch=$(mktemp -d .build/service.XXXXXX)
trap 'trap "" INT TERM HUP; service_stop || :; rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts the service on a loopback port, $port or the next one that is free; returns when it
# listens, which it says in its log. Arguments are options of `statewire serve`. Sets $port and
# $address. Where $with_page is set it serves the page as well, 53 ports above; sets $page.
service_start() {
  tries=0
  while [ "$tries" -lt 100 ]; do
    address=127.0.0.1:$port
    page=127.0.0.1:$((port + 53))
    rm -f "$scratch/pid" "$scratch/status" "$scratch/log"
    # The shell around it leaves a note of its end, which a script cannot see otherwise.
    (
      "$statewire" serve --tcp "$address" ${with_page:+--web "$page"} "$@" </dev/null >"$scratch/log" 2>&1 &
      trap '' INT TERM HUP
      echo $! >"$scratch/pid.new" && mv "$scratch/pid.new" "$scratch/pid"
      status=0
      wait $! || status=$?
      echo "$status" >"$scratch/status.new" && mv "$scratch/status.new" "$scratch/status"
    ) &
    service_shell=$!
    service_wait listens 30 && return
    [ -e "$scratch/status" ] && grep -qi 'in use' "$scratch/log" || break
    port=$((port + 1)) tries=$((tries + 1))
  done
  echo "the service did not begin to listen on $address; its log:" >&2
  cat "$scratch/log" >&2
  service_stop >/dev/null 2>&1 || :
  return 1
}

listens() { grep -i listening "$scratch/log" 2>/dev/null | grep -qE "[^0-9]$port([^0-9]|\$)"; }
ended() { [ -e "$scratch/status" ]; }

# Waits until $1 is so, for at most $2 seconds and no longer than the service lives.
service_wait() {
  tenths=$(($2 * 10))
  until "$1"; do
    [ "$tenths" -gt 0 ] && ! ended || return 1
    tenths=$((tenths - 1))
    sleep 0.1
  done
}

# Asks the service to end, and waits for that. Fails if it did not end as it should.
service_stop() {
  [ -n "${service_shell:-}" ] || return 0
  until [ -e "$scratch/pid" ]; do sleep 0.1; done
  ended || kill -TERM "$(cat "$scratch/pid")" || :
  service_wait ended 15 || kill -KILL "$(cat "$scratch/pid")" || :
  wait "$service_shell" || :
  service_shell=
  [ "$(cat "$scratch/status")" = 0 ] && return
  echo "the service ended with status $(cat "$scratch/status") when asked to end; its log:" >&2
  cat "$scratch/log" >&2
  return 1
}
