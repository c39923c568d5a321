#!/usr/bin/env bash
# From a fresh Debian 12 to a running program: installs, builds, starts the fake
# web and shows it. Works from any folder, as root or with sudo, as often as you
# like. On a terminal the fake web stays until Ctrl-C; elsewhere (a script, a
# container's build) it stops at the end, for nobody would stop it.
set -euo pipefail

usage() {
  cat <<'END'
deploy/quickstart.sh [--port N]   install, build, start the fake web and show it

  On a terminal the fake web stays until Ctrl-C; elsewhere it stops at the end.

  --port N   where the fake web listens, on 127.0.0.0/8 (default: a free port)
  --help     this text
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. deploy/packages.sh

port=0
while [ $# -gt 0 ]; do
  case $1 in
    --port) port=${2:?"--port needs a number"}; shift ;;
    --help | -h) usage; exit 0 ;;
    *) echo "error: unknown argument $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

gannet_install "${GANNET_BUILD_PACKAGES[@]}" curl

echo "== building (a few minutes the first time)"
mkdir -p build
log=$root/build/quickstart.log
if ! { cmake --preset release && cmake --build --preset release --target gannet gannet-fakeweb; } >"$log" 2>&1; then
  tail -n 30 "$log"
  echo "error: the build failed; all of it is in $log" >&2
  exit 1
fi
fakeweb=build/release/gannet-fakeweb

echo "== starting the fake web: 200 hosts, 5,000 pages, everything nasty on"
started=$(mktemp)
web=(--hosts 200 --pages 5000 --nasty all)
"$fakeweb" serve "${web[@]}" --port "$port" --json >"$started" &
server=$!
stop() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  rm -f "$started"
}
trap stop EXIT
for _ in $(seq 100); do
  [ -s "$started" ] && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
# The first line is {"port": ..., "seed": ...}.
port=$(grep -o '"port":[0-9]*' "$started" | head -n 1 | cut -d: -f2 || true)
seed=$(grep -o '"seed":"[^"]*"' "$started" | head -n 1 | cut -d'"' -f4 || true)
if [ -z "$port" ] || [ -z "$seed" ]; then
  echo "error: the fake web did not start (is the port taken? --port chooses another)" >&2
  exit 1
fi

page=$(curl -sS --max-time 10 --connect-to "::127.0.0.1:$port" "$seed")
host=$(echo "$seed" | cut -d/ -f3)
cat <<END

The fake web is there. Its first page, $seed:
  $(echo "$page" | grep -o '<title>.*</title>' | head -n 1)
  ${#page} bytes of HTML, $(echo "$page" | grep -o '<a ' | wc -l) links, the first of them:
$(echo "$page" | grep -o 'href="[^"]*"' | head -n 3 | sed 's/^/    /')
Its robots.txt begins:
$(curl -sS --max-time 10 --connect-to "::127.0.0.1:$port" "http://$host/robots.txt" | head -n 4 | sed 's/^/    /')
END
try_truth="$root/$fakeweb truth reachable ${web[*]} --max-path-depth 12 --max-query-parameters 6 | head"
if [ -t 0 ] && [ -t 1 ]; then
  cat <<END

Look around in a browser:  http://127.0.0.1:$port/

Three commands to try next, in another terminal:
  curl --connect-to ::127.0.0.1:$port $seed
  $try_truth
  $root/$fakeweb kinds

Ctrl-C stops the fake web.
END
  trap : INT
  wait "$server" || true
else
  stop
  trap - EXIT
  cat <<END

The fake web has stopped; on a terminal it stays until Ctrl-C. Start it again:
  $root/$fakeweb serve ${web[*]} --port $port

Three commands to try next, the first while it runs:
  curl --connect-to ::127.0.0.1:$port $seed
  $try_truth
  $root/$fakeweb kinds
END
fi
