//! Reads the header that was just generated: the one parser of C in this project.
//!
//! It knows what the header may contain, and panics with the text at fault on all else, so that nothing is passed over.

use std::iter::Peekable;
use std::vec::IntoIter;

/// What the header declares, in its order.
#[derive(Debug)]
pub struct Item {
    /// Which of the header's sections, counted from 0.
    pub section: usize,
    pub comment: Vec<String>,
    pub name: String,
    pub kind: Kind,
}

#[derive(Debug)]
pub enum Kind {
    /// A macro, and its expression as it is written.
    Constant(String),
    /// A macro that a struct of options is initialised with.
    Initialiser,
    /// Another name of a type.
    Alias(Type),
    /// A struct whose fields are private.
    Handle,
    Struct(Vec<Declaration>),
    Function(Type, Vec<Declaration>),
}

/// A type, and what it is the type of.
#[derive(Debug)]
pub struct Declaration {
    pub name: String,
    pub of: Type,
    /// The length of an array: a number or a macro.
    pub length: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// Without pointers and `const`.
    pub base: String,
    /// Whether what the innermost pointer leads to is only read.
    pub is_const: bool,
    /// One for each pointer, from the innermost to the outermost: whether the pointer itself is constant.
    pub pointers: Vec<bool>,
}

impl Type {
    /// As C spells it.
    pub fn spelled(&self) -> String {
        let base = if self.is_const { format!("const {}", self.base) } else { self.base.clone() };
        let pointers: Vec<&str> =
            self.pointers.iter().map(|constant| if *constant { "*const" } else { "*" }).collect();
        if pointers.is_empty() { base } else { format!("{base} {}", pointers.join(" ").replace("* *", "**")) }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Section,
    Comment(Vec<String>),
    Define(String, String),
    Word(String),
    Sign(char),
}

/// The lines of a comment, without what frames them.
fn comment(text: &str) -> Vec<String> {
    let lines = text.trim_start_matches('*').trim_end().lines();
    let lines = lines.map(|line| line.trim_start().trim_start_matches('*').to_string());
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_string());
    lines.skip_while(|line| line.is_empty()).collect()
}

fn directive(line: &str) -> Option<Token> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["#ifndef" | "#define", "PICOLLO_H"] | ["#include", "<stddef.h>" | "<stdint.h>"] | ["#endif", ..] => {
            None
        }
        ["#define", name, ref expression @ ..] if !expression.is_empty() => {
            Some(Token::Define(name.to_string(), expression.join(" ")))
        }
        _ => panic!("a directive of which the description knows nothing: {line}"),
    }
}

fn tokens(header: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = header.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if let Some(inside) = rest.strip_prefix("/*") {
            let length = inside.find("*/").expect("the end of a comment");
            let text = &inside[..length];
            if text.starts_with(" ---") {
                tokens.push(Token::Section);
            } else if text.starts_with('*') {
                tokens.push(Token::Comment(comment(text)));
            }
            length + 4
        } else if rest.starts_with("#ifdef __cplusplus") {
            rest.find("#endif").expect("the end of a condition") + "#endif".len()
        } else if first == '#' {
            let line = rest.lines().next().unwrap();
            let code = line.split("/*").next().unwrap();
            tokens.extend(directive(code));
            code.len()
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_string()));
            end
        } else {
            tokens.push(Token::Sign(first));
            first.len_utf8()
        };
        rest = rest[end..].trim_start();
    }
    tokens
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
}

impl Parser {
    fn word(&mut self) -> String {
        match self.tokens.next() {
            Some(Token::Word(word)) => word,
            other => panic!("a word was expected, not {other:?}"),
        }
    }

    fn sign(&mut self, sign: char) {
        let next = self.tokens.next();
        assert_eq!(next, Some(Token::Sign(sign)), "in the header");
    }

    fn next_is(&mut self, sign: char) -> bool {
        self.tokens.next_if(|token| *token == Token::Sign(sign)).is_some()
    }

    fn next_is_word(&mut self, word: &str) -> bool {
        self.tokens.next_if(|token| matches!(token, Token::Word(next) if next == word)).is_some()
    }

    fn declaration(&mut self) -> Declaration {
        let is_const = self.next_is_word("const");
        let base = self.word();
        self.declared(is_const, base)
    }

    /// The rest of a declaration, behind the name of its type.
    fn declared(&mut self, is_const: bool, base: String) -> Declaration {
        let mut pointers = Vec::new();
        while self.next_is('*') {
            pointers.push(self.next_is_word("const"));
        }
        let name = self.word();
        let length = self.next_is('[').then(|| {
            let length = self.word();
            self.sign(']');
            length
        });
        Declaration { name, of: Type { base, is_const, pointers }, length }
    }

    /// Up to the closing parenthesis.
    fn parameters(&mut self) -> Vec<Declaration> {
        let mut parameters = Vec::new();
        loop {
            let is_const = self.next_is_word("const");
            let base = self.word();
            if parameters.is_empty() && base == "void" && self.next_is(')') {
                return parameters;
            }
            parameters.push(self.declared(is_const, base));
            if self.next_is(')') {
                return parameters;
            }
            self.sign(',');
        }
    }

    fn comment(&mut self) -> Vec<String> {
        match self.tokens.next_if(|token| matches!(token, Token::Comment(_))) {
            Some(Token::Comment(comment)) => comment,
            _ => Vec::new(),
        }
    }

    /// What follows `typedef`.
    fn type_definition(&mut self) -> (String, Kind) {
        if !self.next_is_word("struct") {
            let declaration = self.declaration();
            return (declaration.name, Kind::Alias(declaration.of));
        }
        let name = self.word();
        let kind = if self.next_is('{') {
            let mut fields = Vec::new();
            while !self.next_is('}') {
                assert!(!self.comment().is_empty(), "a field of {name} says nothing");
                fields.push(self.declaration());
                self.sign(';');
            }
            Kind::Struct(fields)
        } else {
            Kind::Handle
        };
        assert_eq!(self.word(), name);
        (name, kind)
    }

    fn function(&mut self) -> (String, Kind) {
        let declaration = self.declaration();
        self.sign('(');
        let parameters = self.parameters();
        (declaration.name, Kind::Function(declaration.of, parameters))
    }

    fn items(mut self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut sections = 0;
        while let Some(token) = self.tokens.peek() {
            if *token == Token::Section {
                self.tokens.next();
                sections += 1;
                continue;
            }
            let comment = self.comment();
            let (name, kind) = match self.tokens.next_if(|token| matches!(token, Token::Define(..))) {
                Some(Token::Define(name, expression)) if expression.starts_with('{') => {
                    (name, Kind::Initialiser)
                }
                Some(Token::Define(name, expression)) => (name, Kind::Constant(expression)),
                _ => {
                    let parsed =
                        if self.next_is_word("typedef") { self.type_definition() } else { self.function() };
                    self.sign(';');
                    parsed
                }
            };
            assert!(!comment.is_empty(), "{name} says nothing");
            items.push(Item { section: sections - 1, comment, name, kind });
        }
        items
    }
}

/// All that a header declares.
pub fn parse(header: &str) -> Vec<Item> {
    Parser { tokens: tokens(header).into_iter().peekable() }.items()
}
