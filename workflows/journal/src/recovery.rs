//! What a journal that may have been cut off anywhere still says.

use crate::line::{self, Place, Record};

/// The part of a journal that counts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Recovered {
    /// In order.
    pub(crate) records: Vec<Record>,
    /// Bytes of them; what follows is the rest of a write that was never synced.
    pub(crate) length: u64,
    /// The last batch of which there is anything.
    pub(crate) batch: u64,
}

/// Reads a journal's bytes. The first line that is not as it was written ends what counts: its
/// batch was never synced, so nobody has acted on it, and of later batches there is nothing.
///
/// # Errors
/// There is a whole line of a later batch: then the bad one had been synced, and the file has been
/// damaged since. Going on would lose steps.
pub(crate) fn recover(bytes: &[u8]) -> Result<Recovered, String> {
    let mut found = Recovered { records: Vec::new(), length: 0, batch: 0 };
    // The batch that the next line must belong to.
    let mut expected = 1;
    let mut rest = bytes;
    while let Some((line, after)) = split(rest)
        && let Some((place, record)) = line::read(line)
    {
        found.records.push(record);
        found.batch = place.batch;
        found.length += line.len() as u64 + 1;
        expected = place.batch + u64::from(place.index + 1 == place.of);
        rest = after;
    }
    let later =
        |line: &[u8]| line::read(line).is_some_and(|(at, _): (Place, _)| at.batch > expected);
    if rest.split(|&byte| byte == b'\n').any(later) {
        return Err(format!(
            "the journal is damaged after byte {}: a record is missing, later ones are there",
            found.length
        ));
    }
    Ok(found)
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use workflows_kit::Submission;

    use super::*;

    /// Batches of one, two and three records.
    fn journal(batches: u64) -> (Vec<Record>, Vec<u8>) {
        let (mut records, mut lines) = (Vec::new(), String::new());
        for batch in 1..=batches {
            let parts = 1 + batch % 3;
            for index in 0..parts {
                let task = (batch * 3 + index) as u32;
                let record = Record::Task(Submission { task, input: 7, submitted_ns: 12 });
                line::write(&mut lines, Place { batch, index, of: parts }, &record);
                records.push(record);
            }
        }
        (records, lines.into_bytes())
    }

    #[test]
    fn a_journal_cut_off_anywhere_is_read_up_to_there() {
        let (records, bytes) = journal(6);
        for end in 0..=bytes.len() {
            let found = recover(&bytes[..end]).unwrap();
            let whole = bytes[..end].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(found.records, records[..whole]);
            assert!(bytes[..end][found.length as usize..].iter().all(|&byte| byte != b'\n'));
        }
    }

    proptest! {
        #[test]
        fn a_changed_byte_is_found(at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let (records, mut bytes) = journal(6);
            let at = at.index(bytes.len());
            prop_assume!(bytes[at] != to);
            bytes[at] = to;
            // Damage where something follows that was synced later is refused, damage at the end
            // is a write that was cut off.
            if let Ok(found) = recover(&bytes) {
                let kept = found.records.len();
                prop_assert_eq!(&found.records[..], &records[..kept]);
                prop_assert!(found.batch >= 5, "a whole batch is lost: {:?}", found);
            }
        }
    }

    #[test]
    fn the_rest_of_a_batch_whose_start_is_torn_does_not_count() {
        let (records, mut bytes) = journal(2);
        // The second batch has three records.
        let start = recover(&bytes).unwrap().length as usize / 5 * 2;
        bytes[start + 4] = b'x';
        assert_eq!(recover(&bytes).unwrap().records, records[..2]);
    }
}
