//! Writes `ffi/picollo.abi.json`: what the header declares, for programs.
//!
//! One line for a constant, a field or a parameter, so that a change shows as what it is.

use std::fmt::Write as _;

use super::c::{Declaration, Item, Kind, Type};
use super::layout::{Layouts, value};
use super::manual::{Manual, labelled};

/// A JSON object on one line.
struct Line(String);

impl Line {
    fn new() -> Self {
        Line(String::new())
    }

    fn raw(mut self, key: &str, json: impl std::fmt::Display) -> Self {
        let comma = if self.0.is_empty() { "" } else { ", " };
        write!(self.0, "{comma}\"{key}\": {json}").unwrap();
        self
    }

    /// Of text without anything to escape, which names and types are.
    fn text(self, key: &str, text: &str) -> Self {
        assert!(!text.contains(['"', '\\']) && text.is_ascii(), "{text}");
        self.raw(key, format_args!("\"{text}\""))
    }

    fn of(self, of: &Type) -> Self {
        let line = self.text("type", &of.spelled()).text("base", &of.base);
        line.raw("pointers", of.pointers.len()).raw("const", of.is_const)
    }
}

/// An array of JSON, one element a line.
fn array(indent: usize, elements: impl IntoIterator<Item = String>) -> String {
    let space = " ".repeat(indent);
    let elements: Vec<String> = elements.into_iter().map(|element| format!("{space}  {element}")).collect();
    if elements.is_empty() { "[]".into() } else { format!("[\n{}\n{space}]", elements.join(",\n")) }
}

fn is_flag(item: &Item) -> bool {
    matches!(&item.kind, Kind::Constant(expression) if expression.contains("<<"))
}

fn is_status(item: &Item) -> bool {
    item.name == "PICOLLO_OK" || item.name == "PICOLLO_END" || item.name.starts_with("PICOLLO_ERR_")
}

fn words(name: &str) -> Vec<&str> {
    name.split('_').skip(1).collect()
}

fn common<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<&'a str> {
    a.iter().zip(b).take_while(|(a, b)| a == b).map(|(a, _)| *a).collect()
}

/// Constants that belong together: neighbours of one kind whose names begin alike. The group's name is that beginning; what
/// stands alone and is no flag has none.
fn groups(items: &[Item]) -> Vec<(String, Vec<&Item>)> {
    let mut groups: Vec<(String, Vec<&Item>)> = Vec::new();
    let mut last = 0;
    for (at, item) in items.iter().enumerate().filter(|(_, item)| matches!(item.kind, Kind::Constant(_))) {
        let follows = at == std::mem::replace(&mut last, at) + 1;
        let belongs = |before: &&Item| {
            let alike = words(&before.name)[0] == words(&item.name)[0] && is_flag(before) == is_flag(item);
            follows && before.section == item.section && (alike || is_status(before) && is_status(item))
        };
        match groups.last_mut() {
            Some((_, members)) if members.last().is_some_and(belongs) => members.push(item),
            _ => groups.push((String::new(), vec![item])),
        }
    }
    for (name, members) in &mut groups {
        let first = words(&members[0].name);
        *name = match members[..] {
            [only] if is_flag(only) => first[0].to_string(),
            [_] => String::new(),
            _ if is_status(members[0]) => "STATUS".to_string(),
            _ => members.iter().fold(first, |begin, item| common(&begin, &words(&item.name))).join("_"),
        };
    }
    groups
}

fn constants(items: &[Item], sections: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    for (group, members) in groups(items) {
        for item in members {
            let Kind::Constant(expression) = &item.kind else { unreachable!() };
            let kind = match is_flag(item) {
                true => "flag",
                false if group.is_empty() => "number",
                false => "code",
            };
            let line = Line::new().text("name", &item.name).raw("value", value(expression, items));
            let line = line.text("expression", expression).text("kind", kind);
            let line = match group.as_str() {
                "" => line.raw("group", "null"),
                group => line.text("group", group),
            };
            lines.push(format!("{{{}}}", line.text("section", sections[item.section]).0));
        }
    }
    lines
}

