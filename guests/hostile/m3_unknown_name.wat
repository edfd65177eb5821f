;; Imports a function that WASI preview 1 does not have, and one of another module.
(module
  (import "wasi_snapshot_preview1" "fd_teleport" (func (param i32) (result i32)))
  (import "env" "log" (func (param i32)))
  (memory (export "memory") 1)
  (func (export "_start")))
