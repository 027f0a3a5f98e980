//! arena_kit: the protocol arena/1 for bots in Rust, without a crate.
//!
//! You write one function and call `play`:
//!
//!     mod arena_kit;
//!     use arena_kit::*;
//!
//!     fn choose(view: &Json, legal: &Json, clock: &Json) -> Json {
//!         legal[0].clone()
//!     }
//!
//!     fn main() {
//!         play(choose);
//!     }
//!
//!     view      all that your seat may know; the page of the game describes it; an object
//!     legal     the legal actions, an array; Json::Null where they cannot be listed
//!     clock     milliseconds: clock["move_ms"].number() for this move, clock["bank_ms"].number() in the bank
//!     returns   one of `legal`, its index as Json::Number, or an action of your own: Json::parse(r#"{"pass":true}"#)
//!
//! You may use:
//!
//!     value["key"], value[2]     a member or an item; Json::Null if there is none
//!     value.items()              the items of an array, empty if it is none; value.members() of an object
//!     value.number(), .text()    0.0 and "" if it is none
//!     value.is_null()            it is null, or not there at all
//!     Json::parse, to_string()   from and to JSON text
//!     request()                  the whole message: events, refused...
//!     note("I am ahead")         a note that stands at this step in `arena show`
//!     random_below(6)            0 to 5, by a generator that is seeded for each match, so that it can be repeated
//!     println!, eprintln!        go to stderr, and `arena match --steps` shows it; stdout is the referee's
//!     hello(), match_start()     the messages `hello` and `match_start`; match_start()["match"] is another in each match
//!     set_evaluate(evaluate)     before `play`: a function (view, legal, budget_ms) that judges every action for
//!                                `arena coach --by`: it returns (values, errors), two vectors: values from 0 to 1 in
//!                                the order of `legal`, and their standard errors, empty if they are computed
//!
//! A panic ends the process with its text; the match is lost, and its story has the text.

#![allow(dead_code)]

use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs::File;
use std::io::{stdin, BufRead, Write};
use std::ops::Index;
use std::os::unix::io::FromRawFd;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

pub type Evaluate = fn(&Json, &Json, f64) -> (Vec<f64>, Vec<f64>);

static NULL: Json = Json::Null;

thread_local! {
    static KEPT: RefCell<[Json; 3]> = RefCell::new([Json::Null, Json::Null, Json::Null]); // hello, match_start, request
    static NOTES: RefCell<String> = RefCell::new(String::new());
    static SEED: Cell<u64> = Cell::new(0);
    static EVALUATE: Cell<Option<Evaluate>> = Cell::new(None);
}

pub fn hello() -> Json {
    KEPT.with(|kept| kept.borrow()[0].clone())
}

pub fn match_start() -> Json {
    KEPT.with(|kept| kept.borrow()[1].clone())
}

pub fn request() -> Json {
    KEPT.with(|kept| kept.borrow()[2].clone())
}

/// Offers to judge matches by this function.
pub fn set_evaluate(evaluate: Evaluate) {
    EVALUATE.with(|kept| kept.set(Some(evaluate)));
}

/// A note for the story of the match; several are joined. The opponent never sees it.
pub fn note(text: &str) {
    NOTES.with(|notes| {
        let mut notes = notes.borrow_mut();
        if !notes.is_empty() {
            notes.push('\n');
        }
        notes.push_str(text);
    });
}

/// A number from 0 to limit - 1 (the generator splitmix64).
pub fn random_below(limit: usize) -> usize {
    SEED.with(|seed| {
        seed.set(seed.get().wrapping_add(0x9e3779b97f4a7c15));
        let mut mixed = seed.get();
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d049bb133111eb);
        ((mixed ^ mixed >> 31) % limit.max(1) as u64) as usize
    })
}

/// Plays until the referee says quit or goes away.
pub fn play(choose: fn(&Json, &Json, &Json) -> Json) {
    let mut referee = take_over_stdout();
    for line in stdin().lock().lines() {
        let line = line.expect("a line in UTF-8");
        if line.trim().is_empty() {
            continue;
        }
        let message = Json::parse(&line);
        if message["type"].text() == "quit" {
            return;
        }
        if let Some(reply) = answer(message, choose) {
            if referee.write_all(format!("{}\n", reply).as_bytes()).is_err() {
                return; // the referee is gone: nothing left to play for
            }
        }
    }
}

extern "C" {
    fn dup(fd: i32) -> i32;
    fn dup2(fd: i32, other: i32) -> i32;
}

/// The line to the referee. What is printed to stdout goes to stderr from here on.
fn take_over_stdout() -> File {
    // Safe: the new descriptor belongs to the File alone.
    unsafe {
        let referee = File::from_raw_fd(dup(1));
        dup2(2, 1);
        referee
    }
}

