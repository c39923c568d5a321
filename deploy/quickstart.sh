#!/usr/bin/env bash
# From a fresh Debian 12 to a finished crawl: installs, builds, and crawls a fake
# web on this machine with a federation of three sites, or the URLs that you name
# with one. Works from any folder, as root or with sudo, as often as you like.
set -euo pipefail

usage() {
  cat <<'END'
deploy/quickstart.sh                              install, build, crawl a fake web with
                                                  three sites that share it
deploy/quickstart.sh --contact WHO URL...         crawl these URLs instead, with one site:
                                                  two rounds

On a terminal the sites go on after the crawl, for their dashboards to be looked at, until
Ctrl-C.

  --contact WHO    a web page or mail address of yours, for webmasters who wonder
                   about your crawler; the real web is not crawled without
  --data DIR       where the crawl is kept (default: build/quickstart/fake for the
                   fake web, build/quickstart/web for URLs). A crawl of URLs that
                   is there already goes on. That of a fake web begins anew, and
                   deletes only a crawl of a fake web that this script made; a
                   folder with anything else in it is refused. Each site of a
                   federation has a folder of its own in it
  --pages N        size of the fake web (default: 3000)
  --sites N        so many sites crawl the fake web, 1 to 5 (default: 3); one is in no
                   federation, and ends with the crawl
  --programs DIR   use gannet and gannet-fakeweb of this folder; nothing is
                   installed or built
  --help           this text

Example: deploy/quickstart.sh --contact me@example.org https://example.org/
END
}

# fail CODE TEXT
fail() {
  echo "error: $2" >&2
  exit "$1"
}

here=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. deploy/packages.sh
. deploy/quickstart_federation.sh

