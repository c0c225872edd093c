#!/usr/bin/env bash
# Builds and runs Switchyard.
#
#   ./run.sh                    build, run the experiment quickstart, print its comparison
#   ./run.sh test [--long]      everything that CI runs; --long adds the slow tests
#   ./run.sh notebooks          execute the notebooks on out/quickstart, and on what reproduce has
#                               left in out, and keep what they print
#   ./run.sh build              build the program only, as .bin/switchyard
#   ./run.sh COMMAND ARGS...    build, then .bin/switchyard COMMAND ARGS...
#
# Needs Go. With a C compiler the program has DuckDB inside (build tag duckdb)
# and `query` works; with Python the tests execute the notebook.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

# One instruction set, so that every machine of one architecture gets the same
# bits: higher levels fuse a*b+c into one rounding.
export GOAMD64=v1

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }

as_root_on_debian() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# The package lists are fetched once a run; a machine may never have done it.
apt_install() {
  say "apt-get install $*"
  [ -n "${apt_updated:-}" ] || { apt-get update -qq >&2; apt_updated=1; }
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# CI must not pass by leaving something out: there, what is missing is
# installed where it can be and is an error where it cannot.
missing() {
  [ -z "${CI:-}" ] || die "$1 (CI is set, so this is an error)"
  say "$1"
}

need_go() {
  command -v go >/dev/null || die "Go 1.26 or newer is needed: install it and run this again"
}

# links_cpp says whether the C compiler links against the C++ library, which
# DuckDB's archive needs.
links_cpp() {
  [ "$(cd "$root" && go env CGO_ENABLED)" = 1 ] || return 1
  local cc probe ok=1
  cc=$(cd "$root" && go env CC)
  command -v "${cc%% *}" >/dev/null || return 1
  probe=$(mktemp -d)
  echo 'int main(void) { return 0; }' >"$probe/probe.c"
  $cc "$probe/probe.c" -o "$probe/probe" -lstdc++ 2>/dev/null && ok=0
  rm -rf "$probe"
  return $ok
}

# Sets tags to the build tags for this machine.
pick_tags() {
  tags=
  case "$(go env GOOS)/$(go env GOARCH)" in
    linux/amd64 | linux/arm64 | darwin/amd64 | darwin/arm64) ;;
    *) say "DuckDB is not packaged for this platform: building without it"; return ;;
  esac
  if ! links_cpp && [ -n "${CI:-}" ] && as_root_on_debian; then
    apt_install gcc g++ libc6-dev
  fi
  if CGO_ENABLED=1 links_cpp; then
    export CGO_ENABLED=1
    tags=duckdb
  else
    export CGO_ENABLED=0
    missing "no C compiler with a C++ library: building without DuckDB, so 'query' will not work"
  fi
}

build() {
  need_go
  pick_tags
  say "build .bin/switchyard${tags:+ with tag $tags}"
  # The commit is stamped wherever git can read the tree, also where the
  # environment's GOFLAGS have -buildvcs=false.
  local vcs=false
  [ "$(git -C "$root" rev-parse --show-toplevel 2>/dev/null)" = "$root" ] && vcs=true
  (cd "$root" && go build -buildvcs=$vcs -tags "$tags" -o .bin/switchyard ./pipeline/switchyard)
}

quickstart() {
  build
  say "run the experiment quickstart into out/quickstart"
  local out=()
  [ "$PWD" = "$root" ] || out=(--out "$root/out/quickstart")
  program run quickstart ${out[@]+"${out[@]}"}
  say "what every column means: $as schema; what else can be compared: $as list"
}

