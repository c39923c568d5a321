#!/usr/bin/env bash
# Installs, builds and runs all tests. Works from any folder, as root or with
# sudo, as often as you like. Its last line counts what passed, failed and was
# skipped.
set -euo pipefail

usage() {
  cat <<'END'
tests/run.sh [FLAGS]   install, build, run all tests

  --long       full sizes instead of small ones, a Clang build that checks the
               thread-safety annotations, and a check of the formatting
  --bench      then run the benchmarks
  --fuzz       then run each fuzz target for 60 s (FUZZ_SECONDS changes it)
  --asan       then build with the address and undefined-behaviour sanitizers,
               and run the tests again
  --tsan       the same with the thread sanitizer
  --data DIR   where strangers' data are (default: ../shared/data beside the
               project); tests that miss theirs are skipped and say so
  --https S    this share of the fake web's hosts is on https (default: 0.5)
  --only RE    only tests whose name matches (ctest -R)
  --help       this text

Example: tests/run.sh --long --asan --data /srv/gannet-data
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. deploy/packages.sh

long=0 bench=0 fuzz=0 asan=0 tsan=0 only=() data=${GANNET_TEST_DATA:-$root/../shared/data}
while [ $# -gt 0 ]; do
  case $1 in
    --long) long=1 ;;
    --bench) bench=1 ;;
    --fuzz) fuzz=1 ;;
    --asan) asan=1 ;;
    --tsan) tsan=1 ;;
    --data) data=${2:?"--data needs a folder"}; shift ;;
    --https) export GANNET_TEST_HTTPS=${2:?"--https needs a share from 0 to 1"}; shift ;;
    --only) only=(-R "${2:?"--only needs a regular expression"}"); shift ;;
    --help | -h) usage; exit 0 ;;
    *) echo "error: unknown flag $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
if [ -d "$data" ]; then
  data=$(cd "$data" && pwd)
else
  echo "note: no folder $data; tests that need other projects' data will be skipped (--data DIR names it)"
fi
export GANNET_TEST_DATA=$data
if [ $long -eq 1 ]; then export GANNET_TEST_LONG=1; else unset GANNET_TEST_LONG; fi

# The manuals are real HTML to parse. Tests that miss a package are skipped and say so.
GANNET_TEST_PACKAGES=(libarchive-tools postgresql-doc-15 chromium chromium-driver prometheus)
GANNET_TEST_PACKAGES+=(nginx-light openssl)  # A web with TLS.
# What checks deploy/: promtool, lintian, systemd in a machine of its own, man, the shells
# of the completions, a reader of compose files.
GANNET_TEST_PACKAGES+=(lintian systemd iproute2 man-db zsh fish python3-yaml)
if [ $long -eq 1 ]; then GANNET_TEST_PACKAGES+=(libstdc++-12-doc); fi
packages=("${GANNET_BUILD_PACKAGES[@]}" "${GANNET_TEST_PACKAGES[@]}")
if [ $fuzz -eq 1 ] || [ $long -eq 1 ]; then packages+=(clang libclang-rt-14-dev); fi
if [ $long -eq 1 ]; then packages+=(clang-format); fi
if [ $bench -eq 1 ]; then packages+=(wrk wget2 python3-scrapy postgresql-doc-15); fi
gannet_install "${packages[@]}"

results=("flaky-list=$root/tests/house/flaky.txt") # What summary.py counts.
started=$SECONDS

# A site syncs to disk before it acknowledges, so a test of three sites would mostly wait
# for the disk. So temporary folders are in memory where there is room for them; --long
# takes the real disk.
if [ $long -eq 0 ] && [ -z "${TMPDIR:-}" ] &&
  [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -ge $((8 << 20)) ] 2>/dev/null; then
  TMPDIR=$(mktemp -d /dev/shm/gannet-tests-XXXXXX)
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
fi

step() { echo; echo "== $* ($((SECONDS - started)) s)"; }

# fail NAME: counts a failure that is not ctest's.
fail() {
  echo "failed: $1" >&2
  results+=("failed:$1")
}

