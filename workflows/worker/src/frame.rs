//! What goes through the pipes: 64-bit little-endian words, without names, so that a language needs
//! ten lines for it.
//!
//! * The worker begins with a [`Hello`]: the version of this format, and what an empty call into
//!   its library takes, in nanoseconds; 0 where there is no library.
//! * A [`Step`]: operation, argument, part, the number of values, the values.
//! * An [`Answer`]: the value, and `CLOCK_MONOTONIC` in nanoseconds before and after.
//!
//! Steps and answers alternate. The end of its input is the end of the worker.

use std::io::{self, ErrorKind, Read, Write};

use lab_protocol::workflows::Operation;

/// Of this format.
pub const VERSION: u64 = 1;
/// More values than any step takes: ten thousand parts of each of ten thousand steps.
const VALUES_AT_MOST: u64 = 100_000_000;
const WORD: usize = size_of::<u64>();

/// What a worker says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// Median of an empty call into the library, where the worker calls one.
    pub ffi_call_ns: Option<u64>,
}

/// What is to be computed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// Which operation, by its place in [`Operation`].
    pub operation: u64,
    /// Its argument; 0 where it has none.
    pub argument: u64,
    /// Which part of a fan-out.
    pub part: u64,
    /// What it takes, in order.
    pub values: Vec<u64>,
}

/// What was computed, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The step's value.
    pub value: u64,
    /// Before the operation.
    pub started_ns: i64,
    /// After it.
    pub finished_ns: i64,
}

impl Hello {
    /// Says it.
    ///
    /// # Errors
    /// Nobody reads.
    pub fn write(self, to: &mut impl Write) -> io::Result<()> {
        write(to, &[VERSION, self.ffi_call_ns.unwrap_or(0)])
    }

    /// Hears it; `None` when nothing comes.
    ///
    /// # Errors
    /// It is of another version, or no hello.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        match read(from)? {
            None => Ok(None),
            Some([VERSION, call_ns]) => {
                Ok(Some(Self { ffi_call_ns: (call_ns > 0).then_some(call_ns) }))
            }
            Some([other, _]) => {
                Err(bad(format!("the worker speaks version {other}, we speak {VERSION}")))
            }
        }
    }
}

impl Step {
    /// The operation.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn operation(&self) -> io::Result<Operation> {
        Ok(match self.operation {
            0 => Operation::Pass,
            1 => Operation::Square,
            2 => Operation::Sum,
            3 => Operation::Constant(self.argument),
            4 => Operation::SumRows(self.argument),
            other => return Err(bad(format!("there is no operation {other}"))),
        })
    }

    /// Computer a step out, in one write: a worker that is woken twice for a step would be slower.
    ///
    /// # Errors
    /// Nobody reads.
    pub fn write(
        to: &mut impl Write,
        operation: Operation,
        part: u64,
        values: &[u64],
    ) -> io::Result<()> {
        let (number, argument) = match operation {
            Operation::Pass => (0, 0),
            Operation::Square => (1, 0),
            Operation::Sum => (2, 0),
            Operation::Constant(value) => (3, value),
            Operation::SumRows(rows) => (4, rows),
        };
        let mut words = vec![number, argument, part, values.len() as u64];
        words.extend(values);
        write(to, &words)
    }

    /// Takes the next step over this one; false when there is none.
    ///
    /// # Errors
    /// It breaks off, or is none.
    pub fn read(&mut self, from: &mut impl Read) -> io::Result<bool> {
        let Some([operation, argument, part, count]) = read(from)? else { return Ok(false) };
        if count > VALUES_AT_MOST {
            return Err(bad(format!("a step of {count} values")));
        }
        (self.operation, self.argument, self.part) = (operation, argument, part);
        self.values.clear();
        for _ in 0..count {
            let Some([value]) = read(from)? else { return Err(broken_off()) };
            self.values.push(value);
        }
        Ok(true)
    }
}

impl Answer {
    /// Gives it.
    ///
    /// # Errors
    /// Nobody reads.
    pub fn write(self, to: &mut impl Write) -> io::Result<()> {
        write(to, &[self.value, self.started_ns.cast_unsigned(), self.finished_ns.cast_unsigned()])
    }

    /// Gets it; `None` when the worker has ended.
    ///
    /// # Errors
    /// It breaks off.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let words: Option<[u64; 3]> = read(from)?;
        Ok(words.map(|[value, started, finished]| Self {
            value,
            started_ns: started.cast_signed(),
            finished_ns: finished.cast_signed(),
        }))
    }
}

fn write(to: &mut impl Write, words: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    to.write_all(&bytes)?;
    to.flush()
}

/// `None` at the end of the input, if that is between frames.
fn read<const WORDS: usize>(from: &mut impl Read) -> io::Result<Option<[u64; WORDS]>> {
    let mut words = [0; WORDS];
    for (index, word) in words.iter_mut().enumerate() {
        let mut bytes = [0; WORD];
        let mut filled = 0;
        while filled < WORD {
            match from.read(&mut bytes[filled..]) {
                Ok(0) if index == 0 && filled == 0 => return Ok(None),
                Ok(0) => return Err(broken_off()),
                Ok(length) => filled += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        *word = u64::from_le_bytes(bytes);
    }
    Ok(Some(words))
}

fn broken_off() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "a frame breaks off")
}

fn bad(sentence: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, sentence)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            Just(Operation::Pass),
            Just(Operation::Square),
            Just(Operation::Sum),
            any::<u64>().prop_map(Operation::Constant),
            any::<u64>().prop_map(Operation::SumRows),
        ]
    }

    proptest! {
        #[test]
        fn a_step_arrives_as_it_was_sent(
            operation in operation(),
            part: u64,
            values in proptest::collection::vec(any::<u64>(), 0..50),
        ) {
            let mut bytes = Vec::new();
            Step::write(&mut bytes, operation, part, &values).unwrap();
            let mut step = Step::default();
            let mut input = bytes.as_slice();
            prop_assert!(step.read(&mut input).unwrap());
            prop_assert_eq!(step.operation().unwrap(), operation);
            prop_assert_eq!((step.part, &step.values), (part, &values));
            prop_assert!(!step.read(&mut input).unwrap());
            let cut = bytes.len() - 1;
            prop_assert!(step.read(&mut &bytes[..cut]).is_err());
        }
    }

    #[test]
    fn a_hello_of_another_version_is_refused() {
        let mut bytes = Vec::new();
        Hello { ffi_call_ns: Some(90) }.write(&mut bytes).unwrap();
        let heard = Hello::read(&mut bytes.as_slice()).unwrap();
        assert_eq!(heard, Some(Hello { ffi_call_ns: Some(90) }));
        bytes[0] = 9;
        let refused = Hello::read(&mut bytes.as_slice()).unwrap_err();
        assert!(refused.to_string().contains("version 9"), "{refused}");
        assert_eq!(Hello::read(&mut [].as_slice()).unwrap(), None);
    }
}
