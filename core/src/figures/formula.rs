//! Formulas: `+ - * /`, `min(a, b)`, `max(a, b)`, parentheses, numbers, and names of events.
//!
//! A hyphen with a letter or a digit on either side belongs to a name, as in `branch-misses`; a minus has a space before it.

use core::fmt;

/// The events that a formula may have.
pub const EVENTS_OF_A_FORMULA: usize = 16;
const STEPS: usize = 64;
const DEPTH: u32 = 16;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    Number(f64),
    Event(u8),
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
}

/// A formula that was understood: steps of a stack machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Formula {
    steps: [Step; STEPS],
    length: usize,
}

/// Where and why a formula is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormulaError {
    /// The byte that it begins at.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.what)
    }
}

impl core::error::Error for FormulaError {}

/// Why a figure has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// The event of this number was not counted.
    NotCounted(usize),
    /// A division by zero, or a number too large.
    Undefined,
}

impl Formula {
    /// Understands a formula. `event` gives the number of an event by its name, below [`EVENTS_OF_A_FORMULA`]; `None` where it knows none of
    /// that name.
    ///
    /// # Errors
    /// Where the text is no formula, or is too long for this: 64 numbers, names and operators, 16 parentheses within each other.
    pub fn parse(text: &str, event: impl FnMut(&str) -> Option<usize>) -> Result<Formula, FormulaError> {
        let formula = Formula { steps: [Step::Add; STEPS], length: 0 };
        let mut parser = Parser { text, at: 0, formula, event, depth: 0 };
        parser.sum()?;
        parser.skip_spaces();
        if parser.at < text.len() {
            return Err(parser.error("an operator is missing here"));
        }
        Ok(parser.formula)
    }

    /// The value of the formula; `value` gives that of each event, or `None` where it was not counted.
    ///
    /// # Errors
    /// [`Unknown`]: a figure of what was not counted, or of a division by zero, is not known; it is never 0.
    pub fn evaluate(&self, mut value: impl FnMut(usize) -> Option<f64>) -> Result<f64, Unknown> {
        let mut stack = [0.0; STEPS];
        let mut top = 0;
        for step in &self.steps[..self.length] {
            let result = match *step {
                Step::Number(number) => number,
                Step::Event(event) => {
                    let event = event as usize;
                    value(event).filter(|value| !value.is_nan()).ok_or(Unknown::NotCounted(event))?
                }
                _ => {
                    let (left, right) = (stack[top - 2], stack[top - 1]);
                    top -= 2;
                    match *step {
                        Step::Add => left + right,
                        Step::Subtract => left - right,
                        Step::Multiply => left * right,
                        Step::Min => f64::min(left, right),
                        Step::Max => f64::max(left, right),
                        _ if right == 0.0 => return Err(Unknown::Undefined),
                        _ => left / right,
                    }
                }
            };
            if !result.is_finite() {
                return Err(Unknown::Undefined);
            }
            stack[top] = result;
            top += 1;
        }
        Ok(stack[0])
    }

    fn push(&mut self, step: Step) -> bool {
        let has_room = self.length < STEPS;
        if has_room {
            self.steps[self.length] = step;
            self.length += 1;
        }
        has_room
    }
}

struct Parser<'a, F> {
    text: &'a str,
    at: usize,
    formula: Formula,
    event: F,
    depth: u32,
}

