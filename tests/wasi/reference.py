"""Wasmtime as the other host of a module of calls.py: the package `wasmtime` of PyPI, which tests don't need."""

import wasmtime

from calls import PAGE, Outcome, errno_name, module


class Reference:
    """`trees`: (directory of the host, its name for the guest, writable), preopened in this order."""

    def __init__(self, trees):
        self.trees = trees
        self.engine = wasmtime.Engine()
        self.numbers = []
        self.linker = wasmtime.Linker(self.engine)
        self.linker.define_wasi()
        i32 = wasmtime.ValType.i32()
        answer, memory = wasmtime.FuncType([i32], [i32]), wasmtime.FuncType([i32, i32], [i32])
        self.linker.define_func("test", "answer", answer, lambda number: self.numbers.append(number) or 0)
        self.linker.define_func("test", "memory", memory, lambda at, length: 0)

    def store(self, output):
        config = wasmtime.WasiConfig()
        config.argv = ["module"]
        config.stdout_custom = config.stderr_custom = lambda written: output.extend(written)
        for host, guest, writable in self.trees:
            config.preopen_dir(str(host), guest, writable)
        store = wasmtime.Store(self.engine)
        store.set_wasi(config)
        return store

    def run(self, calls, data):
        output, memory, end = bytearray(), b"", []
        self.numbers.clear()
        store = self.store(output)
        instance = self.linker.instantiate(store, wasmtime.Module(self.engine, module(calls, data)))
        try:
            instance.exports(store)["_start"](store)
            memory = bytes(instance.exports(store)["memory"].read(store, 0, PAGE))
        except wasmtime.ExitTrap as exit:
            end = [f"EXIT {exit.code}"]
        except (wasmtime.Trap, wasmtime.WasmtimeError):
            end = ["TRAP"]
        return Outcome([errno_name(number & 0xFFFFFFFF) for number in self.numbers] + end, memory, bytes(output))

    def close(self):
        pass
