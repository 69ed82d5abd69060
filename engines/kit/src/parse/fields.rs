//! The fields as a deserializer passes them, without memory of their own where the deserializer
//! can lend them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Message;

/// The depth that `serde_json` refuses a value beyond; the others have no such limit, and their
/// stack has one.
const DEPTH: u32 = 127;

/// A string of the line, or of the scratch text.
#[derive(Debug, Clone, Copy, Default)]
enum Slot<'de> {
    #[default]
    Absent,
    Borrowed(&'de str),
    /// From and to, in the scratch text.
    Copied(usize, usize),
}

/// The fields found so far.
#[derive(Debug)]
pub(super) struct Draft<'de, 's> {
    scratch: &'s mut String,
    kind: Slot<'de>,
    role: Slot<'de>,
    session: Slot<'de>,
    cwd: Slot<'de>,
    timestamp: Slot<'de>,
    message_text: Slot<'de>,
    content: Slot<'de>,
    summary: Slot<'de>,
}

impl<'de, 's> Draft<'de, 's> {
    pub(super) fn new(scratch: &'s mut String) -> Self {
        Self {
            scratch,
            kind: Slot::Absent,
            role: Slot::Absent,
            session: Slot::Absent,
            cwd: Slot::Absent,
            timestamp: Slot::Absent,
            message_text: Slot::Absent,
            content: Slot::Absent,
            summary: Slot::Absent,
        }
    }

    pub(super) fn message(&self) -> Message<'_> {
        let get = |slot: &Slot<'de>| self.get(*slot);
        let text = get(&self.message_text).or_else(|| get(&self.content));
        Message {
            kind: get(&self.kind),
            role: get(&self.role),
            session: get(&self.session),
            cwd: get(&self.cwd),
            timestamp: get(&self.timestamp),
            text: jsonl_search::Text::Whole(
                text.or_else(|| get(&self.summary)).unwrap_or_default(),
            ),
        }
    }

    fn get(&self, slot: Slot<'de>) -> Option<&str> {
        match slot {
            Slot::Absent => None,
            Slot::Borrowed(text) => Some(text),
            Slot::Copied(from, to) => Some(&self.scratch[from..to]),
        }
    }

    /// A text block; several are lines of one text.
    fn add_text(&mut self, block: Slot<'de>) {
        self.message_text = match (self.message_text, block) {
            (text, Slot::Absent) => text,
            (Slot::Absent, block) => block,
            (text, block) => {
                let from = self.scratch.len();
                for (slot, before) in [(text, ""), (block, "\n")] {
                    self.scratch.push_str(before);
                    match slot {
                        Slot::Absent => {}
                        Slot::Borrowed(text) => self.scratch.push_str(text),
                        Slot::Copied(from, to) => self.scratch.extend_from_within(from..to),
                    }
                }
                Slot::Copied(from, self.scratch.len())
            }
        };
    }
}

/// What a visitor does with the values that it has no use for: look at them, so that what is wrong
/// with them is found, and forget them. `IgnoredAny` would let a deserializer skip them unseen.
macro_rules! forget_scalars {
    ($value:ty, $forgotten:expr) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value")
        }
        fn visit_bool<E: Error>(self, _: bool) -> Result<$value, E> {
            Ok($forgotten)
        }
        fn visit_i64<E: Error>(self, _: i64) -> Result<$value, E> {
            Ok($forgotten)
        }
        fn visit_u64<E: Error>(self, _: u64) -> Result<$value, E> {
            Ok($forgotten)
        }
        fn visit_i128<E: Error>(self, _: i128) -> Result<$value, E> {
            Ok($forgotten)
        }
        fn visit_u128<E: Error>(self, _: u128) -> Result<$value, E> {
            Ok($forgotten)
        }
        fn visit_f64<E: Error>(self, number: f64) -> Result<$value, E> {
            if number.is_finite() { Ok($forgotten) } else { Err(E::custom("beyond f64")) }
        }
        fn visit_unit<E: Error>(self) -> Result<$value, E> {
            Ok($forgotten)
        }
    };
}

macro_rules! forget_strings {
    ($value:ty, $forgotten:expr) => {
        fn visit_str<E: Error>(self, _: &str) -> Result<$value, E> {
            Ok($forgotten)
        }
    };
}

macro_rules! forget_seqs {
    ($value:ty, $forgotten:expr) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<$value, A::Error> {
            let below = Skip(deeper(self.depth())?);
            while seq.next_element_seed(below)?.is_some() {}
            Ok($forgotten)
        }
    };
}

macro_rules! forget_maps {
    ($value:ty, $forgotten:expr) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$value, A::Error> {
            let below = Skip(deeper(self.depth())?);
            while map.next_key_seed(below)?.is_some() {
                map.next_value_seed(below)?;
            }
            Ok($forgotten)
        }
    };
}

macro_rules! any_value {
    ($seed:ty, $value:ty) => {
        impl<'de> DeserializeSeed<'de> for $seed {
            type Value = $value;
            fn deserialize<D: Deserializer<'de>>(self, any: D) -> Result<$value, D::Error> {
                any.deserialize_any(self)
            }
        }
    };
}

/// One more level; an error where it is one too many.
fn deeper<E: Error>(depth: u32) -> Result<u32, E> {
    if depth < DEPTH { Ok(depth + 1) } else { Err(E::custom("too deep")) }
}

/// Any value, at so many levels below the line.
#[derive(Debug, Clone, Copy)]
struct Skip(u32);

impl Skip {
    fn depth(self) -> u32 {
        self.0
    }
}

any_value!(Skip, ());

