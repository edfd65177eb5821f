#!/usr/bin/env python3
"""One run of all measurements, paired: what is compared is run in turn, and the ratio of the medians is what counts.

    bench.py BUILD [--json FILE] [--rounds N] [--seconds S]

BUILD holds bin/subako, bench/worker_bench and guests/. Beside the project's own C guest it measures the packages of
$SUBAKO_BENCH_PACKAGES (a folder of packages), where that is set. Against the `wasmtime` command line where $WASMTIME names one.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time



class Bench:
    def __init__(self, options):
        self.build = options.build.resolve()
        self.rounds = options.rounds
        self.seconds = options.seconds
        self.rows = []
        self.wasmtime = os.environ.get("WASMTIME")

    def worker(self, what, package, tool, arguments, amount):
        done = subprocess.run(
            [self.build / "bench" / "worker_bench", what, package / "module.wasm", tool, arguments, str(amount)],
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)

    def row(self, name, ours, theirs, unit, bar, better):
        """`better`: 'low' where ours/theirs should be at most the bar, 'high' where at least."""
        ratio = ours / theirs
        met = ratio <= bar if better == "low" else ratio >= bar
        sign = "≤" if better == "low" else "≥"
        self.rows.append(
            {"name": name, "ours": ours, "theirs": theirs, "unit": unit, "ratio": ratio, "bar": f"{sign} {bar}", "met": met}
        )
        print(
            f"{name:<58} {ours:>11.2f} {theirs:>11.2f} {unit:<8} {ratio:>6.2f}  {sign} {bar:<5} {'met' if met else 'MISSED'}",
            flush=True,
        )

    def paired(self, ours, theirs):
        """Medians of `rounds` runs of each, in turn."""
        mine, other = [], []
        for _ in range(self.rounds):
            mine.append(ours())
            other.append(theirs())
        return statistics.median(mine), statistics.median(other)

    def call_in_worker(self, package, tool, arguments):
        ours, theirs = self.paired(
            lambda: self.worker("calls", package, tool, arguments, self.seconds)["us"],
            lambda: self.worker("bare", package, tool, arguments, self.seconds)["us"],
        )
        self.row(f"{package.name}: a call in the worker / bare loop", ours, theirs, "µs", 1.5, "low")

    def two_workers(self, package, tool, arguments):
        def together():
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                runs = [pool.submit(self.worker, "calls", package, tool, arguments, self.seconds) for _ in range(2)]
                return sum(run.result()["calls_per_second"] for run in runs)

        two, one = self.paired(
            together, lambda: self.worker("calls", package, tool, arguments, self.seconds)["calls_per_second"]
        )
        self.row(f"{package.name}: two workers / one", two, one, "calls/s", 1.8, "high")

    def compile(self, package):
        subako = self.build / "bin" / "subako"

        def ours():
            done = subprocess.run([subako, "check", "--json", package], stdout=subprocess.PIPE, check=True)
            return json.loads(done.stdout)["timings_ms"]["compile"]

        with tempfile.TemporaryDirectory() as folder:

            def theirs():
                begin = time.perf_counter()
                subprocess.run(
                    [self.wasmtime, "compile", "-W", "epoch-interruption=y", package / "module.wasm", "-o", f"{folder}/o"],
                    check=True,
                )
                return (time.perf_counter() - begin) * 1000

            mine, other = self.paired(ours, theirs)
        self.row(f"{package.name}: compile phase / wasmtime compile", mine, other, "ms", 1.1, "low")

    def held(self, package, tool, arguments):
        for guests in (1, 100, 1000):
            kib = self.worker("held", package, tool, arguments, guests)
            self.rows.append({"name": f"{package.name}: {guests} guests held", **kib})
            print(
                f"{package.name}: resident with {guests:>4} guests held: {kib['held_kib']:>8} KiB"
                f" ({(kib['held_kib'] - kib['before_kib']) / guests:.0f} KiB each), {kib['after_kib']} KiB after they have gone",
                flush=True,
            )


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "load": os.getloadavg()[0],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    bench = Bench(options)
    about = machine()
    version = subprocess.run([bench.build / "bin" / "subako", "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    print(f"{version}; {about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, load {about['load']:.2f}")
    if about["load"] > 0.5:
        print("note: the machine is not idle", file=sys.stderr)
    print(f"{'':<58} {'ours':>11} {'theirs':>11} {'':<8} {'ratio':>6}  bar")
    hold = bench.build / "guests" / "hold"
    jobs = [(hold, "answer", "{}")]
    others = os.environ.get("SUBAKO_BENCH_PACKAGES")
    if others:
        jobs += [(pathlib.Path(others) / name, "greet", '{"name":"Ada"}') for name in os.listdir(others) if name.endswith("-kit")]
    else:
        print("only the project's own C guest: SUBAKO_BENCH_PACKAGES names no folder of others", file=sys.stderr)
    for job in jobs:
        bench.call_in_worker(*job)
    for job in jobs:
        bench.two_workers(*job)
    if bench.wasmtime:
        for package, _, _ in jobs:
            bench.compile(package)
    else:
        print("no comparison with wasmtime: $WASMTIME names no executable", file=sys.stderr)
    bench.held(hold, "hold", "{}")
    if options.json:
        options.json.write_text(json.dumps({"machine": about, "version": version, "rows": bench.rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
