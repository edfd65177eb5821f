;; Throws an exception.
(module
  (memory (export "memory") 1)
  (tag $oops)
  (func (export "_start") (throw $oops)))
