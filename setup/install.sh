#!/bin/bash
# Installs with apt what building and testing need, on Debian 12, as root or with sudo. Installs only what is missing and says
# what that is; with nothing missing it touches nothing and needs no rights.
#
#   setup/install.sh           what building and all tests need
#   setup/install.sh --list    only prints the packages that are missing
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

packages=(
  # the C++ side
  g++ cmake ninja-build make pkg-config git ca-certificates ccache
  protobuf-compiler libprotobuf-dev libboost1.81-dev libboost-json1.81-dev libarchive-dev zlib1g-dev
  libpng-dev libjpeg62-turbo-dev libgif-dev libwebp-dev
  libfmt-dev libcli11-dev libssl-dev libxxhash-dev libseccomp-dev
  # tests
  libgtest-dev libgmock-dev librapidcheck-dev python3
  # the project's own guests, in C and WAT for WebAssembly
  clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32 wabt
  # the fuzzers, and what tells how much they reach
  libclang-rt-19-dev llvm-19
)

say() { echo "setup: $*" >&2; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]; }

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
# pytest and cargo may have come from elsewhere.
python3 -c 'import pytest' 2>/dev/null || /usr/bin/python3 -c 'import pytest' 2>/dev/null || missing+=(python3-pytest)
need_rust=$([ -n "$("$here/find_cargo.sh")" ] || echo yes)
if [ "$need_rust" ]; then missing+=(rustc-web cargo-web); fi

if [ "${1:-}" = --list ]; then
  [ ${#missing[@]} -eq 0 ] || printf '%s\n' "${missing[@]}"
  exit 0
fi
if [ ${#missing[@]} -eq 0 ]; then
  say "everything is here already"
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  say "this machine has no apt-get; install these by other means (Debian's names): ${missing[*]}"
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    say "run as root, or install sudo; missing: ${missing[*]}"
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {  # quiet unless it fails
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "apt-get $1 failed; the lines above are its last"
    exit 1
  fi
}

say "reading apt's lists"
apt update

# Debian's rustc-web and rustup can't be installed at once.
if [ "$need_rust" ]; then
  for other in rustup rustc cargo; do
    if installed "$other"; then
      say "note: apt removes $other (too old here, and not to be had beside rustc-web)"
    fi
  done
fi
say "installing ${#missing[@]} packages and what they need: ${missing[*]}"
apt install --no-install-recommends "${missing[@]}"

if [ -z "$("$here/find_cargo.sh")" ]; then
  say "the newest cargo and rustc that apt has are too old for the engine library. Its version is in bookworm-security:" \
    "add 'deb http://deb.debian.org/debian-security bookworm-security main' to apt's sources, or install Rust with rustup"
  exit 1
fi
say "done"
