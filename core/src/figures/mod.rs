//! Derived figures: formulas over counts of events, as instructions per cycle, and how well they are known.

mod formula;
mod interval;
mod parts;
mod set;
mod student;

pub use formula::{EVENTS_OF_A_FORMULA, Formula, FormulaError, Unknown};
pub use interval::{FIGURE_FEW_SCOPES, FIGURE_PARTIAL, FigureEstimate, estimate_figure};
pub use parts::{FigureTail, estimate_figure_difference, estimate_figure_tail};
pub use set::{BUILT_IN_FIGURES, Entry, Figure, figures};
