//! Which spans a thread is in, to know what a span did itself.

use std::cell::RefCell;

thread_local!(static STACK: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) });

struct Frame {
    layer: usize,
    span: u64,
    entered: u64,
    /// In spans inside it.
    inside: u64,
}

/// Entered at a time.
pub(crate) fn enter(layer: usize, span: u64, now: u64) {
    // Not there any more where the thread ends: what is entered then has no self time.
    let _ = STACK.try_with(|stack| stack.borrow_mut().push(Frame { layer, span, entered: now, inside: 0 }));
}

/// Left at a time: how long it was entered without what was inside it. Spans need not be left in the order in which they were entered.
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