/// Unknown types get no answer, so that the protocol can grow.
fn answer(message: Json, choose: fn(&Json, &Json, &Json) -> Json) -> Option<Json> {
    match message["type"].text() {
        "hello" => {
            keep(0, message);
            let capability = EVALUATE.with(|kept| kept.get()).map_or("", |_| "\"evaluate\"");
            Some(Json::parse(&format!(r#"{{"type":"hello","protocols":[1],"capabilities":[{}]}}"#, capability)))
        }
        "match_start" => {
            SEED.with(|seed| seed.set(message["bot_seed"].number() as u64));
            let reply = object(&[("type", Json::from("ready")), ("match", message["match"].clone())]);
            keep(1, message);
            Some(reply)
        }
        "request" => {
            keep(2, message.clone());
            NOTES.with(|notes| notes.borrow_mut().clear());
            let action = choose(&message["view"], &message["legal"], &message["clock"]);
            if !matches!(action, Json::Object(_) | Json::Number(_)) {
                panic!("choose must return an action (an object) or an index in legal, not {}", action);
            }
            let mut fields = vec![("type", Json::from("action")), ("id", message["id"].clone()), ("action", action)];
            let notes: String = NOTES.with(|notes| notes.borrow().chars().take(1000).collect());
            if !notes.is_empty() {
                fields.push(("note", Json::Text(notes)));
            }
            Some(object(&fields))
        }
        "evaluate" => {
            let evaluate = EVALUATE.with(|kept| kept.get())?;
            keep(2, message.clone());
            let (values, errors) = evaluate(&message["view"], &message["legal"], message["budget_ms"].number());
            let array_of = |numbers: Vec<f64>| Json::Array(numbers.into_iter().map(Json::Number).collect());
            Some(object(&[
                ("type", Json::from("evaluation")),
                ("id", message["id"].clone()),
                ("values", array_of(values)),
                ("errors", array_of(errors)),
            ]))
        }
        "error" => {
            let [code, text, hint] = ["code", "message", "hint"].map(|key| message[key].text());
            eprintln!("referee: {}: {} ({})", code, text, hint);
            None
        }
        _ => None,
    }
}

fn keep(place: usize, message: Json) {
    KEPT.with(|kept| kept.borrow_mut()[place] = message);
}

fn object(fields: &[(&str, Json)]) -> Json {
    Json::Object(fields.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
}

impl Json {
    /// A value from JSON text; it panics for what is not JSON, or deeper than 200.
    pub fn parse(text: &str) -> Json {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0);
        assert!(reader.peek() == 0, "not JSON: something follows its value");
        value
    }

    pub fn is_null(&self) -> bool {
        *self == Json::Null
    }

    pub fn number(&self) -> f64 {
        match self {
            Json::Number(number) => *number,
            _ => 0.0,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            _ => "",
        }
    }

    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_string())
    }
}

impl Index<usize> for Json {
    type Output = Json;
    fn index(&self, index: usize) -> &Json {
        self.items().get(index).unwrap_or(&NULL)
    }
}

impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, key: &str) -> &Json {
        self.members().iter().find(|member| member.0 == key).map_or(&NULL, |member| &member.1)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(value) => write!(out, "{}", value),
            Json::Number(number) => write!(out, "{}", number),
            Json::Text(text) => write_text(out, text),
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{}", if index == 0 { "[" } else { "," }, item)?;
                }
                out.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Json::Object(members) => {
                for (index, (key, value)) in members.iter().enumerate() {
                    out.write_str(if index == 0 { "{" } else { "," })?;
                    write_text(out, key)?;
                    write!(out, ":{}", value)?;
                }
                out.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn write_text(out: &mut fmt::Formatter, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(out, "\\{}", c)?,
            '\0'..='\x1f' => write!(out, "\\u{:04x}", c as u32)?,
            _ => write!(out, "{}", c)?,
        }
    }
    out.write_str("\"")
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn peek(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
        self.byte()
    }

    fn expect(&mut self, wanted: u8) {
        assert!(self.peek() == wanted, "not JSON at byte {}", self.at);
        self.at += 1;
    }

    fn value(&mut self, depth: usize) -> Json {
        assert!(depth <= 200, "JSON that is nested too deeply");
        match self.peek() {
            b'"' => Json::Text(self.string()),
            b'[' => self.array(depth),
            b'{' => self.object(depth),
            _ => self.word_or_number(),
        }
    }

    fn array(&mut self, depth: usize) -> Json {
        let mut items = Vec::new();
        self.at += 1;
        if self.peek() != b']' {
            items.push(self.value(depth + 1));
            while self.peek() == b',' {
                self.at += 1;
                items.push(self.value(depth + 1));
            }
        }
        self.expect(b']');
        Json::Array(items)
    }

    fn object(&mut self, depth: usize) -> Json {
        let mut members = Vec::new();
        self.at += 1;
        if self.peek() != b'}' {
            members.push(self.member(depth));
            while self.peek() == b',' {
                self.at += 1;
                members.push(self.member(depth));
            }
        }
        self.expect(b'}');
        Json::Object(members)
    }

    fn member(&mut self, depth: usize) -> (String, Json) {
        self.peek();
        let key = self.string();
        self.expect(b':');
        (key, self.value(depth + 1))
    }

    fn word_or_number(&mut self) -> Json {
        let from = self.at;
        while matches!(self.byte(), b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') {
            self.at += 1;
        }
        match &self.text[from..self.at] {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            digits => Json::Number(digits.parse().unwrap_or_else(|_| panic!("not JSON at byte {}", from))),
        }
    }

    fn string(&mut self) -> String {
        let mut units: Vec<u16> = Vec::new(); // of UTF-16, as the escapes count
        self.expect(b'"');
        loop {
            let c = self.text[self.at..].chars().next().expect("a text of JSON with its end");
            self.at += c.len_utf8();
            match c {
                '"' => return String::from_utf16_lossy(&units),
                '\\' => units.push(self.escaped()),
                _ => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escaped(&mut self) -> u16 {
        let letter = self.byte();
        self.at += 1;
        match letter {
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4).unwrap_or("");
                self.at += 4;
                u16::from_str_radix(digits, 16).expect("four digits of \\u in a text of JSON")
            }
            b'b' => 8,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'"' | b'\\' | b'/' => letter.into(),
            _ => panic!("not JSON at byte {}", self.at),
        }
    }
}
