;; Has tables of 1,000,001 entries together.
(module
  (memory (export "memory") 1)
  (table 500000 funcref)
  (table 500001 funcref)
  (func (export "_start")))
