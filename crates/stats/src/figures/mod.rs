//! Derived figures, such as instructions per cycle, and their confidence intervals.

mod difference;
mod interval;
mod table;

pub use difference::estimate_figure_difference;
pub use interval::{
    FIGURE_FEW_SCOPES, FIGURE_PARTIAL, FigureCounts, FigureEstimate, Unknown, estimate_figure,
};
pub use table::{FIGURE_EVENTS, FIGURES, Figure, event_of_figure};
