//! Events: what can be counted.

use core::ffi::c_char;
use core::fmt;

#[cfg(doc)]
use crate::event::modifiers::EVENT_USER;
#[cfg(picollo_linux)]
use crate::event::modifiers::{ALL_MODIFIERS, ANY_RING};
#[cfg(picollo_linux)]
use crate::event::names;
#[cfg(picollo_linux)]
use crate::event::spelling::display_modifiers;
#[cfg(picollo_linux)]
use picollo_native::seam::kernel::kind;
use picollo_native::seam::text;

/// Largest number of events in a session. A whole group's result then fits on the stack.
pub const MAX_EVENTS: usize = 64;

/// An event that can be counted. Same layout as `picollo_event` in C; make one with [`Event::parse`] or fill in the fields.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Event {
    /// The event's number within its type.
    pub config: u64,
    /// Further configuration; the address of a breakpoint.
    pub config1: u64,
    /// Further configuration; the length of a breakpoint.
    pub config2: u64,
    /// Further configuration.
    pub config3: u64,
    /// Value of one count in unit; 1 if the PMU does not define it. 0 means 1, for events that are filled in by hand.
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

    /// The value of one count in [`Event::unit`]: the field `scale`, or 1 if that is 0.
    pub fn worth(&self) -> f64 {
        if self.scale == 0.0 { 1.0 } else { self.scale }
    }

    /// The unit of the scaled count; empty if the PMU defines none.
    pub fn unit(&self) -> &str {
        text::get(&self.unit)
    }
}

#[cfg(picollo_linux)]
impl Event {
    /// A generic event from the kernel's numbers.
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
        event.set_name(format_args!("{}", names::display(kind, config)));
        event
    }

    /// Replaces the display name and adds the modifiers to it.
    pub(crate) fn set_name(&mut self, name: fmt::Arguments<'_>) {
        let modifiers = display_modifiers(self.modifiers);
        text::set(&mut self.name, format_args!("{name}{modifiers}"));
    }

    /// Replaces the unit.
    pub(crate) fn set_unit(&mut self, unit: &str) {
        text::set(&mut self.unit, format_args!("{unit}"));
    }

    /// Whether the event itself chooses where to count.
    pub(crate) fn chooses_rings(&self) -> bool {
        self.modifiers & ANY_RING != 0
    }

    /// Whether the kernel can be asked for these fields.
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
