#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Compiles each call of mistakes.txt: the first error has to be the message above it, in 10 lines at most beside those
# that say which header includes which, and what is meant has to compile. The headers are compiled once.
#
#   mistakes.sh [--one-each] SOURCE_FOLDER BINARY_FOLDER COMPILER FLAGS...   # --one-each: one call of each message
set -euo pipefail
one_each=
[ "$1" != --one-each ] || { one_each=yes; shift; }
from=$(realpath "$1") to=$2
shift 2
compile=("$@" -std=c++20)
mkdir -p "$to"
cp "$from/mistakes.hpp" "$to"
cd "$to"
"${compile[@]}" -x c++-header mistakes.hpp -o mistakes.hpp.gch

# The call alone, as a program has it.
compiled() { "${compile[@]}" -fsyntax-only -include mistakes.hpp -x c++ - <<< "void call() { $1 }" 2> said; }

lines() { grep -cvE '^(In file included| +) from ' said; }

wrong=0 mistakes=0 sentence= seen=
complain() {
  wrong=$((wrong + 1))
  echo "$1: $call"
  sed 's/^/    /' said
}
while IFS= read -r line; do
  call=${line:2}
  case $line in
    ': '*) sentence=${line:2} ;;
    '- '*)
      [ -z "$one_each" ] || [ "$seen" != "$sentence" ] || continue
      seen=$sentence mistakes=$((mistakes + 1))
      if compiled "$call"; then
        complain "compiles"
      elif ! grep -m 1 'error: ' said | grep -qF "colligo: $sentence"; then
        complain "the first error is not \"$sentence\""
      elif (($(lines) > 10)); then
        complain "takes $(lines) lines"
      fi ;;
    '+ '*) compiled "$call" || complain "does not compile" ;;
  esac
done < "$from/mistakes.txt"
echo "$mistakes mistakes, $wrong wrong"
((mistakes > (${#one_each} ? 20 : 100) && wrong == 0))
