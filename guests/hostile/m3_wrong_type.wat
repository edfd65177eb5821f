;; Imports fd_close with a parameter too many.
(module
  (import "wasi_snapshot_preview1" "fd_close" (func (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")))
