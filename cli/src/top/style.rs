//! Colours, which may be switched off, and are the terminal's own: they are readable on dark and on light.

use ratatui_core::style::{Color, Modifier, Style};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    has_colors: bool,
}

impl Theme {
    pub(crate) fn new(has_colors: bool) -> Theme {
        Theme { has_colors }
    }

    /// As <https://no-color.org> has it: set to anything but nothing.
    pub(crate) fn from_environment() -> Theme {
        Theme::new(std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
    }

    fn colored(self, color: Color) -> Style {
        if self.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    pub(crate) fn plain(self) -> Style {
        Style::new()
    }

    pub(crate) fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn line(self) -> Style {
        // Also over what is faint.
        self.colored(Color::Cyan).remove_modifier(Modifier::DIM)
    }

    pub(crate) fn better(self) -> Style {
        self.colored(Color::Green).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn worse(self) -> Style {
        self.colored(Color::Red).add_modifier(Modifier::BOLD)
    }
}
