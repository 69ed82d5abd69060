//! A copy of a record that is fit to commit.

use std::{
    collections::{BTreeSet, HashSet},
    io,
    path::Path,
};

use crate::{
    Folder, Manifest, RecordError, Results, Run, RunFile, Samples, Session,
    chain::taken_apart,
    pack, redact, rows,
    store::{
        ROWS_PACK, RUN_FILE, RUNS, RUNS_LINES, SAMPLES_LINES, SAMPLES_PACK, SESSIONS, WINDOWS,
        WINDOWS_LINES, at, rows_text, write_whole,
    },
};

/// In bytes, of runs: who looks into a small record by hand looks at them.
const LARGEST_RUNS: usize = 64_000;
/// Of a name of samples, at least: with as many no two of a million names are likely to begin
/// alike.
const PACK_DIGITS: usize = 12;
const SHA256_DIGITS: usize = 64;
/// What is written once and read often.
const ZSTD_LEVEL: i32 = 19;
/// Bytes. Beyond, that level takes minutes, and what comes of it is too large to commit.
const LARGEST_PACKED_WELL: usize = 100_000_000;
const ZSTD_LEVEL_OF_LARGE: i32 = 9;

impl Results {
    /// Writes a copy that is fit to commit: one samples file, with what `slim` keeps of each run's
    /// samples. Each run keeps the name of its original samples, and the file its beginning. Many
    /// rows are packed. Hosts, paths and variables go from the command line, the sessions and the
    /// reasons of failed runs; returned is from how many lines, `run.json` being one.
    ///
    /// # Errors
    /// Where samples cannot be read or the copy cannot be written.
    pub fn export(
        &self,
        to: &Path,
        slim: impl Fn(&RunFile, &Run, Samples) -> Samples,
    ) -> Result<usize, RecordError> {
        let (from, to) = (&self.folder, &Folder::at(to));
        let read = |name: &str| from.read(name).map_err(at(&from.join(name)));
        let written = read(RUN_FILE)?;
        Manifest::remove(to)?;
        let changed = redact::json(&written, redact::of_run_file);
        write_whole(to, RUN_FILE, changed.as_ref().unwrap_or(&written))?;
        let (sessions, in_sessions) = redact::lines(&read(SESSIONS)?, redact::of_row::<Session>);
        write_whole(to, SESSIONS, &sessions)?;
        let digits = self.digits_that_tell_samples_apart();
        let [runs, windows] = rows_text(from)?;
        let (runs, in_runs) = redact::lines(&runs, redact::of_row::<Run>);
        let runs = if self.heads().is_some() { runs } else { with_short_names(&runs, digits) };
        put_rows(to, from.has(ROWS_PACK), [&runs, &windows])?;
        let (mut packed, mut written) = (Vec::new(), HashSet::new());
        for run in &self.runs {
            let name = run.samples.as_ref().and_then(|name| name.get(..digits));
            let Some(name) = name.filter(|name| written.insert(name.to_owned())) else {
                continue;
            };
            let samples = slim(&self.run_file, run, self.samples(run)?);
            packed.push((name.to_owned(), samples));
        }
        let packed = put_packed(to, SAMPLES_PACK, pack::write(&packed))?;
        remove(to, &[SAMPLES_LINES])?;
        if let Some(heads) = self.heads() {
            let mut manifest = Manifest::of(heads);
            manifest.put(SAMPLES_PACK, crate::sha256_hex(&packed));
            manifest.write(to)?;
        }
        Ok(usize::from(changed.is_some()) + in_sessions + in_runs)
    }

    /// Of the names of all samples. Hashes do not compress: of thousands of short runs they would
    /// be half of the file.
    fn digits_that_tell_samples_apart(&self) -> usize {
        let names: BTreeSet<&String> =
            self.runs.iter().filter_map(|run| run.samples.as_ref()).collect();
        let apart = |digits: &usize| {
            let beginnings = names.iter().filter_map(|name| name.get(..*digits));
            beginnings.collect::<HashSet<_>>().len() == names.len()
        };
        (PACK_DIGITS..SHA256_DIGITS).find(apart).unwrap_or(SHA256_DIGITS)
    }
}

