#!/bin/bash
# Prints the path of a cargo that is new enough for the engine, whose rustc lies beside it; prints nothing where there is none.
# Looked for in $CARGO, on PATH, where Debian puts it and where rustup does.
least=1.95

new_enough() {  # <program>: does its --version say at least $least?
  local version
  version=$("$1" --version 2>/dev/null | awk '{print $2; exit}')
  [ -n "$version" ] && [ "$(printf '%s\n%s\n' "$least" "$version" | sort -V | head -n 1)" = "$least" ]
}

for cargo in "$CARGO" $(type -ap cargo) /usr/bin/cargo "$HOME/.cargo/bin/cargo"; do
  [ -x "$cargo" ] && [ -x "${cargo%/*}/rustc" ] || continue
  if new_enough "$cargo" && new_enough "${cargo%/*}/rustc"; then
    echo "$cargo"
    exit 0
  fi
done
