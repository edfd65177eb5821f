;; Starts with more than 512 MiB.
(module (memory (export "memory") 8193) (func (export "_start")))
