//! The one witness that is written by hand: C's own assertions, in `c-tests/layout.c`. A description that was wrong would be
//! wrong for everything that is generated from it, but not for them; so they have to name all that there is.

use super::c::Kind;

#[test]
fn the_witness_by_hand_names_everything() {
    let witness = super::read(&super::root().join("c-tests/layout.c"));
    let mut missing = String::new();
    let mut say = |what: String, begins_a_line: bool| {
        if !witness.contains(&format!("{}{what}", if begins_a_line { "\n" } else { "" })) {
            missing += &format!("c-tests/layout.c does not say {what}...\n");
        }
    };
    for item in super::items() {
        match &item.kind {
            Kind::Struct(fields) => {
                say(format!("SIZE({}, ", item.name), true);
                fields.iter().for_each(|field| say(format!("AT({}, {}, ", item.name, field.name), true));
            }
            Kind::Constant(_) => say(format!("{} == ", item.name), false),
            Kind::Initialiser => say(format!(" = {};", item.name), false),
            Kind::Alias(_) => say(format!("SIZE({}, ", item.name), true),
            Kind::Handle | Kind::Function(..) => {}
        }
    }
    assert!(missing.is_empty(), "add by hand:\n{missing}");
}