fn structure(item: &Item, fields: &[Declaration], items: &[Item], section: &str) -> String {
    let [wide, narrow] = [8, 4].map(|pointer| Layouts { items, pointer });
    let places = wide.offsets(fields).into_iter().zip(narrow.offsets(fields));
    let lines = fields.iter().zip(places).map(|(field, ((offset, size), (offset_32, size_32)))| {
        let line = Line::new().text("name", &field.name).of(&field.of);
        let length =
            field.length.as_ref().map_or("null".to_string(), |length| value(length, items).to_string());
        let line = line.raw("length", length).raw("offset", offset).raw("size", size);
        format!("{{{}}}", line.raw("offset_32", offset_32).raw("size_32", size_32).0)
    });
    let head = Line::new().text("name", &item.name).text("section", section);
    let head = head.raw("size", wide.size(fields)).raw("size_32", narrow.size(fields));
    let initialiser = format!("{}_INIT", item.name.to_uppercase());
    let head = match items.iter().any(|item| item.name == initialiser) {
        true => head.text("initialiser", &initialiser),
        false => head,
    };
    format!("{{{}, \"fields\": {}}}", head.0, array(4, lines))
}

fn function(
    item: &Item,
    result: &Type,
    parameters: &[Declaration],
    manual: &Manual<'_>,
    section: &str,
) -> String {
    let is_hot = manual.is_hot(item);
    let lines = parameters.iter().map(|parameter| {
        let line = Line::new().text("name", &parameter.name).of(&parameter.of);
        let null = match parameter.of.pointers.is_empty() {
            true => return format!("{{{}}}", line.raw("null", "null").0),
            false if is_hot => "unchecked",
            false if manual.refuses_null(item, &parameter.name) => "refused",
            false => "allowed",
        };
        format!("{{{}}}", line.text("null", null).0)
    });
    let head =
        Line::new().text("name", &item.name).text("section", section).text("returns", &result.spelled());
    let head = head.raw("hot", is_hot).text("threads", manual.threads(item));
    let since =
        labelled(&item.comment, "Since").unwrap_or_else(|| panic!("{} does not say since when", item.name));
    format!("{{{}, \"parameters\": {}}}", head.text("since", &since).0, array(4, lines))
}

/// The whole file.
pub fn describe(items: &[Item], sections: &[&str]) -> String {
    let manual = Manual::new(items);
    let mut aliases = Vec::new();
    let mut handles = Vec::new();
    let mut structs = Vec::new();
    let mut functions = Vec::new();
    for item in items {
        let section = sections[item.section];
        let named = Line::new().text("name", &item.name).text("section", section);
        match &item.kind {
            Kind::Constant(_) | Kind::Initialiser => {}
            Kind::Alias(of) => aliases.push(format!("{{{}}}", named.of(of).0)),
            Kind::Handle => handles.push(format!("{{{}}}", named.0)),
            Kind::Struct(fields) => structs.push(structure(item, fields, items, section)),
            Kind::Function(result, parameters) => {
                functions.push(function(item, result, parameters, &manual, section))
            }
        }
    }
    let about = "Generated from ffi/src by ci/describe.sh, do not edit. docs/abi.md says what is in it.";
    format!(
        "{{\n  \"about\": \"{about}\",\n  \"sections\": [{}],\n  \"constants\": {},\n  \"aliases\": {},\n  \"handles\": {},\n  \
         \"structs\": {},\n  \"functions\": {}\n}}\n",
        sections.iter().map(|section| format!("\"{section}\"")).collect::<Vec<_>>().join(", "),
        array(2, constants(items, sections)),
        array(2, aliases),
        array(2, handles),
        array(2, structs),
        array(2, functions),
    )
}
