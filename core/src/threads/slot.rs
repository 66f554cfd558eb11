//! The thread's slot: one pointer in thread-local storage.
//!
//! In a shared library, thread-local access costs a call unless the variable uses the initial-exec model, which Rust
//! cannot request. Some C libraries grant it to libraries that are loaded late (glibc keeps a small reserve for them).
//! On those, assembly defines and reads the slot. Elsewhere it is an ordinary thread-local variable.

/// A symbol with this name that another version of this crate in the same program does not have.
#[cfg(picollo_initial_exec)]
macro_rules! symbol {
    ($name:literal) => {
        concat!(
            "picollo_thread_",
            $name,
            "_",
            env!("CARGO_PKG_VERSION_MAJOR"),
            "_",
            env!("CARGO_PKG_VERSION_MINOR"),
            "_",
            env!("CARGO_PKG_VERSION_PATCH")
        )
    };
}
#[cfg(all(picollo_initial_exec, target_arch = "x86_64"))]
pub(crate) use symbol;

#[cfg(picollo_initial_exec)]
mod chosen {
    use crate::threads::tables::{EMPTY, Table};
    use core::arch::{asm, global_asm};

    macro_rules! slot {
        () => {
            symbol!("slot")
        };
    }

    // Global for the other code units of the crate, but hidden from other modules of the process.
    global_asm!(
        ".pushsection .tdata,\"awT\",%progbits",
        ".p2align 3",
        concat!(".globl ", slot!()),
        concat!(".hidden ", slot!()),
        concat!(".type ", slot!(), ", %object"),
        concat!(".size ", slot!(), ", 8"),
        concat!(slot!(), ":"),
        ".quad {empty}",
        ".popsection",
        empty = sym EMPTY,
    );

    #[inline(always)]
    pub fn get() -> *const Table {
        let table;
        // SAFETY: this reads the thread's slot, through its offset from the global offset table.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                concat!("mov {table}, qword ptr [rip + ", slot!(), "@GOTTPOFF]"),
                "mov {table}, qword ptr fs:[{table}]",
                table = out(reg) table,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                concat!("adrp {table}, :gottprel:", slot!()),
                concat!("ldr {table}, [{table}, :gottprel_lo12:", slot!(), "]"),
                "mrs {thread}, tpidr_el0",
                "ldr {table}, [{thread}, {table}]",
                table = out(reg) table,
                thread = out(reg) _,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        table
    }

    /// Returns the address of the thread's storage.
    pub fn place() -> usize {
        let place;
        // SAFETY: this reads the thread pointer, which x86-64 also keeps in the storage itself.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!("mov {}, qword ptr fs:[0]", out(reg) place, options(pure, readonly, nostack, preserves_flags));
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!("mrs {}, tpidr_el0", out(reg) place, options(pure, nomem, nostack, preserves_flags));
        }
        place
    }

    pub fn set(table: *const Table) {
        // SAFETY: this writes the thread's slot, found as above.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                concat!("mov {offset}, qword ptr [rip + ", slot!(), "@GOTTPOFF]"),
                "mov qword ptr fs:[{offset}], {table}",
                table = in(reg) table,
                offset = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!(
                concat!("adrp {offset}, :gottprel:", slot!()),
                concat!("ldr {offset}, [{offset}, :gottprel_lo12:", slot!(), "]"),
                "mrs {thread}, tpidr_el0",
                "str {table}, [{thread}, {offset}]",
                table = in(reg) table,
                offset = out(reg) _,
                thread = out(reg) _,
                options(nostack, preserves_flags)
            );
        }
    }
}

#[cfg(not(picollo_initial_exec))]
mod chosen {
    use crate::threads::tables::{EMPTY, ENDED, Table};
    use core::cell::Cell;

    #[cfg(not(loom))]
    std::thread_local! {
        static SLOT: Cell<*const Table> = const { Cell::new(&raw const EMPTY) };
    }
    #[cfg(loom)]
    loom::thread_local! {
        static SLOT: Cell<*const Table> = Cell::new(&raw const EMPTY);
    }

    #[inline(always)]
    pub fn get() -> *const Table {
        SLOT.try_with(Cell::get).unwrap_or(&raw const ENDED)
    }

    /// Returns the address of the thread's storage.
    pub fn place() -> usize {
        SLOT.try_with(|slot| core::ptr::from_ref(slot).addr()).unwrap_or(0)
    }

    pub fn set(table: *const Table) {
        // Only loom ends slots; then `get` gives the same result.
        let _ = SLOT.try_with(|slot| slot.set(table));
    }
}

pub(crate) use chosen::{get, place, set};
