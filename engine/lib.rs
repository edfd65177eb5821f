//! What Wasmtime's C API lacks, as plain C functions. Declared for C++ in shims.h beside this file.

pub use wasmtime_c_api::*;

mod inspect;
mod waiting;

/// Rust's own answer to a failed allocation is a message and an abort; a builder at its memory limit is to be
/// told from one that crashed (child/spawn.h: kExitOutOfMemory).
struct ExitWhenEmpty;

const EXIT_OUT_OF_MEMORY: c_int = 77;

extern "C" {
    fn _exit(status: c_int) -> !;
}

unsafe impl std::alloc::GlobalAlloc for ExitWhenEmpty {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        or_exit(std::alloc::System.alloc(layout))
    }
    unsafe fn alloc_zeroed(&self, layout: std::alloc::Layout) -> *mut u8 {
        or_exit(std::alloc::System.alloc_zeroed(layout))
    }
    unsafe fn realloc(&self, old: *mut u8, layout: std::alloc::Layout, size: usize) -> *mut u8 {
        or_exit(std::alloc::System.realloc(old, layout, size))
    }
    unsafe fn dealloc(&self, old: *mut u8, layout: std::alloc::Layout) {
        std::alloc::System.dealloc(old, layout)
    }
}

unsafe fn or_exit(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        _exit(EXIT_OUT_OF_MEMORY)
    }
    memory
}

#[global_allocator]
static ALLOCATOR: ExitWhenEmpty = ExitWhenEmpty;

use std::future::Future;
use std::os::fd::FromRawFd;
use std::os::raw::{c_char, c_int, c_void};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Copies `text` into a C buffer of `capacity` bytes, cut at a character and ended by a NUL.
unsafe fn write_text(text: &str, buffer: *mut c_char, capacity: usize) {
    if capacity == 0 {
        return;
    }
    let mut length = text.len().min(capacity - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    std::ptr::copy_nonoverlapping(text.as_ptr(), buffer as *mut u8, length);
    *buffer.add(length) = 0;
}

/// Is this exactly WebAssembly 2.0? The C API can't switch extended constant expressions off and says
/// less about what it refuses. Returns 0, or 1 with the message and the byte offset written.
#[no_mangle]
pub unsafe extern "C" fn subako_validate_wasm2(
    data: *const u8,
    len: usize,
    message: *mut c_char,
    capacity: usize,
    offset: *mut u64,
) -> c_int {
    let bytes = std::slice::from_raw_parts(data, len);
    let features = wasmparser::WasmFeatures::WASM2;
    match wasmparser::Validator::new_with_features(features).validate_all(bytes) {
        Ok(_) => 0,
        Err(error) => {
            write_text(error.message(), message, capacity);
            *offset = error.offset() as u64;
            1
        }
    }
}

/// Switches off what the C API has no setter for.
#[no_mangle]
pub unsafe extern "C" fn subako_config_wasm2(config: *mut wasm_config_t) {
    // wasm_config_t has one field, the Config; its type is private to the C API's crate.
    const _: () = assert!(
        std::mem::size_of::<wasm_config_t>() == std::mem::size_of::<wasmtime::Config>()
    );
    let config = &mut *(config as *mut wasmtime::Config);
    config.wasm_extended_const(false);
}

/// What one store may hold, and what it was refused. Owned by C++, which keeps it alive as long as the store.
#[repr(C)]
pub struct subako_limits {
    pub max_bytes: u64,
    pub max_elements: u64,
    pub bytes: u64,
    pub elements: u64,
    pub refused: u64,
    /// Where the memory lies, once that is known; null before.
    pub memory: *mut u8,
    /// From here on it is in huge pages.
    pub huge_from: u64,
    /// Asked before each growth that the limits allow, with its bytes; the guest stands on its fiber until the answer is yes or no.
    pub may_grow: Option<extern "C" fn(env: *mut c_void, bytes: u64) -> c_int>,
    pub env: *mut c_void,
}

/// What may_grow says; LATER: ask again when the guest's future is polled.
const NO: c_int = 0;
const YES: c_int = 1;

const ELEMENT_BYTES: u64 = 8;

extern "C" {
    fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
}
const MADV_HUGEPAGE: c_int = 14;

impl subako_limits {
    /// One instruction can fill all of a memory, and none of it looks at an epoch: 512 MiB take 190 to 860 ms in pages of 4 KiB, 40 ms in
    /// huge ones. All that the memory may ever have is asked for at once, as the kernel splits its maps at each asking. Where
    /// it has no huge pages to give, it is slow.
    fn ask_for_huge_pages(&self, before: u64) {
        if self.memory.is_null() || before > self.huge_from || self.bytes <= self.huge_from {
            return;
        }
        unsafe {
            madvise(
                self.memory.add(self.huge_from as usize) as *mut c_void,
                (self.max_bytes - self.huge_from) as usize,
                MADV_HUGEPAGE,
            );
        }
    }
}

/// Tells where a store's memory lies: it is known only when the instance is there.
#[no_mangle]
pub unsafe extern "C" fn subako_limits_memory(limits: *mut subako_limits, memory: *mut u8) {
    let limits = &mut *limits;
    limits.memory = memory;
    limits.ask_for_huge_pages(0);
}

struct Limiter(*mut subako_limits);
// A store is used by one thread of a worker only.
unsafe impl Send for Limiter {}
unsafe impl Sync for Limiter {}

/// A growth whose answer may take a while.
struct Growth {
    limits: *mut subako_limits,
    bytes: u64,
    book: fn(&mut subako_limits, u64),
    amount: u64,
}
unsafe impl Send for Growth {}

impl Future for Growth {
    type Output = wasmtime::Result<bool>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let growth = self.get_mut();
        let limits = unsafe { &mut *growth.limits };
        let answer = limits.may_grow.map_or(YES, |ask| ask(limits.env, growth.bytes));
        match answer {
            NO => Poll::Ready(Ok(false)),
            YES => {
                (growth.book)(limits, growth.amount);
                Poll::Ready(Ok(true))
            }
            _ => Poll::Pending,
        }
    }
}

