//! The one witness that is written by hand: C's own assertions, in `c-tests/layout.c`. A description that was wrong would be wrong
//! for everything that is generated from it, but not for them; so they have to name all that there is.

use super::c::Kind;

#[test]
fn the_witness_by_hand_names_everything() {
    let witness = super::read(&super::root().join("c-tests/layout.c"));
    let says = |what: &str| assert!(witness.contains(what), "c-tests/layout.c does not say {what}...); add it by hand");
    for item in super::items() {
        match &item.kind {
            Kind::Struct(fields) => {
                says(&format!("\nSIZE({}, ", item.name));
                fields.iter().for_each(|field| says(&format!("\nAT({}, {}, ", item.name, field.name)));
            }
            Kind::Constant(_) => says(&format!("{} == ", item.name)),
            Kind::Alias(_) => says(&format!("\nSIZE({}, ", item.name)),
            Kind::Handle | Kind::Function(..) => {}
        }
    }
}
