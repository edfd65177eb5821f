//! Host functions that may wait, by values as they lie in registers: the C API's own way (wasmtime_linker_define_async_func) makes a
//! list of tagged values of each call, and lists of them back.

use std::os::raw::{c_char, c_int, c_void};

use wasmtime::Caller;
use wasmtime_c_api::{wasmtime_caller_t, wasmtime_linker_t, WasmtimeStoreData};

/// What a callback says of a call: it is over and `result` written, it is to be asked again, the guest ends here.
const DONE: c_int = 0;
const WAITS: c_int = 1;

type Callback = extern "C" fn(
    env: *mut c_void,
    caller: *mut wasmtime_caller_t,
    params: *const u64,
    result: *mut i32,
) -> c_int;

#[derive(Clone, Copy)]
struct Import {
    callback: Callback,
    env: *mut c_void,
}
// Stores are used by one thread of a worker only.
unsafe impl Send for Import {}
unsafe impl Sync for Import {}

const MOST_PARAMS: usize = 9; // of path_open

/// Asks until it is done, and stands still on its fiber between two askings. Most calls are over at once: then nothing is made for
/// them, as an async function would make a future of each.
fn answer(
    mut caller: Caller<'_, WasmtimeStoreData>,
    import: Import,
    params: &[u64; MOST_PARAMS],
) -> wasmtime::Result<i32> {
    loop {
        let mut result = 0;
        let guest: *mut Caller<'_, WasmtimeStoreData> = &mut caller;
        match (import.callback)(
            import.env,
            guest as *mut wasmtime_caller_t,
            params.as_ptr(),
            &mut result,
        ) {
            DONE => return Ok(result),
            WAITS => caller.stand_still()?, // patches/wasmtime.patch
            _ => return Err(wasmtime::Error::msg("ended by the host")),
        }
    }
}

trait Raw {
    fn raw(self) -> u64;
}
impl Raw for i32 {
    fn raw(self) -> u64 {
        self as u32 as u64
    }
}
impl Raw for i64 {
    fn raw(self) -> u64 {
        self as u64
    }
}

/// One typed closure for each signature that there is; each returns an i32.
macro_rules! define {
    ($linker:expr, $module:expr, $name:expr, $import:expr, $wanted:expr, $($signature:literal: $($param:ident $type:ty),*;)*) => {
        match $wanted {
            $($signature => $linker.func_wrap(
                $module,
                $name,
                move |caller: Caller<'_, WasmtimeStoreData> $(, $param: $type)*| -> wasmtime::Result<i32> {
                    let mut params = [0; MOST_PARAMS];
                    let given: &[u64] = &[$($param.raw()),*];
                    params[..given.len()].copy_from_slice(given);
                    answer(caller, $import, &params)
                },
            ).map(|_| ()),)*
            _ => Err(wasmtime::Error::msg("no import that waits has this signature: add it to engine/waiting.rs")),
        }
    };
}

/// Defines an import that may wait and returns an i32. `signature`: its parameters, 'i' for an i32 and 'I' for an i64. The callback
/// gets them zero-extended, is called at once, and again whenever the guest's future is polled as long as it says WAITS.
/// Returns 0, or 1 with the message written.
#[no_mangle]
pub unsafe extern "C" fn subako_linker_define_waiting(
    linker: *mut wasmtime_linker_t,
    module: *const u8,
    module_len: usize,
    name: *const u8,
    name_len: usize,
    signature: *const u8,
    signature_len: usize,
    callback: Callback,
    env: *mut c_void,
    message: *mut c_char,
    capacity: usize,
) -> c_int {
    type Linker = wasmtime::Linker<WasmtimeStoreData>;
    const _: () = assert!(
        std::mem::size_of::<wasmtime_linker_t>() == std::mem::size_of::<Linker>()
            && std::mem::size_of::<wasmtime_caller_t>()
                == std::mem::size_of::<Caller<'_, WasmtimeStoreData>>()
    );
    let text = |data, len| String::from_utf8_lossy(std::slice::from_raw_parts(data, len)).into_owned();
    let (module, name) = (text(module, module_len), text(name, name_len));
    let import = Import { callback, env };
    let linker = &mut *(linker as *mut Linker);
    let defined = define!(linker, &module, &name, import, text(signature, signature_len).as_str(),
        "":;
        "i": a i32;
        "I": a i64;
        "ii": a i32, b i32;
        "iI": a i32, b i64;
        "iII": a i32, b i64, c i64;
        "iii": a i32, b i32, c i32;
        "iIIi": a i32, b i64, c i64, d i32;
        "iIii": a i32, b i64, c i32, d i32;
        "iiii": a i32, b i32, c i32, d i32;
        "iiiIi": a i32, b i32, c i32, d i64, e i32;
        "iiiii": a i32, b i32, c i32, d i32, e i32;
        "iiiiii": a i32, b i32, c i32, d i32, e i32, f i32;
        "iiiiIIi": a i32, b i32, c i32, d i32, e i64, f i64, g i32;
        "iiiiiii": a i32, b i32, c i32, d i32, e i32, f i32, g i32;
        "iiiiiIIii": a i32, b i32, c i32, d i32, e i32, f i64, g i64, h i32, i i32;
    );
    match defined {
        Ok(()) => 0,
        Err(error) => {
            crate::write_text(&format!("{error:#}"), message, capacity);
            1
        }
    }
}
