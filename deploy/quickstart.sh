#!/usr/bin/env bash
# From a fresh Debian 12 to a finished crawl: installs, builds, and crawls a fake
# web on this machine, or the URLs that you name. Works from any folder, as root
# or with sudo, as often as you like.
set -euo pipefail

usage() {
  cat <<'END'
deploy/quickstart.sh                              install, build, crawl a fake web
deploy/quickstart.sh --contact WHO URL...         crawl these URLs instead: two rounds

  --contact WHO   a web page or mail address of yours, for webmasters who wonder
                  about your crawler; the real web is not crawled without
  --data DIR      where the crawl is kept (default: build/quickstart); a crawl
                  that is there already goes on
  --help          this text

Example: deploy/quickstart.sh --contact me@example.org https://example.org/
END
}

here=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. deploy/packages.sh

data=$root/build/quickstart contact='' urls=()
while [ $# -gt 0 ]; do
  case $1 in
    --contact) contact=${2:?"--contact needs a web page or mail address"}; shift ;;
    --data)
      data=${2:?"--data needs a folder"}; shift
      [[ $data = /* ]] || data=$here/$data ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "error: unknown flag $1" >&2; usage >&2; exit 2 ;;
    *) urls+=("$1") ;;
  esac
  shift
done
if [ ${#urls[@]} -gt 0 ] && [ -z "$contact" ]; then
  echo "error: say whom webmasters can write to: --contact with a web page or mail address of yours" >&2
  exit 2
fi

gannet_install "${GANNET_BUILD_PACKAGES[@]}"

echo "== building (a few minutes the first time)"
mkdir -p build
log=$root/build/quickstart.log
if ! { cmake --preset release && cmake --build --preset release --target gannet gannet-fakeweb; } >"$log" 2>&1; then
  tail -n 30 "$log"
  echo "error: the build failed; all of it is in $log" >&2
  exit 1
fi
gannet=$root/build/release/gannet
fakeweb=$root/build/release/gannet-fakeweb

# show_results COMMAND...: what to look at, and three commands to try.
show_results() {
  local page=$1
  cat <<END

The crawl is in $data:
  archive/     the pages, as WARC files
  crawl_db/    what is known of them
  site.yaml    the site's settings, if you write one: '$gannet init DIR' shows them all

Three commands to try next:
  $gannet page '$page' --data $data
  $gannet export links --data $data | head
  $gannet rounds --data $data
END
}

if [ ${#urls[@]} -gt 0 ]; then
  echo "== crawling ${urls[*]}: two rounds, Ctrl-C stops safely"
  "$gannet" crawl "${urls[@]}" --data "$data" --contact "$contact" --rounds 2 --width 500
  show_results "${urls[0]}"
  exit 0
fi

echo "== starting a fake web: 200 hosts, 3,000 pages, everything nasty on"
web=(--hosts 200 --pages 3000 --nasty all,-stall --slow 200ms --retry-after 1)
started=$(mktemp)
"$fakeweb" serve "${web[@]}" --json >"$started" &
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
  echo "error: the fake web did not start" >&2
  exit 1
fi

echo "== crawling it, from $seed (Ctrl-C stops safely)"
# This web is new each time, and so is its crawl.
rm -rf "$data"
mkdir -p "$data"
cat >"$data/site.yaml" <<END
# A fake web on this machine may be asked faster than a real one.
fetch:
  delay: 20ms
  retry_delay: 500ms
  first_byte_timeout: 5s
  timeout: 10s
  max_bytes: 4MiB
  connect_to: "127.0.0.0/8:$port"
urls:
  max_path_depth: 12          # The web's calendars and mazes have no end.
  max_query_parameters: 6
archive:
  min_free: 200MiB
END
"$gannet" crawl "$seed" --data "$data"
show_results "$seed"
cat <<END

What it should have found, says the web itself:
  $fakeweb truth reachable ${web[*]} --max-path-depth 12 --max-query-parameters 6 | cut -f2 | sort | uniq -c
END
