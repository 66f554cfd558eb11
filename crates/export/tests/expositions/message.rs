//! A decoder for Protocol Buffers in a few lines.

/// A field's value.
#[derive(Clone, PartialEq, Debug)]
pub enum Field {
    Varint(u64),
    Fixed(u64),
    Bytes(Vec<u8>),
}

/// The fields of a message, in order.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<(u64, Field)>);

pub fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a varint ends");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    unreachable!()
}

pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads bytes that follow their length.
pub fn delimited(bytes: &mut &[u8]) -> Vec<u8> {
    let length = varint(bytes) as usize;
    let (inside, rest) = bytes.split_at(length);
    *bytes = rest;
    inside.to_vec()
}

impl Message {
    pub fn parse(mut bytes: &[u8]) -> Message {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Field::Varint(varint(&mut bytes)),
                1 => {
                    let (word, rest) = bytes.split_first_chunk::<8>().unwrap();
                    bytes = rest;
                    Field::Fixed(u64::from_le_bytes(*word))
                }
                2 => Field::Bytes(delimited(&mut bytes)),
                form => panic!("form {form}"),
            };
            fields.push((key >> 3, value));
        }
        Message(fields)
    }

    pub fn all(&self, number: u64) -> impl Iterator<Item = &Field> {
        self.0.iter().filter(move |field| field.0 == number).map(|field| &field.1)
    }

    /// The only field with this number.
    pub fn one(&self, number: u64) -> Option<&Field> {
        let mut all = self.all(number);
        let one = all.next();
        assert!(all.next().is_none(), "field {number} twice in {self:?}");
        one
    }

    pub fn messages(&self, number: u64) -> Vec<Message> {
        let parse = |field: &Field| match field {
            Field::Bytes(bytes) => Message::parse(bytes),
            other => panic!("{other:?} is no message"),
        };
        self.all(number).map(parse).collect()
    }

    pub fn message(&self, number: u64) -> Message {
        self.messages(number).pop().unwrap_or_default()
    }

    pub fn uint(&self, number: u64) -> u64 {
        match self.one(number) {
            Some(&Field::Varint(value)) => value,
            None => 0,
            other => panic!("{other:?} is no varint"),
        }
    }

    pub fn sint(&self, number: u64) -> i64 {
        unzigzag(self.uint(number))
    }

    pub fn fixed(&self, number: u64) -> u64 {
        match self.one(number) {
            Some(&Field::Fixed(value)) => value,
            None => 0,
            other => panic!("{other:?} is not of eight bytes"),
        }
    }

    pub fn double(&self, number: u64) -> f64 {
        f64::from_bits(self.fixed(number))
    }

    pub fn text(&self, number: u64) -> String {
        match self.one(number) {
            Some(Field::Bytes(bytes)) => String::from_utf8(bytes.clone()).unwrap(),
            None => String::new(),
            other => panic!("{other:?} is no text"),
        }
    }

    pub fn packed(&self, number: u64) -> Vec<u64> {
        let Some(Field::Bytes(bytes)) = self.one(number) else { return Vec::new() };
        let (mut bytes, mut values) = (&bytes[..], Vec::new());
        while !bytes.is_empty() {
            values.push(varint(&mut bytes));
        }
        values
    }

    pub fn labels(&self, number: u64) -> Vec<(String, String)> {
        self.messages(number).iter().map(|label| (label.text(1), label.text(2))).collect()
    }
}