impl<'de> Visitor<'de> for Skip {
    type Value = ();
    forget_scalars!((), ());
    forget_strings!((), ());
    forget_seqs!((), ());
    forget_maps!((), ());
}

/// The keys of the line, of its message and of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Type,
    Message,
    SessionId,
    Cwd,
    Timestamp,
    Content,
    Summary,
    Role,
    Text,
    Other,
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Name;
    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Name, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Name;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: Error>(self, key: &str) -> Result<Name, E> {
        Ok(match key {
            "type" => Name::Type,
            "message" => Name::Message,
            "sessionId" => Name::SessionId,
            "cwd" => Name::Cwd,
            "timestamp" => Name::Timestamp,
            "content" => Name::Content,
            "summary" => Name::Summary,
            "role" => Name::Role,
            "text" => Name::Text,
            _ => Name::Other,
        })
    }
}

/// A string, or any other value, which leaves the slot absent.
struct Text<'a> {
    scratch: &'a mut String,
    depth: u32,
}

impl Text<'_> {
    fn depth(&self) -> u32 {
        self.depth
    }
}

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = Slot<'de>;
    fn deserialize<D: Deserializer<'de>>(self, any: D) -> Result<Slot<'de>, D::Error> {
        any.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text<'_> {
    type Value = Slot<'de>;
    forget_scalars!(Slot<'de>, Slot::Absent);
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Slot<'de>, E> {
        Ok(Slot::Borrowed(text))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Slot<'de>, E> {
        let from = self.scratch.len();
        self.scratch.push_str(text);
        Ok(Slot::Copied(from, self.scratch.len()))
    }
    forget_seqs!(Slot<'de>, Slot::Absent);
    forget_maps!(Slot<'de>, Slot::Absent);
}

/// The line: one object.
pub(super) struct Root<'a, 'de, 's>(pub(super) &'a mut Draft<'de, 's>);

impl<'de> DeserializeSeed<'de> for Root<'_, 'de, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, line: D) -> Result<(), D::Error> {
        line.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_, 'de, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let draft = self.0;
        while let Some(name) = map.next_key_seed(Key)? {
            let text = Text { scratch: draft.scratch, depth: 1 };
            match name {
                Name::Type => draft.kind = map.next_value_seed(text)?,
                Name::SessionId => draft.session = map.next_value_seed(text)?,
                Name::Cwd => draft.cwd = map.next_value_seed(text)?,
                Name::Timestamp => draft.timestamp = map.next_value_seed(text)?,
                Name::Content => draft.content = map.next_value_seed(text)?,
                Name::Summary => draft.summary = map.next_value_seed(text)?,
                Name::Message => map.next_value_seed(Body(draft))?,
                Name::Role | Name::Text | Name::Other => map.next_value_seed(Skip(1))?,
            }
        }
        Ok(())
    }
}

/// The line's message, at level 1.
struct Body<'a, 'de, 's>(&'a mut Draft<'de, 's>);

impl Body<'_, '_, '_> {
    fn depth(&self) -> u32 {
        1
    }
}

impl<'de> DeserializeSeed<'de> for Body<'_, 'de, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, any: D) -> Result<(), D::Error> {
        (self.0.role, self.0.message_text) = (Slot::Absent, Slot::Absent);
        any.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Body<'_, 'de, '_> {
    type Value = ();
    forget_scalars!((), ());
    forget_strings!((), ());
    forget_seqs!((), ());
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let draft = self.0;
        while let Some(name) = map.next_key_seed(Key)? {
            match name {
                Name::Role => {
                    let text = Text { scratch: draft.scratch, depth: 2 };
                    draft.role = map.next_value_seed(text)?;
                }
                Name::Content => map.next_value_seed(Content(draft))?,
                _ => map.next_value_seed(Skip(2))?,
            }
        }
        Ok(())
    }
}

/// The message's content, at level 2: a string or blocks.
struct Content<'a, 'de, 's>(&'a mut Draft<'de, 's>);

impl Content<'_, '_, '_> {
    fn depth(&self) -> u32 {
        2
    }
}

impl<'de> DeserializeSeed<'de> for Content<'_, 'de, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, any: D) -> Result<(), D::Error> {
        self.0.message_text = Slot::Absent;
        any.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Content<'_, 'de, '_> {
    type Value = ();
    forget_scalars!((), ());
    forget_maps!((), ());
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<(), E> {
        self.0.message_text = Slot::Borrowed(text);
        Ok(())
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let from = self.0.scratch.len();
        self.0.scratch.push_str(text);
        self.0.message_text = Slot::Copied(from, self.0.scratch.len());
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Block(self.0))?.is_some() {}
        Ok(())
    }
}

/// A block of the content, at level 3.
struct Block<'a, 'de, 's>(&'a mut Draft<'de, 's>);

impl Block<'_, '_, '_> {
    fn depth(&self) -> u32 {
        3
    }
}

impl<'de> DeserializeSeed<'de> for Block<'_, 'de, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, any: D) -> Result<(), D::Error> {
        any.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Block<'_, 'de, '_> {
    type Value = ();
    forget_scalars!((), ());
    forget_strings!((), ());
    forget_seqs!((), ());
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let draft = self.0;
        let mut block = Slot::Absent;
        while let Some(name) = map.next_key_seed(Key)? {
            if name == Name::Text {
                let text = Text { scratch: draft.scratch, depth: 4 };
                block = map.next_value_seed(text)?;
            } else {
                map.next_value_seed(Skip(4))?;
            }
        }
        draft.add_text(block);
        Ok(())
    }
}
