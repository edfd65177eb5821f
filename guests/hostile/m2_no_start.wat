;; Has no _start.
(module (memory (export "memory") 1))