from_here() { [[ $1 = /* ]] && echo "$1" || echo "$here/$1"; }

data='' contact='' pages=3000 sites='' programs='' urls=()
while [ $# -gt 0 ]; do
  case $1 in
    --contact) contact=${2:?"--contact needs a web page or mail address"}; shift ;;
    --data) data=$(from_here "${2:?"--data needs a folder"}"); shift ;;
    --pages)
      pages=${2:?"--pages needs a number"}; shift
      [[ $pages =~ ^[1-9][0-9]{0,6}$ ]] || fail 2 "--pages: found '$pages', allowed is a number from 1 to 9999999" ;;
    --sites)
      sites=${2:?"--sites needs a number"}; shift
      [[ $sites =~ ^[1-5]$ ]] || fail 2 "--sites: found '$sites', allowed is a number from 1 to 5" ;;
    --programs) programs=$(from_here "${2:?"--programs needs a folder"}"); shift ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "error: unknown flag $1" >&2; usage >&2; exit 2 ;;
    *) urls+=("$1") ;;
  esac
  shift
done
if [ ${#urls[@]} -gt 0 ] && [ -z "$contact" ]; then
  fail 2 "say whom webmasters can write to: --contact with a web page or mail address of yours"
fi

if [ ${#urls[@]} -gt 0 ] && [ "${sites:-1}" -gt 1 ]; then
  fail 2 "--sites is for the fake web; deploy/README.md tells how a federation crawls the real one"
fi
sites=${sites:-3}

# A file that marks a crawl of a fake web, which the next run may delete; other
# crawls are kept.
marker=.made_by_quickstart
if [ ${#urls[@]} -gt 0 ]; then
  data=${data:-$root/build/quickstart/web}
  # Every fetch would go to the fake web, which is gone.
  if [ -e "$data/$marker" ] ||
    { [ -e "$data/site.yaml" ] &&
      grep -Eq "^[^#]*connect_to:[[:space:]]*[\"']?[^\"'[:space:]#,}]" "$data/site.yaml"; }; then
    fail 2 "$data holds the crawl of a fake web (connect_to in its site.yaml): name another folder for these URLs with --data"
  fi
else
  data=${data:-$root/build/quickstart/fake}
  if [ -e "$data" ] && [ ! -e "$data/$marker" ] && [ -n "$(ls -A "$data")" ]; then
    fail 2 "$data is not empty, and quickstart did not make what is in it: it is left alone; name another folder with --data"
  fi
fi

if [ -z "$programs" ]; then
  gannet_install "${GANNET_BUILD_PACKAGES[@]}"
  echo "== building (a few minutes the first time)"
  mkdir -p build
  log=$root/build/quickstart.log
  if ! { cmake --preset release && cmake --build --preset release --target gannet gannet-fakeweb; } >"$log" 2>&1; then
    tail -n 30 "$log"
    fail 1 "the build failed; all of it is in $log"
  fi
  programs=$root/build/release
fi
gannet=$programs/gannet
fakeweb=$programs/gannet-fakeweb

# show_results PAGE: what to look at, and three commands to try.
show_results() {
  cat <<END

The crawl is in $data:
  archive/     the pages, as WARC files
  crawl_db/    what is known of them
  site.yaml    the site's settings, if you write one: '$gannet init DIR' shows them all

Three commands to try next:
  $gannet page '$1' --data $data
  $gannet export links --data $data | head
  $gannet rounds --data $data
END
}

if [ ${#urls[@]} -gt 0 ]; then
  echo "== crawling ${urls[*]}: two rounds, Ctrl-C stops safely"
  # Relative files and folders are those of the caller.
  cd "$here"
  "$gannet" crawl "${urls[@]}" --data "$data" --contact "$contact" --rounds 2 --width 500
  show_results "${urls[0]}"
  exit 0
fi

# This web is new each time, and so is its crawl. Only what a crawl makes is
# deleted, only where the marker is, and not while another run uses it.
mkdir -p "$data"
had_marker=$([ -e "$data/$marker" ] && echo yes || true)
exec 9>>"$data/$marker"
# The sites hold it too: it is free when the last has ended.
flock -n 9 || fail 2 "another quickstart is crawling into $data: end it, or name another folder with --data"
if [ -n "$had_marker" ]; then
  for folder in "$data" "${site_names[@]/#/$data/}"; do
    rm -rf "$folder"/{crawl_db,archive,site.yaml,web-ca.pem,agent.sock,agent.log,paused}
    [ "$folder" = "$data" ] || rmdir --ignore-fail-on-non-empty "$folder" 2>/dev/null || true
  done
fi
echo "The crawl of a fake web. deploy/quickstart.sh deletes it when it runs again." >"$data/$marker"

hosts=$((pages < 15 ? 1 : pages / 15))
echo "== starting a fake web: $hosts hosts, half of them on https, $pages pages, everything nasty on"
web=(--hosts "$hosts" --pages "$pages" --https 0.5 --nasty all,-stall,-tls-stall --slow 200ms
  --retry-after 1)
started=$(mktemp)
running=()
# Sites before the web that they crawl. Each is asked, then waited for.
stop() {
  trap '' INT TERM
  local pid
  for pid in "${running[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${running[@]}"; do wait "$pid" 2>/dev/null || true; done
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  rm -f "$started"
}
trap stop EXIT
# Sessions of their own: a Ctrl-C is for this script, which ends them in order.
setsid "$fakeweb" serve "${web[@]}" --tls-port 0 --ca-out "$data/web-ca.pem" --json >"$started" &
server=$!
for _ in $(seq 100); do
  [ -s "$started" ] && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
# The first line is {"port": ..., "seed": ..., "tls_port": ...}.
port=$(grep -o '"port":[0-9]*' "$started" | head -n 1 | cut -d: -f2 || true)
tls_port=$(grep -o '"tls_port":[0-9]*' "$started" | head -n 1 | cut -d: -f2 || true)
seed=$(grep -o '"seed":"[^"]*"' "$started" | head -n 1 | cut -d'"' -f4 || true)
if [ -z "$port" ] || [ -z "$seed" ]; then
  fail 1 "the fake web did not start"
fi

# settings_for_fake_web: the part of site.yaml that every site of it shares.
settings_for_fake_web() {
  cat <<END
# A fake web on this machine may be asked faster than a real one.
fetch:
  delay: 20ms
  retry_delay: 500ms
  first_byte_timeout: 5s
  timeout: 10s
  max_bytes: 4MiB
  connect_timeout: 2s
  connect_to: "127.0.0.0/8:$port,$tls_port"
  ca_file: "$data/web-ca.pem"   # The fake web has a CA of its own.
urls:
  max_path_depth: 12          # The web's calendars and mazes have no end.
  max_query_parameters: 6
archive:
  min_free: 200MiB
END
}

show_truth() {
  cat <<END

What $1 should have found, says the web itself:
  $fakeweb truth reachable ${web[*]} --max-path-depth 12 --max-query-parameters 6 | cut -f2 | sort | uniq -c
END
}

if [ "$sites" -gt 1 ]; then
  crawl_with_a_federation
  exit 0
fi
echo "== crawling it, from $seed (Ctrl-C stops safely)"
settings_for_fake_web >"$data/site.yaml"
"$gannet" crawl "$seed" --scope any --data "$data"
show_results "$seed"
show_truth it