impl<F: FnMut(&str) -> Option<usize>> Parser<'_, F> {
    fn error(&self, what: &'static str) -> FormulaError {
        FormulaError { at: self.at, what }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_spaces(&mut self) {
        while self.byte(0).is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn takes(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        let is_it = self.byte(0) == byte;
        self.at += usize::from(is_it);
        is_it
    }

    fn push(&mut self, step: Step) -> Result<(), FormulaError> {
        if self.formula.push(step) { Ok(()) } else { Err(self.error("the formula is too long")) }
    }

    fn sum(&mut self) -> Result<(), FormulaError> {
        self.product()?;
        loop {
            let step = if self.takes(b'+') {
                Step::Add
            } else if self.takes(b'-') {
                Step::Subtract
            } else {
                return Ok(());
            };
            self.product()?;
            self.push(step)?;
        }
    }

    fn product(&mut self) -> Result<(), FormulaError> {
        self.factor()?;
        loop {
            let step = if self.takes(b'*') {
                Step::Multiply
            } else if self.takes(b'/') {
                Step::Divide
            } else {
                return Ok(());
            };
            self.factor()?;
            self.push(step)?;
        }
    }

    fn factor(&mut self) -> Result<(), FormulaError> {
        self.skip_spaces();
        if self.byte(0).is_ascii_digit() {
            return self.number();
        }
        if self.byte(0) == b'(' {
            self.at += 1;
            self.nested()?;
            return self.close();
        }
        let (begin, end) = self.name()?;
        let function = match &self.text[begin..end] {
            "min" => Step::Min,
            "max" => Step::Max,
            name => {
                let event = (self.event)(name).filter(|&event| event < EVENTS_OF_A_FORMULA);
                let Some(event) = event else {
                    return Err(FormulaError { at: begin, what: "no event of this name, or too many" });
                };
                return self.push(Step::Event(event as u8));
            }
        };
        if !self.takes(b'(') {
            return Err(self.error("min and max have parentheses"));
        }
        self.nested()?;
        if !self.takes(b',') {
            return Err(self.error("min and max are of two, with a comma between"));
        }
        self.nested()?;
        self.close()?;
        self.push(function)
    }

    fn nested(&mut self) -> Result<(), FormulaError> {
        if self.depth == DEPTH {
            return Err(self.error("too many parentheses"));
        }
        self.depth += 1;
        self.sum()?;
        self.depth -= 1;
        Ok(())
    }

    fn close(&mut self) -> Result<(), FormulaError> {
        if self.takes(b')') { Ok(()) } else { Err(self.error("a parenthesis is not closed")) }
    }

    fn number(&mut self) -> Result<(), FormulaError> {
        let begin = self.at;
        while self.byte(0).is_ascii_digit() || self.byte(0) == b'.' {
            self.at += 1;
        }
        if matches!(self.byte(0), b'e' | b'E') && (self.byte(1).is_ascii_digit() || self.byte(1) == b'-') {
            self.at += 2;
            while self.byte(0).is_ascii_digit() {
                self.at += 1;
            }
        }
        match self.text[begin..self.at].parse::<f64>() {
            Ok(number) if number.is_finite() => self.push(Step::Number(number)),
            _ => Err(FormulaError { at: begin, what: "no number" }),
        }
    }

    /// Passes a name: letters, digits, `_ . :`, and hyphens between them.
    fn name(&mut self) -> Result<(usize, usize), FormulaError> {
        let begin = self.at;
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
        if !self.byte(0).is_ascii_alphabetic() && self.byte(0) != b'_' {
            return Err(self.error("a number, a name or a parenthesis is missing here"));
        }
        while is_part(self.byte(0)) || (self.byte(0) == b'-' && is_part(self.byte(1))) {
            self.at += 1;
        }
        Ok((begin, self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    const NAMES: [&str; 3] = ["cycles", "branch-misses", "L1D:x.y_z"];

    fn parse(text: &str) -> Result<Formula, FormulaError> {
        Formula::parse(text, |name| NAMES.iter().position(|known| *known == name))
    }

    fn of(text: &str) -> Result<f64, Unknown> {
        parse(text).unwrap().evaluate(|event| [Some(8.0), Some(2.0), None][event])
    }

    #[test]
    fn formulas() {
        for (text, value) in [
            ("cycles", 8.0),
            ("branch-misses/cycles", 0.25),
            ("branch-misses / cycles * 1000", 250.0),
            ("cycles - branch-misses - 1", 5.0),
            ("cycles -branch-misses", 6.0),
            ("2 + 3 * 4 - 10 / 5", 12.0),
            ("(2 + 3) * 4", 20.0),
            ("8 / 4 / 2", 1.0),
            ("min(cycles, branch-misses) + max(1, 3)", 5.0),
            ("max(0, 1 - cycles)", 0.0),
            ("1e3 * 2.5e-1", 250.0),
            (" ( ( cycles ) ) ", 8.0),
        ] {
            assert_eq!(of(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_no_number() {
        assert_eq!(of("L1D:x.y_z / cycles"), Err(Unknown::NotCounted(2)));
        // Not even where it would not matter.
        assert_eq!(of("0 * L1D:x.y_z"), Err(Unknown::NotCounted(2)));
        assert_eq!(of("cycles / (branch-misses - 2)"), Err(Unknown::Undefined));
        assert_eq!(of("1e308 * 1e308"), Err(Unknown::Undefined));
        assert_eq!(parse("cycles").unwrap().evaluate(|_| Some(f64::NAN)), Err(Unknown::NotCounted(0)));
    }

    #[test]
    fn what_is_no_formula_is_told_where() {
        for (text, at) in [
            ("", 0),
            ("cycles +", 8),
            ("cycles cycles", 7),
            ("cycle / 2", 0),
            ("1 / unknown", 4),
            ("(cycles", 7),
            ("cycles)", 6),
            ("min cycles", 4),
            ("min(cycles)", 10),
            ("1.2.3", 0),
            ("-1", 0),
            ("cycles\u{e9}", 6),
            ("cycles-", 7),
        ] {
            assert_eq!(parse(text).map_err(|error| error.at), Err(at), "{text}");
        }
        assert!(parse(&"(".repeat(10_000)).is_err());
        assert!(parse(&format!("{}1{}", "(".repeat(16), ")".repeat(16))).is_ok());
        let many: Vec<&str> = core::iter::repeat_n("1", 33).collect();
        assert_eq!(parse(&many.join("+")).unwrap_err().what, "the formula is too long");
        assert!(parse(&many[..32].join("+")).is_ok());
        assert!(Formula::parse("a", |_| Some(EVENTS_OF_A_FORMULA)).is_err());
    }

    /// A formula, and its value computed beside it.
    fn formulas_with_values() -> impl Strategy<Value = (String, f64)> {
        let leaf = prop_oneof![
            (0u32..1000).prop_map(|number| (format!("{number}"), f64::from(number))),
            Just(("cycles".into(), 8.0)),
            Just(("branch-misses".into(), 2.0)),
        ];
        leaf.prop_recursive(4, 24, 2, |inner| {
            (inner.clone(), inner, 0..6).prop_map(|((a, x), (b, y), which)| match which {
                0 => (format!("({a} + {b})"), x + y),
                1 => (format!("({a} - {b})"), x - y),
                2 => (format!("({a}*{b})"), x * y),
                3 => (format!("({a} / {b})"), x / y),
                4 => (format!("min({a},{b})"), x.min(y)),
                _ => (format!("max( {a} , {b} )"), x.max(y)),
            })
        })
    }

    proptest! {
        #[test]
        fn formulas_of_any_shape((text, value) in formulas_with_values()) {
            match of(&text) {
                Ok(found) => prop_assert_eq!(found, value),
                Err(_) => prop_assert!(text.contains('/')),
            }
        }

        #[test]
        fn no_text_is_too_much(text in "[ a-z0-9()+*/,.e-]{0,80}") {
            if let Ok(formula) = Formula::parse(&text, |_| Some(0)) {
                let _ = formula.evaluate(|_| Some(1.0));
            }
        }
    }
}
