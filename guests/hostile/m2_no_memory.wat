;; Exports no memory.
(module (func (export "_start")))
