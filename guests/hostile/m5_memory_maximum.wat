;; Declares a maximum of 4 GiB, which is fine for a module; it answers nothing.
(module (memory (export "memory") 1 65536) (func (export "_start")))
