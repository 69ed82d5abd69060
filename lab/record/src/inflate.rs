//! The first bytes of what a zlib stream unpacks to (RFC 1950 and 1951). A histogram tells there
//! how much memory its reader is to set aside, and a stranger's may tell gigabytes.

/// Bits of the longest code of a symbol.
const CODE_BITS_MAX: usize = 15;
/// Lengths of matches by symbol from 257, as base and further bits; RFC 1951, 3.2.5.
const LENGTHS: [(u16, u8); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
/// In this order the lengths of the codes of code lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The first `count` bytes; `None` where the stream is broken or ends before.
pub(crate) fn first_bytes(zlib: &[u8], count: usize) -> Option<Vec<u8>> {
    let mut bits = Bits { bytes: zlib.get(2..)?, at: 0 };
    let mut out = Vec::new();
    while out.len() < count {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, count)?,
            1 => block(&mut bits, &fixed(), &mut out, count)?,
            2 => {
                let codes = dynamic(&mut bits)?;
                block(&mut bits, &codes, &mut out, count)?;
            }
            _ => return None,
        }
        if is_last && out.len() < count {
            return None;
        }
    }
    out.truncate(count);
    Some(out)
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// The next bits as a number, the first being the lowest.
    fn take(&mut self, count: u8) -> Option<u16> {
        let mut value = 0;
        for place in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value |= u16::from(byte >> (self.at % 8) & 1) << place;
            self.at += 1;
        }
        Some(value)
    }
}

/// A code of symbols: how many there are of each length, and the symbols in their order.
struct Code {
    counts: [u16; CODE_BITS_MAX + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn of(lengths: &[u8]) -> Self {
        let mut counts = [0; CODE_BITS_MAX + 1];
        lengths.iter().for_each(|length| counts[usize::from(*length)] += 1);
        let with_code = (0..lengths.len()).filter(|symbol| lengths[*symbol] > 0);
        let mut symbols: Vec<u16> = with_code.map(|symbol| symbol as u16).collect();
        symbols.sort_by_key(|symbol| lengths[usize::from(*symbol)]);
        Self { counts, symbols }
    }

    fn next(&self, bits: &mut Bits<'_>) -> Option<u16> {
        let (mut code, mut first, mut index) = (0_i32, 0_i32, 0_i32);
        for count in &self.counts[1..] {
            let count = i32::from(*count);
            code |= i32::from(bits.take(1)?);
            if code - first < count {
                return self.symbols.get(usize::try_from(index + code - first).ok()?).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>, count: usize) -> Option<()> {
    bits.at = bits.at.next_multiple_of(8);
    let length = usize::from(bits.take(16)?);
    bits.take(16)?;
    for _ in 0..length.min(count - out.len()) {
        out.push(bits.take(8)? as u8);
    }
    Some(())
}

/// Both codes of a block whose codes are not told: of bytes and lengths, and of distances.
fn fixed() -> (Code, Code) {
    let length = |symbol: u16| match symbol {
        0..=143 => 8,
        144..=255 => 9,
        256..=279 => 7,
        _ => 8,
    };
    let lengths: Vec<u8> = (0..288).map(length).collect();
    (Code::of(&lengths), Code::of(&[5; 30]))
}

fn dynamic(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let literals = usize::from(bits.take(5)?) + 257;
    let distances = usize::from(bits.take(5)?) + 1;
    let told = usize::from(bits.take(4)?) + 4;
    let mut of_lengths = [0; 19];
    for place in &ORDER[..told] {
        of_lengths[*place] = bits.take(3)? as u8;
    }
    let code = Code::of(&of_lengths);
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < literals + distances {
        let (value, times) = match code.next(bits)? {
            16 => (*lengths.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (length as u8, 1),
        };
        lengths.extend(std::iter::repeat_n(value, usize::from(times)));
    }
    let (of_literals, of_distances) = lengths.split_at(literals);
    Some((Code::of(of_literals), Code::of(of_distances.get(..distances)?)))
}

/// Unpacks a block, as far as `count` bytes.
fn block(
    bits: &mut Bits<'_>,
    (literals, distances): &(Code, Code),
    out: &mut Vec<u8>,
    count: usize,
) -> Option<()> {
    while out.len() < count {
        match literals.next(bits)? {
            byte @ 0..=255 => out.push(byte as u8),
            256 => return Some(()),
            symbol => {
                let (base, more) = LENGTHS.get(usize::from(symbol) - 257)?;
                let length = base + bits.take(*more)?;
                let distance = distance(distances.next(bits)?, bits)?;
                let from = out.len().checked_sub(distance)?;
                for place in 0..usize::from(length).min(count - out.len()) {
                    out.push(*out.get(from + place)?);
                }
            }
        }
    }
    Some(())
}

/// RFC 1951, 3.2.5: from the fifth on, each two symbols take a bit more.
fn distance(symbol: u16, bits: &mut Bits<'_>) -> Option<usize> {
    let more = (symbol / 2).saturating_sub(1);
    let base = if symbol < 4 { usize::from(symbol) } else { usize::from(2 + symbol % 2) << more };
    let further = bits.take(u8::try_from(more).ok().filter(|more| *more <= 13)?)?;
    Some(base + usize::from(further) + 1)
}
