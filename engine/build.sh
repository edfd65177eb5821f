#!/bin/bash
# Builds the engine library (Wasmtime's C API, with what patches/ changes in it, and our shims) and prints the folder that holds it:
#   lib/libsubako_engine.a   include/   (Wasmtime's headers, with a conf.h of the same features, and shims.h)
# It takes minutes, so the result is kept under a key of its sources, lock file, compiler and flags. Who works on the crate sets
# SUBAKO_ENGINE_TARGET to a folder (an absolute path): Cargo's target is then kept there, and only what changed is built again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { echo "$*" >&2; }

cargo=${CARGO:-cargo}
command -v "$cargo" >/dev/null || { say "engine: cargo is missing; run 'make setup'"; exit 1; }
rustc_version=$("${RUSTC:-rustc}" -vV)  # its host too
rustflags="${RUSTFLAGS:+$RUSTFLAGS }--cap-lints allow"  # the patched crates are no longer from a registry, whose lints Cargo caps
# Of names and contents: a patch's name says which crate it changes.
key=$( (cd "$here" && sha256sum Cargo.toml Cargo.lock ./*.rs shims.h build.sh patches/*; echo "$rustc_version $rustflags") |
  sha256sum | cut -c1-16)
cache=${SUBAKO_ENGINE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/subako/engine}
out=$cache/$key
if [ -f "$out/lib/libsubako_engine.a" ]; then
  echo "$out"
  exit 0
fi

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9  # two builds at once would do the same work twice
if [ ! -f "$out/lib/libsubako_engine.a" ]; then
  say "engine: building the library (2 to 6 minutes on two cores; kept in $cache for the next time)"
  rm -rf "$cache"/build.*  # of builds that were killed: we have the lock
  work=$(mktemp -d "$cache/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # Fetched as the lock file says, with its checksums; then the patched crates take the place of their originals.
  (cd "$here" && "$cargo" metadata --format-version 1 --locked) |
    python3 -c 'import json,os,sys; [print(p["name"], os.path.dirname(p["manifest_path"])) for p in json.load(sys.stdin)["packages"]]' >"$work/sources"
  source_of() { sed -n "s/^$1 //p" "$work/sources"; }
  mkdir "$work/crate" "$work/patched"
  cp "$here"/{Cargo.toml,Cargo.lock,*.rs} "$work/crate/"
  echo "[patch.crates-io]" >>"$work/crate/Cargo.toml"
  for patch in "$here"/patches/*.patch; do
    name=$(basename "$patch" .patch)
    original=$(source_of "$name")
    cp -r "$original" "$work/patched/$name"
    (cd "$work/patched/$name" && GIT_CEILING_DIRECTORIES=$work git apply "$patch")
    # Not by git: of a patch in its own format it passes over files that aren't beneath it, answers 0, and says that the patch is in.
    for file in $(sed -n 's|^+++ b/||p' "$patch"); do
      if cmp -s "$original/$file" "$work/patched/$name/$file"; then say "engine: $patch didn't change $name's $file"; exit 1; fi
    done
    echo "$name = { path = \"$work/patched/$name\" }" >>"$work/crate/Cargo.toml"
    sed -i "/^name = \"$name\"\$/,/^\$/{/^source = /d;/^checksum = /d}" "$work/crate/Cargo.lock"
  done
  (cd "$work/crate" && RUSTFLAGS="$rustflags" CARGO_TARGET_DIR="${SUBAKO_ENGINE_TARGET:-$work/target}" "$cargo" build --release --locked >&2)
  api=$(source_of wasmtime-c-api-impl)
  mkdir -p "$work/out/lib" "$work/out/include"
  cp "${SUBAKO_ENGINE_TARGET:-$work/target}/release/libsubako_engine.a" "$work/out/lib/"
  cp -r "$api/include/." "$work/out/include/"
  cp "$here/shims.h" "$work/out/include/subako_engine_shims.h"
  # The same features as in Cargo.toml.
  {
    echo '#ifndef WASMTIME_CONF_H'
    echo '#define WASMTIME_CONF_H'
    for feature in PARALLEL_COMPILATION DISABLE_LOGGING GC GC_NULL ASYNC CRANELIFT POOLING_ALLOCATOR COMPILER; do
      echo "#define WASMTIME_FEATURE_$feature"
    done
    echo '#endif'
  } >"$work/out/include/wasmtime/conf.h"
  rm -rf "$out"
  mv "$work/out" "$out"
fi
echo "$out"