# program runs what was built under the name of this script, so that the
# commands which it prints can be pasted.
as=$0
case "$as" in */*) ;; *) as=./$as ;; esac
program() { (exec -a "$as" "$root/.bin/switchyard" "$@"); }

# venv makes .venv with the pinned packages of the notebooks, once. Debian
# splits ensurepip off, so that `python3 -m venv` may be missing there.
venv() {
  local stamp="$root/.venv/requirements.txt" python
  if cmp -s "$root/notebooks/requirements.txt" "$stamp"; then return 0; fi
  python=$(command -v python3 || true)
  if [ -z "$python" ] && [ -n "${CI:-}" ] && as_root_on_debian; then
    apt_install python3 python3-venv && python=$(command -v python3)
  fi
  [ -n "$python" ] || return 1
  say "create .venv with the packages of notebooks/requirements.txt"
  rm -rf "$root/.venv"
  if ! "$python" -m venv "$root/.venv" 2>/dev/null; then
    rm -rf "$root/.venv"
    if as_root_on_debian && [ "$python" = /usr/bin/python3 ]; then
      apt_install python3-venv
      "$python" -m venv "$root/.venv" || return 1
    elif "$python" -m virtualenv --version >/dev/null 2>&1; then
      "$python" -m virtualenv -q "$root/.venv" || return 1
    else
      say "python3 has no venv module; on Debian: apt-get install python3-venv"
      return 1
    fi
  fi
  "$root/.venv/bin/python" -m pip install -q --disable-pip-version-check -r "$root/notebooks/requirements.txt" >&2 || return 1
  cp "$root/notebooks/requirements.txt" "$stamp"
}

step() {
  say "$* ($((SECONDS - started)) s so far)"
}

test_go() {
  step "gofmt"
  local unformatted
  unformatted=$(gofmt -l pipeline stages sim)
  [ -z "$unformatted" ] || die "not gofmt-ed: $unformatted"
  step "go vet"
  go vet -tags "$tags" ./...
  step "go test"
  go test -tags "$tags" -timeout 30m "$@" ./...
}

# execute NOTEBOOK FLAG... runs a notebook in its own folder.
execute() {
  (cd "$root" && .venv/bin/python -m nbconvert --to notebook --execute --log-level WARN "${@:2}" "notebooks/$1.ipynb")
}

# test_readers runs what people read the tables with: a notebook and the file of
# queries on a fresh quickstart, and the page of verdicts on a short reproduction
# of two cheap experiments, and of none.
test_readers() {
  step "run quickstart"
  .bin/switchyard run quickstart
  if venv; then
    step "notebooks/quickstart.ipynb"
    local work
    work=$(mktemp -d)
    STUDY="$root/out/quickstart" execute quickstart --output-dir "$work"
    step "notebooks/reproduction.ipynb"
    mkdir "$work/some" "$work/none"
    REPRODUCED="$work/none" execute reproduction --output-dir "$work"
    if [ -n "$tags" ]; then
      .bin/switchyard reproduce lecture-threshold lecture-stale --replications 1..2 --dir "$work/some" >/dev/null
      REPRODUCED="$work/some" execute reproduction --output-dir "$work"
    fi
    rm -rf "$work"
    step "notebooks/queries.sql with DuckDB in Python"
    (cd notebooks && ../.venv/bin/python lab.py ../out/quickstart queries.sql)
  else
    missing "no usable Python 3: the notebook was not executed"
  fi
}

# keep_notebooks rewrites the outputs that the notebooks are committed with.
keep_notebooks() {
  [ -f "$root/out/quickstart/views.sql" ] || die "no out/quickstart: run ./run.sh first"
  venv || die "no usable Python 3"
  local keep=(--inplace --ExecutePreprocessor.record_timing=False)
  STUDY="$root/out/quickstart" execute quickstart "${keep[@]}"
  if compgen -G "${REPRODUCED:-$root/out}/*/expectations" >/dev/null; then
    execute reproduction "${keep[@]}"
  else
    say "nothing reproduced in out: notebooks/reproduction.ipynb stays as it is; ./run.sh reproduce makes it"
  fi
}

run_tests() {
  local started=$SECONDS
  while [ $# -gt 0 ]; do
    case "$1" in
      --long) export SWITCHYARD_LONG=1 ;;
      *) die "unknown argument to test: $1 (the only one is --long)" ;;
    esac
    shift
  done
  cd "$root"
  build
  test_go
  test_readers
  step "all passed"
}

case "${1-}" in
  "") quickstart ;;
  test) shift; run_tests "$@" ;;
  build) build ;;
  notebooks) keep_notebooks ;;
  *) build; exec -a "$as" "$root/.bin/switchyard" "$@" ;;
esac
