#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Compiles each call of mistakes.txt: the first error has to be the message above it, in 10 lines at most beside those
# that say which header includes which, and what is meant has to compile. The headers are compiled once. g++ compiles all
# calls in one unit, and alone only those that have no error there: an equal template failed for an earlier one.
#
#   mistakes.sh [--one-each] SOURCE_FOLDER BINARY_FOLDER COMPILER FLAGS...   # --one-each: one call of each message, alone
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

# A program that makes the calls that begin with $1, or the one in line $2, each with the number of its line.
calls() {
  awk -v kind="$1 " -v only="${2:-}" 'index($0, kind) == 1 && (only == "" || only == NR) {
    print "#line " NR " \"call\"\nvoid call_" NR "() { " substr($0, 3) " }"}' "$from/mistakes.txt"
}
compiled() { "${compile[@]}" -fsyntax-only -include mistakes.hpp -x c++ - 2> said; }

# What the compiler says of each call: its line, how many lines that takes, the first error.
summary() {
  awk 'function finish() {if (error != "" && at) {count[at] += lines; if (!(at in first)) first[at] = error; at = 0}
                          lines = 0; error = ""}
       error != "" && /^In file included from|: In |error: / {finish()}
       match($0, /^call:[0-9]+:/) {at = substr($0, 6, RLENGTH - 6)}
       /error: / {error = $0}
       !/^(In file included| +) from / {++lines}
       END {finish(); for (at in first) print at, count[at], first[at]}' said
}

wrong=0 mistakes=0 sentence= seen= number=0
complain() {
  wrong=$((wrong + 1))
  echo "$1: $call"
  sed 's/^/    /' said
}
# What is wrong with what a summary says of this call; nothing if it is as it has to be.
trouble() {
  local lines error
  read -r lines error < <(sed -n "s/^$number //p" <<< "$1") || { echo "has no error"; return; }
  if [[ $error != *"colligo: $sentence"* ]]; then echo "the first error is not \"$sentence\""
  elif ((lines > 10)); then echo "takes $lines lines"; fi
}
summary=
if [ -z "$one_each" ]; then
  calls - | compiled && { echo "all mistakes compile"; exit 1; }
  summary=$(summary)
fi
calls '+' | compiled || call="one of those that are meant" complain "does not compile"
while IFS= read -r line; do
  number=$((number + 1)) call=${line:2}
  case $line in
    ': '*) sentence=${line:2} ;;
    '- '*)
      [ -z "$one_each" ] || [ "$seen" != "$sentence" ] || continue
      seen=$sentence mistakes=$((mistakes + 1))
      [ -n "$(trouble "$summary")" ] || continue
      calls - "$number" | compiled || true
      wrong_here=$(trouble "$(summary)")
      [ -z "$wrong_here" ] || complain "$wrong_here" ;;
  esac
done < "$from/mistakes.txt"
echo "$mistakes mistakes, $wrong wrong"
((mistakes > (${#one_each} ? 20 : 100) && wrong == 0))
