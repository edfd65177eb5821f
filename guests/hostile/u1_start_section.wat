;; Its start section never ends: the time of the upload check holds for instantiation too.
(module
  (memory (export "memory") 1)
  (func $for_ever (loop $again (br $again)))
  (start $for_ever)
  (func (export "_start")))
