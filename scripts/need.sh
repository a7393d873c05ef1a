# shellcheck shell=bash
# Sourced by scripts that use tools of the system. Each tool is given as TOOL:PACKAGE.

# Installs what is not here, where that can be done: on a Debian machine, as root. Else returns 1,
# with the first one that is missing in `missing`.
need() {
  for missing in "$@"; do
    command -v "${missing%%:*}" > /dev/null && continue
    command -v apt-get > /dev/null && [ "$(id -u)" = 0 ] || return 1
    # Where `need` is a condition, `set -e` is off in here.
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing##*:}" > /dev/null || exit 1
  done
}

# need_or_skip STAGE WHAT TOOL:PACKAGE...: without them the script ends, loudly; with CI set it
# fails instead.
need_or_skip() {
  local stage=$1 what=$2
  shift 2
  need "$@" && return
  if [ -n "${CI:-}" ]; then
    echo "$stage: ${missing%%:*} is missing, and CI is set" >&2
    exit 1
  fi
  echo "SKIPPED: $what. Install ${missing##*:} (${missing%%:*} is not here)." >&2
  exit 0
}
