;; Makes a tail call.
(module
  (memory (export "memory") 1)
  (func $next)
  (func (export "_start") (return_call $next)))
