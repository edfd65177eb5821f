#!/usr/bin/env python3
"""Runs the preview 1 tests of WebAssembly/wasi-testsuite on our WASI.

    testsuite.py SUITE RUN_MODULE [--only NAME]

SUITE is a checkout of its branch prod/testsuite-base, which has the modules as bytes; RUN_MODULE is tests/wasi/run_module of a
build. Each test is NAME.wasm and perhaps NAME.json beside it: arguments, environment, a directory that is preopened as "/" (a
copy of it), what it prints and how it exits. The Rust tests run twice: as they are, and with ERRNO_MODE_UNIX, which leaves
them no choice between errors. No test is left out: fd_allocate's refusal (F3) is an answer that the suite knows. The last line
counts modules; the status is 0 where none failed.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SECONDS = 20


def specification(module):
    path = module.with_suffix(".json")
    found = json.loads(path.read_text()) if path.exists() else {}
    unknown = found.keys() - {"args", "env", "root", "exit_code", "stdout", "stderr"}
    if unknown:
        raise SystemExit(f"{path} says {', '.join(sorted(unknown))}, which this program doesn't know")
    return found


def faults(run_module, module, found, environment, scratch):
    """What went otherwise than the specification says, as sentences."""
    command = [run_module]
    for name, value in {**found.get("env", {}), **environment}.items():
        command += ["--env", f"{name}={value}"]
    if "root" in found:
        root = scratch / "root"
        shutil.copytree(module.parent / found["root"], root, symlinks=True)
        command += ["--dir", f"{root}::/"]
    command += [module, *found.get("args", [])]
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return [f"it didn't end within {SECONDS} s"]
    wrong = []
    if ran.returncode != found.get("exit_code", 0):
        wrong.append(f"exit status {ran.returncode} and not {found.get('exit_code', 0)}")
    for stream in ("stdout", "stderr"):
        if stream in found and getattr(ran, stream).decode(errors="replace") != found[stream]:
            wrong.append(f"{stream} is {getattr(ran, stream)!r} and not {found[stream]!r}")
    if wrong and ran.stderr:
        wrong.append(ran.stderr.decode(errors="replace").strip()[-400:].replace("\n", " | "))
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("run_module", type=pathlib.Path)
    parser.add_argument("--only", help="the test of this name")
    options = parser.parse_args()

    modules = sorted(options.suite.glob("tests/*/testsuite/wasm32-wasip1/*.wasm"))
    if not modules:
        raise SystemExit(f"no preview 1 tests at {options.suite}: it must be the branch prod/testsuite-base")
    passed = failed = 0
    for module in modules:
        language = module.parts[-4]
        name = f"{language}/{module.stem}"
        if options.only and options.only not in (name, module.stem):
            continue
        wrong = []
        for environment in [{}, {"ERRNO_MODE_UNIX": "1"}] if language == "rust" else [{}]:
            with tempfile.TemporaryDirectory(prefix="wasi-testsuite-") as scratch:
                for fault in faults(
                    options.run_module.resolve(), module, specification(module), environment, pathlib.Path(scratch)
                ):
                    wrong.append(" ".join([*environment, fault]))
        if wrong:
            failed += 1
            print(f"{name}: {'; '.join(wrong)}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
