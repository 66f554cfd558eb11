//! The spans that a thread has entered, which determine the self time of a span.

use std::cell::RefCell;

thread_local!(static STACK: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) });

struct Frame {
    layer: usize,
    span: u64,
    entered: u64,
    /// The time in inner spans.
    inside: u64,
}

/// Notes that a span was entered.
pub(crate) fn enter(layer: usize, span: u64, now: u64) {
    // The stack is gone while the thread ends; spans entered then have no self time.
    let _ = STACK.try_with(|stack| stack.borrow_mut().push(Frame { layer, span, entered: now, inside: 0 }));
}

/// Notes the exit from a span. Returns the time since its entry, without inner spans. Exits may be in any order.
pub(crate) fn exit(layer: usize, span: u64, now: u64) -> u64 {
    let leave = |stack: &RefCell<Vec<Frame>>| {
        let mut stack = stack.borrow_mut();
        let Some(at) = stack.iter().rposition(|frame| frame.layer == layer && frame.span == span) else {
            return 0;
        };
        let frame = stack.remove(at);
        let elapsed = now.saturating_sub(frame.entered);
        if let Some(outer) = stack[..at].iter_mut().rev().find(|outer| outer.layer == layer) {
            outer.inside += elapsed;
        }
        elapsed.saturating_sub(frame.inside)
    };
    STACK.try_with(leave).unwrap_or(0)
}
