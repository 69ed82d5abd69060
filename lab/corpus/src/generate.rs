//! Makes a corpus: sizes first, then session after session, then the manifest.

use std::path::Path;

use crate::args::{Plan, Size};
use crate::folder::Hold;
use crate::manifest::{FileEntry, Manifest};
use crate::needles::Schedule;
use crate::random::{Random, Stream};
use crate::session::Session;
use crate::sink::Sink;
use crate::words::Words;
use crate::{CorpusError, Progress, hostile};

/// Writes every file and the manifest.
pub(crate) fn generate(
    dir: &Path,
    plan: &Plan,
    claim: Hold,
    progress: Progress<'_>,
) -> Result<Manifest, CorpusError> {
    let words = Words::new();
    let mut schedule = Schedule::new(plan.seed, plan.kind);
    let shares = shares(plan);
    let total: u64 = shares.iter().sum();
    let (mut done, mut buffer, mut files) = (0, Vec::new(), Vec::new());
    for (number, share) in shares.into_iter().enumerate() {
        let mut session = Session::new(plan, number as u64);
        let mut sink = Sink::create(dir, &session.path(), buffer)?;
        while size(plan, &sink) < share {
            if session.aside(&words, &mut sink.buffer) {
                sink.counts.lines += 1;
                continue;
            }
            let due = schedule.next();
            session.message(&due, &words, &mut sink.buffer);
            sink.counts.lines += 1;
            due.count(&mut sink.counts.needles);
            if sink.flush_full()? {
                progress(done + size(plan, &sink).min(share), total);
            }
        }
        let entry: FileEntry;
        (entry, buffer) = sink.finish()?;
        files.push(entry);
        done += share;
        progress(done, total);
    }
    if plan.hostile {
        files.extend(hostile::write(dir, plan.seed, &words)?);
    }
    let manifest = Manifest::new(plan, files);
    manifest.store(dir)?;
    claim.finish()?;
    Ok(manifest)
}

/// What a file has of what [`shares`] counts.
fn size(plan: &Plan, sink: &Sink) -> u64 {
    match plan.size {
        Size::LinesPerFile(_) => sink.counts.lines,
        Size::Bytes(_) | Size::BytesPerFile(..) => sink.bytes(),
    }
}

/// The lines or bytes of each file, at least one. They add up to the total where it is not too
/// small for that.
fn shares(plan: &Plan) -> Vec<u64> {
    let mut random = Random::new(plan.seed, Stream::Sizes);
    let total = match plan.size {
        Size::LinesPerFile(lines) => lines * plan.files,
        Size::Bytes(bytes) => bytes,
        Size::BytesPerFile(least, most) => {
            return (0..plan.files).map(|_| least + random.below(most - least + 1)).collect();
        }
    };
    let weight = |rank: u64| if plan.skew { (1 << 32) / (rank + 1) } else { 1 };
    let weights: u128 = (0..plan.files).map(|rank| u128::from(weight(rank))).sum();
    let share = |rank| (u128::from(total) * u128::from(weight(rank)) / weights) as u64;
    let mut shares: Vec<u64> = (0..plan.files).map(|rank| share(rank).max(1)).collect();
    shares[0] += total.saturating_sub(shares.iter().sum());
    // Paths are random and so is the largest one's place among them; this keeps it from being the
    // first one that is written, in which the rare needles would be.
    for last in (1..shares.len()).rev() {
        shares.swap(last, random.below(last as u64 + 1) as usize);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn plan(files: u64, size: Size, skew: bool) -> Plan {
        Plan { files, size, seed: 3, skew, kind: Kind::Sessions, hostile: false }
    }

    #[test]
    fn shares_add_up() {
        assert_eq!(shares(&plan(5, Size::LinesPerFile(100), false)), [100; 5]);
        let mut skewed = shares(&plan(4, Size::Bytes(2_500), true));
        skewed.sort_by_key(|share| std::cmp::Reverse(*share));
        // 1, 1/2, 1/3, 1/4 of 1200, and what rounding left.
        assert_eq!(skewed.iter().sum::<u64>(), 2_500);
        assert!(skewed.iter().zip([1_200, 600, 400, 300]).all(|(one, two)| one.abs_diff(two) < 4));
        assert_eq!(shares(&plan(3, Size::Bytes(1), false)), [1; 3]);
    }
}
