#!/bin/bash
# Builds one fuzzer and runs it (`make fuzz` calls this):
#
#   fuzz/fuzz.sh picture 30      for 30 seconds (0: until it is stopped), from fuzz/picture/corpus and what earlier runs came to
#   fuzz/fuzz.sh picture cover   how many lines of the code those inputs reach (needs llvm-19)
#   fuzz/fuzz.sh picture seeds   writes fuzz/picture/corpus anew
#
# What runs come to and what they find is in build/fuzz-<name>/, or in $OUT. A finding ends the run with an error: minimise it with
# `build/fuzz/<name>_fuzz -minimize_crash=1 -runs=10000 <file>`, mend the code, and put it into the corpus and a test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=${1:?which fuzzer: picture}
what=${2:-30}
out=${OUT:-build/fuzz-$name}
corpus=fuzz/$name/corpus

case $name in
  picture) limits=(-max_len=65536 -timeout=25 -rss_limit_mb=2048 -malloc_limit_mb=1300) covered=src/picture ;;
  *)
    echo "fuzz: there is no $name; there is: picture" >&2
    exit 1
    ;;
esac

build() {  # <folder> <target> [cmake options...]
  cmake -S fuzz -B "$1" -G Ninja -DCMAKE_CXX_COMPILER="${CLANG:-clang++-19}" "${@:3}" --log-level=WARNING >/dev/null
  cmake --build "$1" --target "$2"
}

mkdir -p "$out/corpus" "$out/findings"
case $what in
  seeds)
    build build/fuzz "${name}_seeds"
    mkdir -p "$corpus"
    build/fuzz/"${name}_seeds" "$corpus"
    ;;
  cover)
    build build/fuzz-cover "${name}_fuzz" -DSUBAKO_COVERAGE=ON
    LLVM_PROFILE_FILE=$out/cover.raw build/fuzz-cover/"${name}_fuzz" -runs=0 "${limits[@]}" "$corpus" "$out/corpus"
    llvm-profdata-19 merge "$out/cover.raw" -o "$out/cover"
    llvm-cov-19 report build/fuzz-cover/"${name}_fuzz" -instr-profile="$out/cover" "$covered"
    ;;
  *)
    build build/fuzz "${name}_fuzz"
    UBSAN_OPTIONS=print_stacktrace=1 build/fuzz/"${name}_fuzz" "${limits[@]}" -max_total_time="$what" -print_final_stats=1 \
      -dict="fuzz/$name/$name.dict" -artifact_prefix="$out/findings/" "$out/corpus" "$corpus"
    ;;
esac