# build PRESET [TARGET]: builds all of it, or that target only. If that fails, what needs
# it is not run, and one failure is counted.
build() {
  step "building: $1"
  cmake --preset "$1" >"$root/build/configure-$1.log" 2>&1 || {
    cat "$root/build/configure-$1.log"
    fail "configuring $1"
    return 1
  }
  cmake --build --preset "$1" ${2:+--target "$2"} || {
    fail "building $1"
    return 1
  }
}

# run_tests PRESET
run_tests() {
  step "tests: $1"
  local report=$root/build/$1/tests.xml again=0
  rm -f "$report"
  # More than cores: those that take long mostly wait, for a web or for other sites.
  # Tests that compute count twice (gannet_test in CMakeLists.txt).
  ctest --test-dir "build/$1" -j "$(($(nproc) * 4))" "${only[@]}" --output-on-failure \
    --no-tests=error --output-junit "$report" --progress || again=1
  results+=("$1=$report")
  [ $again -eq 1 ] || return 0
  # If only a few failed, they run once more, alone: a test that passes then is flaky, which
  # is a failure too, unless tests/house/flaky.txt says why it may be.
  local failed=$root/build/$1/Testing/Temporary/LastTestsFailed.log
  if [ -f "$failed" ] && [ "$(wc -l <"$failed")" -le 3 ]; then
    step "once more, alone: $(cut -d: -f2 "$failed" | tr '\n' ' ')"
    rm -f "$report.again"
    ctest --test-dir "build/$1" --rerun-failed --output-on-failure \
      --output-junit "$report.again" || true
    results+=("again:$1=$report.again")
  fi
}

# run_benchmark PATH: exit code 77 means that this machine lacks something; it says what.
run_benchmark() {
  local name code=0 said
  name=$(basename "$1")
  said=$root/build/release/said-$name.txt
  step "benchmark $name"
  PYTHONUNBUFFERED=1 "$1" </dev/null 2>&1 | tee "$said" || code=${PIPESTATUS[0]}
  case $code in
    0) ;;
    77) results+=("skipped:benchmark $name=$said") ;;
    *) fail "benchmark $name" ;;
  esac
}

check_format() {
  step "formatting"
  find . -path ./build -prune -o \( -name '*.h' -o -name '*.cc' \) -print0 |
    xargs -0 clang-format --dry-run -Werror || fail "formatting"
}

mkdir -p build
built=0
if build release; then
  built=1
  run_tests release
fi

if [ $long -eq 1 ]; then
  check_format
  build clang || true
fi
if [ $asan -eq 1 ] && build asan; then
  GANNET_TEST_SLOW=5 ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 \
    LSAN_OPTIONS="suppressions=$root/tests/lsan.supp:print_suppressions=0" run_tests asan
fi
if [ $tsan -eq 1 ] && build tsan; then
  # Threads that still run when a second Ctrl-C calls _exit() are not leaks.
  GANNET_TEST_SLOW=5 TSAN_OPTIONS="suppressions=$root/tests/tsan.supp:halt_on_error=1:report_thread_leaks=0" \
    run_tests tsan
fi
if [ $fuzz -eq 1 ] && build fuzz fuzzers; then
  while read -r target; do
    [ -n "$target" ] || continue
    name=$(basename "$target")
    step "fuzzing $name for ${FUZZ_SECONDS:-60} s"
    mkdir -p "build/fuzz/corpus/$name"
    # Debian's libraries are not instrumented, so container checks would report false errors.
    ASAN_OPTIONS=detect_container_overflow=0 "$target" -max_total_time="${FUZZ_SECONDS:-60}" \
      -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" ||
      fail "fuzzing $name"
  done <build/fuzz/fuzzers.txt
fi
if [ $bench -eq 1 ] && [ $built -eq 1 ]; then
  while read -r target; do
    [ -n "$target" ] || continue
    run_benchmark "$target"
  done <build/release/benchmarks.txt
fi

step "done"
python3 tests/house/summary.py "${results[@]}" "seconds:$((SECONDS - started))"
