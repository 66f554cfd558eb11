//! What the comment of a function says in words that programs can use.

use super::c::{Declaration, Item, Kind};

/// The headings of a function's comment.
pub const LABELS: [&str; 6] = ["Requires", "Returns", "Ownership", "Threads", "Cost", "Since"];

/// What stands behind a heading, on one line.
pub fn labelled(comment: &[String], label: &str) -> Option<String> {
    let heading = format!("{label}: ");
    let at = comment.iter().position(|line| line.starts_with(&heading))?;
    let more = comment[at + 1..].iter().take_while(|line| line.starts_with("  "));
    let mut text = comment[at][heading.len()..].to_string();
    for line in more {
        text += " ";
        text += line.trim();
    }
    Some(text)
}

/// The words of a text that could be names.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The function whose page a text sends its readers to.
fn sent_to(text: &str) -> Option<&str> {
    names(text.strip_prefix("as ")?).next().filter(|name| name.starts_with("picollo_"))
}

pub struct Manual<'a> {
    items: &'a [Item],
}

impl<'a> Manual<'a> {
    pub fn new(items: &'a [Item]) -> Self {
        Manual { items }
    }

    fn page(&self, name: &str) -> &'a Item {
        let function = |item: &&Item| item.name == name && matches!(item.kind, Kind::Function(..));
        self.items
            .iter()
            .find(function)
            .unwrap_or_else(|| panic!("{name}, which a comment refers to, is no function"))
    }

    /// Whether it says that it does not check its pointers.
    pub fn is_hot(&self, item: &Item) -> bool {
        let text = item.comment.join(" ");
        if text.contains("this is not checked") || text.contains("which is not checked") {
            return true;
        }
        let requires = labelled(&item.comment, "Requires").unwrap_or_default();
        sent_to(&requires).is_some_and(|other| self.is_hot(self.page(other)))
    }

    /// Whether NULL is answered by PICOLLO_ERR_NULL_POINTER for a parameter.
    pub fn refuses_null(&self, item: &Item, parameter: &str) -> bool {
        let returns = labelled(&item.comment, "Returns").unwrap_or_default();
        let lists = returns.split("PICOLLO_ERR_NULL_POINTER (").skip(1);
        if lists
            .filter_map(|list| list.split(')').next())
            .any(|list| names(list).any(|name| name == parameter))
        {
            return true;
        }
        let otherwise = returns.strip_prefix("PICOLLO_OK; ").unwrap_or(&returns);
        let otherwise = otherwise.strip_prefix("otherwise ").unwrap_or(otherwise);
        sent_to(otherwise).is_some_and(|other| {
            let other = self.page(other);
            takes(other, parameter) && self.refuses_null(other, parameter)
        })
    }

    /// On which threads it may be called: one of five words for what the comment says.
    pub fn threads(&self, item: &Item) -> &'static str {
        let text = labelled(&item.comment, "Threads").unwrap_or_default();
        if let Some(other) = sent_to(&text) {
            return self.threads(self.page(other));
        }
        let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
        if starts(&["any thread, one at a time", "one at a time"]) {
            "one at a time"
        } else if starts(&["any thread, once"]) {
            "once"
        } else if starts(&["any thread"]) {
            "any"
        } else if starts(&["opening thread only", "PICOLLO_READ_AUTO opening thread only"]) {
            "opening"
        } else if starts(&["as the mode says"]) {
            "as the mode says"
        } else {
            panic!("{}: \"Threads: {text}\" begins like none of those that the description knows", item.name)
        }
    }
}

fn takes(item: &Item, parameter: &str) -> bool {
    let Kind::Function(_, parameters) = &item.kind else { return false };
    parameters.iter().any(|own: &Declaration| own.name == parameter)
}
