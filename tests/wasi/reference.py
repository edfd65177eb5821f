"""Wasmtime as the other host of a module of calls.py: the package `wasmtime` of PyPI, which tests don't need."""

import wasmtime

from calls import PAGE, Outcome, errno_name, module


class Reference:
    """`trees`: (directory of the host, its name for the guest, writable), preopened in this order."""

    def __init__(self, trees):
        self.trees = trees
        self.engine = wasmtime.Engine()

    def run(self, calls, data):
        store = wasmtime.Store(self.engine)
        config = wasmtime.WasiConfig()
        config.argv = ["module"]
        output = bytearray()
        config.stdout_custom = config.stderr_custom = lambda written: output.extend(written)
        for host, guest, writable in self.trees:
            config.preopen_dir(str(host), guest, writable)
        store.set_wasi(config)
        numbers = []
        linker = wasmtime.Linker(self.engine)
        linker.define_wasi()
        i32 = wasmtime.ValType.i32()
        linker.define_func(
            "test", "answer", wasmtime.FuncType([i32], [i32]), lambda number: numbers.append(number) or 0
        )
        linker.define_func("test", "memory", wasmtime.FuncType([i32, i32], [i32]), lambda at, length: 0)
        instance = linker.instantiate(store, wasmtime.Module(self.engine, module(calls, data)))
        end, memory = None, b""
        try:
            instance.exports(store)["_start"](store)
            memory = bytes(instance.exports(store)["memory"].read(store, 0, PAGE))
        except wasmtime.ExitTrap as exit:
            end = f"EXIT {exit.code}"
        except (wasmtime.Trap, wasmtime.WasmtimeError):
            end = "TRAP"
        answers = [errno_name(number & 0xFFFFFFFF) for number in numbers]
        return Outcome(answers + ([end] if end else []), memory, bytes(output))

    def close(self):
        pass
