//! Picollo: why was it slow?
//!
//! A collector keeps the slowest observations of a histogram, each with the reason and with an identifier of yours:
//!
//! - Make it once: picollo_exemplars_create.
//! - Around each request: picollo_exemplars_begin, _end. If _end returns PICOLLO_EXEMPLAR_KEPT, link the observation
//!   to the request: _annotate.
//! - From time to time: picollo_exemplars_collect ends an interval. Then _format writes its causes and its slowest
//!   observations as text, JSON or HTML.
//!
//! What holds for every function is at the end of picollo.h.

// The sections in the order of the header. The blank lines keep rustfmt from sorting them.

pub mod exemplar;

pub mod exemplars;