type Answer<'a> = Pin<Box<dyn Future<Output = wasmtime::Result<bool>> + Send + 'a>>;

fn at_once<'a>(answer: bool) -> Answer<'a> {
    Box::pin(std::future::ready(Ok(answer)))
}

/// The module's own maximum: Wasmtime asks us first and then refuses such a growth itself, so it is neither booked nor ours.
fn exceeds(desired: usize, maximum: Option<usize>) -> bool {
    maximum.is_some_and(|most| desired > most)
}

/// The C API's own limiter counts each table by itself, doesn't tell of a refused growth, and can't wait for an answer. Asynchronous
/// functions as their macro would write them.
impl wasmtime::ResourceLimiterAsync for Limiter {
    fn memory_growing<'s, 'a>(
        &'s mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> Answer<'a>
    where
        's: 'a,
        Self: 'a,
    {
        let limits = unsafe { &mut *self.0 };
        let more = (desired - current) as u64;
        if limits.bytes.saturating_add(more) > limits.max_bytes {
            limits.refused += 1;
            return at_once(false);
        }
        if exceeds(desired, maximum) {
            return at_once(true);
        }
        Box::pin(Growth {
            limits: self.0,
            bytes: more,
            book: |limits, more| {
                let before = limits.bytes;
                limits.bytes += more;
                limits.ask_for_huge_pages(before);
            },
            amount: more,
        })
    }

    fn table_growing<'s, 'a>(
        &'s mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> Answer<'a>
    where
        's: 'a,
        Self: 'a,
    {
        let limits = unsafe { &mut *self.0 };
        let more = (desired - current) as u64;
        if limits.elements.saturating_add(more) > limits.max_elements {
            limits.refused += 1;
            return at_once(false);
        }
        if exceeds(desired, maximum) {
            return at_once(true);
        }
        Box::pin(Growth {
            limits: self.0,
            bytes: more.saturating_mul(ELEMENT_BYTES),
            book: |limits, more| limits.elements += more,
            amount: more,
        })
    }

    fn memories(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        100
    }
}

/// Puts a store under `limits`.
#[no_mangle]
pub unsafe extern "C" fn subako_store_limits(
    store: *mut wasmtime_store_t,
    limits: *mut subako_limits,
) {
    const _: () = assert!(
        std::mem::size_of::<wasmtime_store_t>() == std::mem::size_of::<WasmtimeStore>()
    );
    let store = &mut *(store as *mut WasmtimeStore);
    let mut limiter = Box::new(Limiter(limits));
    store.limiter_async(move |_| {
        // The closure owns the limiter, and the store owns the closure.
        let limiter: *mut Limiter = &mut *limiter;
        &mut *limiter
    });
}

/// Loads a compiled module from an open file, mapping it (the C API wants a path). Takes the descriptor
/// over. Returns null with the message written where Wasmtime refuses it. Only for bytes that a builder of
/// ours wrote: a forged file is native code.
#[no_mangle]
pub unsafe extern "C" fn subako_module_from_fd(
    engine: *const wasm_engine_t,
    fd: c_int,
    message: *mut c_char,
    capacity: usize,
) -> *mut wasmtime_module_t {
    const _: () = assert!(
        std::mem::size_of::<wasm_engine_t>() == std::mem::size_of::<wasmtime::Engine>()
            && std::mem::size_of::<wasmtime_module_t>() == std::mem::size_of::<wasmtime::Module>()
    );
    let engine = &*(engine as *const wasmtime::Engine);
    let file = std::fs::File::from_raw_fd(fd);
    match wasmtime::Module::deserialize_open_file(engine, file) {
        Ok(module) => Box::into_raw(Box::new(module)) as *mut wasmtime_module_t,
        Err(error) => {
            write_text(&format!("{error:#}"), message, capacity);
            std::ptr::null_mut()
        }
    }
}

/// Keeps what is hashed instead of hashing it: core does that, with a hash of its choice.
struct Collector(Vec<u8>);

impl std::hash::Hasher for Collector {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn finish(&self) -> u64 {
        0
    }
}

/// All that decides over generated code, as Wasmtime sees it: its version, the target, the compiler's settings, the
/// features of this CPU that it uses. Engines for which it is the same load each other's compiled modules. Returns its size;
/// at most `capacity` bytes of it are written.
#[no_mangle]
pub unsafe extern "C" fn subako_engine_compatibility(
    engine: *const wasm_engine_t,
    out: *mut u8,
    capacity: usize,
) -> usize {
    use std::hash::Hash;
    let engine = &*(engine as *const wasmtime::Engine);
    let mut collector = Collector(Vec::new());
    engine.precompile_compatibility_hash().hash(&mut collector);
    let length = collector.0.len();
    if capacity > 0 {
        std::ptr::copy_nonoverlapping(collector.0.as_ptr(), out, length.min(capacity));
    }
    length
}

#[no_mangle]
pub extern "C" fn subako_val_size() -> usize {
    std::mem::size_of::<wasmtime_val_t>()
}

#[no_mangle]
pub extern "C" fn subako_val_raw_size() -> usize {
    std::mem::size_of::<wasmtime::ValRaw>()
}
