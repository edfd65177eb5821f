//! The outside of a module, without compiling it: imports, exports, memories and tables, each with its
//! type. The binary format is wasmparser's to read; which of it is acceptable is for C++ to say.

use std::os::raw::c_void;
use wasmparser::{
    CompositeInnerType, ExternalKind, FuncType, Parser, Payload, TypeRef, ValType,
};

/// One item. Texts and types are only valid inside the callback.
#[repr(C)]
pub struct subako_item {
    pub what: u8,      // b'i' import, b'e' export, b'm' memory, b't' table
    pub kind: u8,      // b'f' function, b'm' memory, b't' table, b'g' global, b'x' tag
    pub typed: u8,     // 1: params and results are known
    pub module: *const u8,
    pub module_len: usize,
    pub name: *const u8,
    pub name_len: usize,
    pub params: *const u8, // b'i' i32, b'I' i64, b'f' f32, b'F' f64, b'v' v128, b'r' a reference
    pub params_len: usize,
    pub results: *const u8,
    pub results_len: usize,
    pub minimum: u64, // of a memory in bytes, of a table in elements; saturated
}

type Callback = extern "C" fn(*mut c_void, *const subako_item);

fn letters(types: &[ValType]) -> Vec<u8> {
    types
        .iter()
        .map(|t| match t {
            ValType::I32 => b'i',
            ValType::I64 => b'I',
            ValType::F32 => b'f',
            ValType::F64 => b'F',
            ValType::V128 => b'v',
            ValType::Ref(_) => b'r',
        })
        .collect()
}

struct Inspector {
    callback: Callback,
    context: *mut c_void,
    types: Vec<Option<FuncType>>,
    functions: Vec<u32>, // the type of each function, imported ones first
}

impl Inspector {
    fn emit(&self, what: u8, kind: u8, module: &str, name: &str, ty: Option<&FuncType>, minimum: u64) {
        let params = ty.map(|t| letters(t.params())).unwrap_or_default();
        let results = ty.map(|t| letters(t.results())).unwrap_or_default();
        let item = subako_item {
            what,
            kind,
            typed: ty.is_some() as u8,
            module: module.as_ptr(),
            module_len: module.len(),
            name: name.as_ptr(),
            name_len: name.len(),
            params: params.as_ptr(),
            params_len: params.len(),
            results: results.as_ptr(),
            results_len: results.len(),
            minimum,
        };
        (self.callback)(self.context, &item);
    }

    fn function_type(&self, type_index: u32) -> Option<&FuncType> {
        self.types.get(type_index as usize).and_then(|t| t.as_ref())
    }

    fn memory_bytes(memory: &wasmparser::MemoryType) -> u64 {
        let page = 1u64 << memory.page_size_log2.unwrap_or(16).min(63);
        memory.initial.saturating_mul(page)
    }

    fn run(&mut self, bytes: &[u8]) -> wasmparser::Result<()> {
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        for ty in group?.into_types() {
                            self.types.push(match ty.composite_type.inner {
                                CompositeInnerType::Func(f) => Some(f),
                                _ => None,
                            });
                        }
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        let (module, name) = (import.module, import.name);
                        match import.ty {
                            TypeRef::Func(index) => {
                                self.functions.push(index);
                                self.emit(b'i', b'f', module, name, self.function_type(index), 0);
                            }
                            TypeRef::FuncExact(index) => {
                                self.functions.push(index);
                                self.emit(b'i', b'f', module, name, self.function_type(index), 0);
                            }
                            TypeRef::Memory(memory) => {
                                self.emit(b'i', b'm', module, name, None, Self::memory_bytes(&memory))
                            }
                            TypeRef::Table(table) => {
                                self.emit(b'i', b't', module, name, None, table.initial)
                            }
                            TypeRef::Global(_) => self.emit(b'i', b'g', module, name, None, 0),
                            TypeRef::Tag(_) => self.emit(b'i', b'x', module, name, None, 0),
                        }
                    }
                }
                Payload::FunctionSection(section) => {
                    for index in section {
                        self.functions.push(index?);
                    }
                }
                Payload::MemorySection(section) => {
                    for memory in section {
                        self.emit(b'm', b'm', "", "", None, Self::memory_bytes(&memory?));
                    }
                }
                Payload::TableSection(section) => {
                    for table in section {
                        self.emit(b't', b't', "", "", None, table?.ty.initial);
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        let kind = match export.kind {
                            ExternalKind::Func | ExternalKind::FuncExact => b'f',
                            ExternalKind::Memory => b'm',
                            ExternalKind::Table => b't',
                            ExternalKind::Global => b'g',
                            ExternalKind::Tag => b'x',
                        };
                        let ty = if kind == b'f' {
                            let index = self.functions.get(export.index as usize).copied();
                            index.and_then(|i| self.function_type(i))
                        } else {
                            None
                        };
                        self.emit(b'e', kind, "", export.name, ty, 0);
                    }
                }
                // What comes after says nothing of the outside.
                Payload::CodeSectionStart { .. } | Payload::End(_) => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Calls `callback` for each item, in the order of the module. Stops in silence where the module is
/// malformed: subako_validate_wasm2 has said so.
#[no_mangle]
pub unsafe extern "C" fn subako_inspect_module(
    data: *const u8,
    len: usize,
    callback: Callback,
    context: *mut c_void,
) {
    let bytes = std::slice::from_raw_parts(data, len);
    let mut inspector =
        Inspector { callback, context, types: Vec::new(), functions: Vec::new() };
    let _ = inspector.run(bytes);
}