/// The copy has its rows in one way, also where an earlier copy had them in another.
fn put_rows(to: &Folder, are_packed: bool, rows: [&[u8]; 2]) -> Result<(), RecordError> {
    let plain = rows.map(without_chains);
    let packed = [ROWS_PACK, RUNS_LINES, WINDOWS_LINES];
    if are_packed || plain[0].len() > LARGEST_RUNS {
        let [runs, windows] = plain.map(|rows| rows::write(&rows));
        put_packed(to, ROWS_PACK, runs.and_then(|runs| Ok([runs, windows?].concat())))?;
        return remove(to, &[RUNS, WINDOWS, packed[1], packed[2]]);
    }
    remove(to, &packed)?;
    let [runs, windows] = rows;
    // Records from before windows have none; an earlier copy may.
    match windows {
        [] => remove(to, &[WINDOWS])?,
        _ => write_whole(to, WINDOWS, windows)?,
    }
    write_whole(to, RUNS, runs)
}

fn put_packed(
    to: &Folder,
    name: &str,
    bytes: Result<Vec<u8>, String>,
) -> Result<Vec<u8>, RecordError> {
    let packed = bytes.map_err(io::Error::other).and_then(|bytes| {
        let is_large = bytes.len() > LARGEST_PACKED_WELL;
        zstd::encode_all(&*bytes, if is_large { ZSTD_LEVEL_OF_LARGE } else { ZSTD_LEVEL })
    });
    let packed = packed.map_err(at(&to.join(name)))?;
    write_whole(to, name, &packed)?;
    Ok(packed)
}

fn remove(to: &Folder, names: &[&str]) -> Result<(), RecordError> {
    names.iter().try_for_each(|name| to.remove(name).map_err(at(&to.join(name))))
}

/// What each row's value in the chain follows from.
fn without_chains(rows: &[u8]) -> Vec<u8> {
    let line = |line: &[u8]| match str::from_utf8(line).ok().and_then(taken_apart) {
        Some((row, _)) => format!("{row}}}\n").into_bytes(),
        None => line.to_vec(),
    };
    rows.split_inclusive(|byte| *byte == b'\n').flat_map(line).collect()
}

/// Rows with no more of the names of samples than tells them apart, a third of all bytes once they
/// are packed. Rows of a chain stay as they are.
fn with_short_names(rows: &[u8], digits: usize) -> Vec<u8> {
    const KEY: &[u8] = b"\"samples\":\"";
    let mut kept = Vec::with_capacity(rows.len());
    for line in rows.split_inclusive(|byte| *byte == b'\n') {
        let name = line.windows(KEY.len()).position(|key| key == KEY).map(|at| at + KEY.len());
        let name = name
            .filter(|_| serde_json::from_slice(line).is_ok_and(|run: Run| run.samples.is_some()));
        match name.and_then(|at| Some((at, at + line[at..].iter().position(|byte| *byte == b'"')?)))
        {
            Some((at, end)) => {
                kept.extend_from_slice(&line[..end.min(at + digits)]);
                kept.extend_from_slice(&line[end..]);
            }
            None => kept.extend_from_slice(line),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_chain_name_their_samples_in_as_few_digits_as_tell_them_apart() {
        let run = |more: &str| {
            let row = r#"{"schema":1,"order":0,"attempt":0,"block":0,"warmup":false,"family":"f",
                "variant":"v","cell":{},"status":"ok","verified":true MORE,"binary_sha256":"",
                "start_ns":0,"process_ns":1,"counters":{},"noise":{}}"#;
            let row: String = row.lines().map(str::trim_start).collect();
            row.replace(" MORE", more) + "\n"
        };
        let rows =
            [run(r#","samples":"0123456789abcdef""#), run(""), "torn \"samples\":\"012".to_owned()];
        let short = with_short_names(rows.concat().as_bytes(), 12);
        let expected = rows.concat().replace("0123456789abcdef", "0123456789ab");
        assert_eq!(String::from_utf8(short).unwrap(), expected);
    }
}
