#!/usr/bin/env bash
# What rustc calls as its C compiler to link for Android: hands the call to LLD, without a compiler.
# (Not named `link`: rustc guesses the kind of linker from the name, and that one is of Windows.)
# LLD is the path of rust-lld, DROPPED_EXPORTS an extended expression for the names that
# rustc would export and we do not.
set -euo pipefail

arguments=()
for argument in "$@"; do
  case $argument in
    -Wl,--version-script=*)
      script=${argument#-Wl,--version-script=}
      sed -i -E "/^ *(${DROPPED_EXPORTS:?});\$/d" "$script"
      arguments+=("--version-script=$script")
      ;;
    -Wl,*)
      IFS=, read -ra parts <<< "${argument#-Wl,}"
      arguments+=("${parts[@]}")
      ;;
    # Of a compiler: what it links by itself, and for which machine it compiles.
    -nodefaultlibs | -nostartfiles | -m64 | --target=*) ;;
    *) arguments+=("$argument") ;;
  esac
done
exec "${LLD:?}" -flavor gnu "${arguments[@]}"
