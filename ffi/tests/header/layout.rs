//! Where C puts the fields of a struct, by its rules, for any size of pointers.

use super::c::{Declaration, Item, Kind, Type};

/// Size and alignment.
type Room = (usize, usize);

/// An integer expression of the kinds that constants are made of: a number, a negative one, a shifted one, another constant.
pub fn value(expression: &str, items: &[Item]) -> i64 {
    let inside =
        expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(expression).trim();
    if let Some((number, shift)) = inside.split_once("<<") {
        return value(number.trim(), items) << value(shift.trim(), items);
    }
    if let Ok(number) = inside.parse() {
        return number;
    }
    let constant = items.iter().find(|item| item.name == inside).map(|item| &item.kind);
    match constant {
        Some(Kind::Constant(other)) => value(other, items),
        _ => panic!("{expression}: not an expression that the description knows"),
    }
}

pub struct Layouts<'a> {
    pub items: &'a [Item],
    /// Bytes of a pointer.
    pub pointer: usize,
}

impl Layouts<'_> {
    fn of_type(&self, of: &Type) -> Room {
        if !of.pointers.is_empty() {
            return (self.pointer, self.pointer);
        }
        match of.base.as_str() {
            "char" | "uint8_t" => (1, 1),
            "int32_t" | "uint32_t" => (4, 4),
            "uint64_t" | "int64_t" | "double" => (8, 8),
            "size_t" => (self.pointer, self.pointer),
            other => match self.items.iter().find(|item| item.name == other).map(|item| &item.kind) {
                Some(Kind::Alias(other)) => self.of_type(other),
                Some(Kind::Struct(fields)) => self.of_struct(fields),
                _ => panic!("{other}: a type whose size the description does not know"),
            },
        }
    }

    fn of_struct(&self, fields: &[Declaration]) -> Room {
        let align = fields.iter().map(|field| self.of_field(field).1).max().unwrap_or(1);
        let end = self.offsets(fields).last().map_or(0, |(offset, size)| offset + size);
        (end.next_multiple_of(align), align)
    }

    fn of_field(&self, field: &Declaration) -> Room {
        let (size, align) = self.of_type(&field.of);
        (size * field.length.as_ref().map_or(1, |length| value(length, self.items) as usize), align)
    }

    pub fn size(&self, fields: &[Declaration]) -> usize {
        self.of_struct(fields).0
    }

    /// Offset and size of each field.
    pub fn offsets(&self, fields: &[Declaration]) -> Vec<(usize, usize)> {
        let mut end = 0;
        let place = |field| {
            let (size, align) = self.of_field(field);
            let offset = usize::next_multiple_of(end, align);
            end = offset + size;
            (offset, size)
        };
        fields.iter().map(place).collect()
    }
}
