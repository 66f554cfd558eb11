//! Names that registries allow: other characters become underscores, as in other exporters.

use metrics::Key;

fn sanitised(name: &str, also: &[char]) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || also.contains(&c);
    let mut name: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if name.chars().next().is_none_or(|first| first.is_ascii_digit() || matches!(first, '.' | '-' | '/')) {
        name.insert(0, '_');
    }
    name
}

/// The name of a metric. Dots, hyphens and slashes remain for OpenTelemetry; Prometheus gets underscores instead.
pub(crate) fn metric(name: &str) -> String {
    sanitised(name, &[':', '.', '-', '/'])
}

/// The labels that identify a metric, sorted; if several have the same name, the last one counts. `le` and names that
/// begin with two underscores are reserved, so they are changed.
pub(crate) fn labels(key: &Key) -> Vec<(String, String)> {
    let mut labels: Vec<(String, String)> = Vec::new();
    for label in key.labels() {
        let mut name = sanitised(label.key(), &[]);
        if name == "le" {
            name.push('_');
        }
        while name.starts_with("__") {
            name.remove(0);
        }
        match labels.iter_mut().find(|(other, _)| *other == name) {
            Some((_, value)) => *value = label.value().into(),
            None => labels.push((name, label.value().into())),
        }
    }
    labels.sort_unstable();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::Label;

    #[test]
    fn odd_names() {
        for (given, name) in
            [("a.b-c/d:e", "a.b-c/d:e"), ("9a", "_9a"), ("", "_"), ("a b\n\"é", "a_b___"), (".a", "_.a")]
        {
            assert_eq!(metric(given), name);
        }
    }

    #[test]
    fn odd_labels() {
        let key = |labels: &[(&'static str, &'static str)]| {
            Key::from_parts(
                "x",
                labels.iter().map(|&(name, value)| Label::new(name, value)).collect::<Vec<_>>(),
            )
        };
        let found = labels(&key(&[
            ("le", "1"),
            ("__name__", "2"),
            ("b.c", "3"),
            ("a", "4"),
            ("b_c", "5"),
            ("0", "6"),
        ]));
        let names: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(names, [("_0", "6"), ("_name__", "2"), ("a", "4"), ("b_c", "5"), ("le_", "1")]);
    }
}
