#!/bin/bash
# Builds one fuzzer and runs it (`make fuzz` calls this):
#
#   fuzz/fuzz.sh picture 30      for 30 seconds (0: until it is stopped), from fuzz/picture/corpus and what earlier runs came to
#   fuzz/fuzz.sh picture cover   how many lines of the code fuzz/picture/corpus reaches (needs llvm-19); under 80 % is an error
#   fuzz/fuzz.sh picture seeds   writes fuzz/picture/corpus anew
#   fuzz/fuzz.sh all 30          each for 30 seconds, two at a time, and a line for each: its runs, and its corpus's coverage, as above
#
# What runs come to and what they find is in build/fuzz-<name>/, or in $OUT. A finding ends the run with an error: minimise it with
# `build/fuzz/<name>_fuzz -minimize_crash=1 -runs=10000 <file>`, mend the code, and put it into the corpus and a test.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fuzzers=(picture wasi paths cookies iovecs json protocol bundle frames reports)
name=${1:?which fuzzer: ${fuzzers[*]}, or all}
what=${2:-30}

build() {  # <folder> <cmake options> <targets...>
  cmake -S fuzz -B "$1" -G Ninja -DCMAKE_CXX_COMPILER="${CLANG:-clang++-19}" $2 --log-level=WARNING >/dev/null
  cmake --build "$1" --target "${@:3}" >"$1/build.log" || { cat "$1/build.log"; return 1; }
}

limits=(-timeout=60 -rss_limit_mb=2048)
case $name in
  all) ;;
  picture) limits+=(-max_len=65536 -malloc_limit_mb=1300) covered=(src/picture) ;;
  wasi) limits+=(-max_len=2000) covered=(src/wasi) ;;
  paths) limits+=(-max_len=400) covered=(src/volume/path.cc src/volume/path.h src/volume/tree.cc src/volume/tree.h) ;;
  cookies) limits+=(-max_len=500) covered=(src/wasi/listing.cc src/wasi/listing.h src/wasi/dir.cc) ;;
  iovecs) limits+=(-max_len=20000) covered=(src/abi/arguments.cc src/abi/arguments.h src/abi/memory.h) ;;
  json) limits+=(-max_len=2000) covered=(src/protocol/json.cc src/protocol/json_{copy,text,value}.cc) ;;
  protocol)
    limits+=(-max_len=6000)
    covered=(src/protocol/{base64,call_result,conversation,discovery,line,manifest,names,request,schema,schema_keyword,tool_list,view,volume_uri}.cc)
    ;;
  bundle)
    limits+=(-max_len=16384)
    covered=(src/bundle/{archive,bytes,findings,gzip_bytes,inflate,intake,packer,path_rules,reader,sniff,tar_archive,tar_header,tar_writer,zip_archive,zip_directory}.cc)
    ;;
  frames) limits+=(-max_len=4096) covered=(src/child/frames.cc src/child/frames.h) ;;
  reports) limits+=(-max_len=8192) covered=(src/core/report.cc src/core/render.cc src/child/envelope.h src/worker/wire.cc) ;;
  *)
    echo "fuzz: there is no $name; there is: ${fuzzers[*]}" >&2
    exit 1
    ;;
esac

out=${OUT:-build/fuzz-$name}
corpus=fuzz/$name/corpus
if [ "$name" != all ]; then mkdir -p "$out/corpus" "$out/findings"; fi

# Some fuzzers have files of their own, and few file systems are as fast as this one.
if [ -w /dev/shm ] && [ -z "${FUZZ_TMPDIR:-}" ]; then
  FUZZ_TMPDIR=$(mktemp -d /dev/shm/subako-fuzz-XXXXXX)
  trap 'rm -rf "$FUZZ_TMPDIR"' EXIT
fi

run() {  # <seconds>
  local dictionary=()
  if [ -e "fuzz/$name/$name.dict" ]; then dictionary=(-dict="fuzz/$name/$name.dict"); fi
  env TMPDIR="${FUZZ_TMPDIR:-/tmp}" UBSAN_OPTIONS=print_stacktrace=1 build/fuzz/"${name}_fuzz" "${limits[@]}" \
    -max_total_time="$1" -print_final_stats=1 "${dictionary[@]}" -artifact_prefix="$out/findings/" "$out/corpus" "$corpus"
}

coverage() {
  env TMPDIR="${FUZZ_TMPDIR:-/tmp}" LLVM_PROFILE_FILE="$out/cover.raw" build/fuzz-cover/"${name}_fuzz" -runs=0 "${limits[@]}" \
    "$corpus" 2>"$out/cover.log"
  llvm-profdata-19 merge "$out/cover.raw" -o "$out/cover"
  llvm-cov-19 report build/fuzz-cover/"${name}_fuzz" -instr-profile="$out/cover" "${covered[@]}"
}

enough() {  # <what coverage said>
  awk '/^TOTAL/ {lines = $10 + 0} END {exit !(lines >= 80)}' <<<"$1" && return
  echo "fuzzer $name: its corpus reaches less than 80 % of the lines of ${covered[*]}; put in what reaches more"
  return 1
}

case $what in
  seeds)
    build build/fuzz "" "${name}_seeds"
    mkdir -p "$corpus"
    build/fuzz/"${name}_seeds" "$corpus"
    ;;
  cover)
    build build/fuzz-cover -DSUBAKO_COVERAGE=ON "${name}_fuzz"
    report=$(coverage)
    echo "$report"
    enough "$report"
    ;;
  built)  # as `all` wants it: quiet, and all in one line
    if ! run "${3:?for how long}" >"$out/log" 2>&1; then
      tail -60 "$out/log"
      echo "fuzzer $name: a finding, in $out/findings; all it said is in $out/log"
      exit 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/log")
    report=$(coverage)
    lines=$(awk '/^TOTAL/ {print $10}' <<<"$report")
    echo "fuzzer $name: $runs runs without a finding; its corpus reaches $lines of the lines of ${covered[*]}"
    enough "$report"
    ;;
  *)
    if [ "$name" = all ]; then
      build build/fuzz "" "${fuzzers[@]/%/_fuzz}"
      build build/fuzz-cover -DSUBAKO_COVERAGE=ON "${fuzzers[@]/%/_fuzz}"
      printf '%s\n' "${fuzzers[@]}" | env -u OUT FUZZ_TMPDIR="${FUZZ_TMPDIR:-}" xargs -P 2 -I {} fuzz/fuzz.sh {} built "$what"
    else
      build build/fuzz "" "${name}_fuzz"
      run "$what"
    fi
    ;;
esac
