//! Events: what can be counted.

use core::ffi::c_char;
use core::fmt;

use crate::base::text;
#[cfg(picollo_linux)]
use crate::event::names;
#[cfg(picollo_linux)]
use crate::event::parse::Modifiers;
#[cfg(picollo_linux)]
use crate::os::kernel::kind;

/// The most events a session may have, so that a whole group's answer fits on the stack.
pub const MAX_EVENTS: usize = 64;

/// Count in user space. Any of user, kernel and hypervisor overrides the session's choice.
pub const EVENT_USER: u32 = 1 << 0;
/// Count in the kernel.
pub const EVENT_KERNEL: u32 = 1 << 1;
/// Count in the hypervisor.
pub const EVENT_HYPERVISOR: u32 = 1 << 2;
/// The lowest bit of the precision, 0 to 3, as perf's `p`, `pp` and `ppp`. Dropped where the PMU refuses it.
pub const EVENT_PRECISE: u32 = 1 << 3;
/// Both bits of the precision.
pub const EVENT_PRECISE_MASK: u32 = 3 << 3;
/// Do not count in guests.
pub const EVENT_HOST: u32 = 1 << 5;
/// Count in guests only.
pub const EVENT_GUEST: u32 = 1 << 6;
/// Do not count while idle.
pub const EVENT_EXCLUDE_IDLE: u32 = 1 << 7;

#[cfg(picollo_linux)]
const ANY_RING: u32 = EVENT_USER | EVENT_KERNEL | EVENT_HYPERVISOR;
#[cfg(picollo_linux)]
pub(crate) const ALL_MODIFIERS: u32 =
    ANY_RING | EVENT_PRECISE_MASK | EVENT_HOST | EVENT_GUEST | EVENT_EXCLUDE_IDLE;

/// An event that can be counted. Same layout as `picollo_event` in C; make one with [`Event::parse`] or fill in the fields.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Event {
    /// The event's number within its type.
    pub config: u64,
    /// More of it; the address of a breakpoint.
    pub config1: u64,
    /// More of it; the length of a breakpoint.
    pub config2: u64,
    /// More of it.
    pub config3: u64,
    /// What one count is worth in `unit`; 1 where the PMU gives none. 0 means 1, too, for events that are filled in by hand.
    pub scale: f64,
    /// The kernel's event type.
    pub r#type: u32,
    /// Breakpoints: 1 read, 2 write, 3 both, 4 execute.
    pub bp_type: u32,
    /// [`EVENT_USER`] and its siblings; 0: the session's choice.
    pub modifiers: u32,
    /// 0.
    pub reserved: u32,
    /// Unit of the scaled count, NUL-terminated.
    pub unit: [c_char; 16],
    /// Display name, NUL-terminated.
    pub name: [c_char; 128],
}

const _: () = assert!(size_of::<Event>() == 200 && core::mem::offset_of!(Event, name) == 72);

impl Event {
    /// The display name, such as `Hardware:CpuCycles`.
    pub fn name(&self) -> &str {
        text::get(&self.name)
    }

    /// The unit of the scaled count; empty where the PMU gives none.
    pub fn unit(&self) -> &str {
        text::get(&self.unit)
    }
}

#[cfg(picollo_linux)]
impl Event {
    /// A generic event by the kernel's numbers.
    pub fn new(kind: u32, config: u64) -> Event {
        let mut event = Event {
            config,
            config1: 0,
            config2: 0,
            config3: 0,
            scale: 1.0,
            r#type: kind,
            bp_type: 0,
            modifiers: 0,
            reserved: 0,
            unit: [0; 16],
            name: [0; 128],
        };
        event.name_by(format_args!("{}", names::Display { kind, config }));
        event
    }

    /// Replaces the display name and adds the modifiers to it.
    pub(crate) fn name_by(&mut self, name: fmt::Arguments<'_>) {
        let modifiers = Modifiers(self.modifiers);
        text::set(&mut self.name, format_args!("{name}{modifiers}"));
    }

    /// Replaces the unit.
    pub(crate) fn set_unit(&mut self, unit: &str) {
        text::set(&mut self.unit, format_args!("{unit}"));
    }

    /// Whether the event itself says where to count.
    pub(crate) fn chooses_rings(&self) -> bool {
        self.modifiers & ANY_RING != 0
    }

    /// Whether the fields are ones that the kernel can be asked for.
    pub(crate) fn is_well_formed(&self) -> bool {
        self.modifiers & !ALL_MODIFIERS == 0
            && self.reserved == 0
            && (self.r#type != kind::BREAKPOINT || (1..=4).contains(&self.bp_type))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("name", &self.name())
            .field("type", &self.r#type)
            .field("config", &format_args!("{:#x}", self.config))
            .field("config1", &format_args!("{:#x}", self.config1))
            .field("config2", &format_args!("{:#x}", self.config2))
            .field("config3", &format_args!("{:#x}", self.config3))
            .field("bp_type", &self.bp_type)
            .field("modifiers", &self.modifiers)
            .field("scale", &self.scale)
            .field("unit", &self.unit())
            .finish()
    }
}

impl PartialEq for Event {
    /// Whether both count the same thing; names do not matter.
    fn eq(&self, other: &Event) -> bool {
        let numbers = |event: &Event| (event.config, event.config1, event.config2, event.config3);
        let rest = |event: &Event| (event.r#type, event.bp_type, event.modifiers);
        numbers(self) == numbers(other) && rest(self) == rest(other)
    }
}
