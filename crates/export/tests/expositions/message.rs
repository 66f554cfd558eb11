//! Messages of Protocol Buffers whose fields are known by their numbers alone.

use prost::bytes::Buf;
use prost::encoding::{WireType, decode_key, decode_varint};

/// A field's value.
#[derive(Clone, PartialEq, Debug)]
pub enum Field {
    Varint(u64),
    Fixed(u64),
    Bytes(Vec<u8>),
}

/// The fields of a message, in order.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<(u32, Field)>);

pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads bytes that follow their length.
pub fn delimited(bytes: &mut &[u8]) -> Vec<u8> {
    let length = decode_varint(bytes).unwrap() as usize;
    bytes.copy_to_bytes(length).to_vec()
}

impl Message {
    pub fn parse(mut bytes: &[u8]) -> Message {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let (number, form) = decode_key(&mut bytes).unwrap();
            let value = match form {
                WireType::Varint => Field::Varint(decode_varint(&mut bytes).unwrap()),
                WireType::SixtyFourBit => Field::Fixed(bytes.get_u64_le()),
                WireType::LengthDelimited => Field::Bytes(delimited(&mut bytes)),
                _ => panic!("form {form:?}"),
            };
            fields.push((number, value));
        }
        Message(fields)
    }

    pub fn all(&self, number: u32) -> impl Iterator<Item = &Field> {
        self.0.iter().filter(move |field| field.0 == number).map(|field| &field.1)
    }

    /// The only field with this number.
    pub fn one(&self, number: u32) -> Option<&Field> {
        let mut all = self.all(number);
        let one = all.next();
        assert!(all.next().is_none(), "field {number} twice in {self:?}");
        one
    }

    pub fn messages(&self, number: u32) -> Vec<Message> {
        let parse = |field: &Field| match field {
            Field::Bytes(bytes) => Message::parse(bytes),
            other => panic!("{other:?} is no message"),
        };
        self.all(number).map(parse).collect()
    }

    pub fn message(&self, number: u32) -> Message {
        self.messages(number).pop().unwrap_or_default()
    }

    pub fn uint(&self, number: u32) -> u64 {
        match self.one(number) {
            Some(&Field::Varint(value)) => value,
            None => 0,
            other => panic!("{other:?} is no varint"),
        }
    }

    pub fn sint(&self, number: u32) -> i64 {
        unzigzag(self.uint(number))
    }

    pub fn fixed(&self, number: u32) -> u64 {
        match self.one(number) {
            Some(&Field::Fixed(value)) => value,
            None => 0,
            other => panic!("{other:?} is not of eight bytes"),
        }
    }

    pub fn double(&self, number: u32) -> f64 {
        f64::from_bits(self.fixed(number))
    }

    pub fn text(&self, number: u32) -> String {
        match self.one(number) {
            Some(Field::Bytes(bytes)) => String::from_utf8(bytes.clone()).unwrap(),
            None => String::new(),
            other => panic!("{other:?} is no text"),
        }
    }

    pub fn packed(&self, number: u32) -> Vec<u64> {
        let Some(Field::Bytes(bytes)) = self.one(number) else { return Vec::new() };
        let (mut bytes, mut values) = (&bytes[..], Vec::new());
        while !bytes.is_empty() {
            values.push(decode_varint(&mut bytes).unwrap());
        }
        values
    }

    pub fn labels(&self, number: u32) -> Vec<(String, String)> {
        self.messages(number).iter().map(|label| (label.text(1), label.text(2))).collect()
    }
}
