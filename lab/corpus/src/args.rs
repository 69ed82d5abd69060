//! The command line of `lab corpus`, and what of it the bytes follow from.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::CorpusError;
use crate::kind::{Kind, SMALL_FILE_BYTES};

/// What `--help` says of [`crate::needles::NEEDLES`].
const PLANTED: &str = "Planted words, for queries of known selectivity (exact counts: corpus.json):
  claude    in 15 of 16 messages
  narwhal   in 1 of 10, a quarter of them as Narwhal
  quokka    in 1 of 1000
  pangolin  in 1 of 1000, and in the Git branch of as many other lines (no match)
  zyzzyva   in 1 of 100000
  axolotl   only in the files of --hostile";

/// The options that bytes follow from.
const MADE_FROM: [&str; 7] = ["files", "lines", "bytes", "seed", "skew", "kind", "hostile"];

/// Generate or check a corpus of chat sessions
#[derive(Debug, Clone, Args)]
#[command(after_help = PLANTED)]
pub struct CorpusArgs {
    /// Corpus folder; created if missing, refused if it holds other files
    pub dir: PathBuf,
    /// Number of sessions, one file each
    #[arg(long, default_value_t = 20)]
    pub files: u64,
    /// Mean number of lines per file
    #[arg(long, default_value_t = 1_000)]
    pub lines: u64,
    /// Total size instead of lines, for example 1GB or 512MiB; a file ends with the line that
    /// reaches its share
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "lines")]
    pub bytes: Option<u64>,
    /// Random seed; the same seed gives the same bytes
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Draw file sizes by Zipf's law: the r-th largest file has 1/r of the largest
    #[arg(long)]
    pub skew: bool,
    /// What the sessions look like
    #[arg(long, value_enum, default_value_t)]
    pub kind: Kind,
    /// Add hostile files: escapes, CR LF, torn, invalid and long lines
    #[arg(long)]
    pub hostile: bool,
    /// Compare all files with the manifest; write nothing
    #[arg(long, conflicts_with_all = MADE_FROM)]
    pub check: bool,
    /// Print no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// What the bytes of a corpus follow from, together with the generator's version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Sessions, each a file; hostile files come on top.
    pub files: u64,
    /// How large they are.
    pub size: Size,
    /// The seed of everything.
    pub seed: u64,
    /// Whether sizes follow Zipf's law.
    pub skew: bool,
    /// What the sessions look like.
    #[serde(default, skip_serializing_if = "Kind::is_default")]
    pub kind: Kind,
    /// Whether there are hostile files.
    pub hostile: bool,
}

/// How large the sessions are together, hostile files not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// So many lines per file, on average.
    LinesPerFile(u64),
    /// At least so many bytes, and less than a line per file more.
    Bytes(u64),
    /// From so many bytes per file to so many, each number as often, and less than a line more.
    BytesPerFile(u64, u64),
}

impl CorpusArgs {
    /// What is to be made.
    ///
    /// # Errors
    /// A corpus of nothing, or one past what fits in 64 bits.
    pub fn plan(&self) -> Result<Plan, CorpusError> {
        let small = self.kind == Kind::SmallFiles;
        if small && (self.skew || self.bytes.is_some()) {
            let sentence = "small files have their own sizes, leave out --bytes and --skew";
            return Err(CorpusError::Arguments(sentence.to_owned()));
        }
        let (size, amount) = match (small, self.bytes) {
            (true, _) => {
                (Size::BytesPerFile(SMALL_FILE_BYTES.0, SMALL_FILE_BYTES.1), SMALL_FILE_BYTES.1)
            }
            (false, Some(bytes)) => (Size::Bytes(bytes), bytes),
            (false, None) => (Size::LinesPerFile(self.lines), self.lines),
        };
        if self.files == 0 || amount == 0 {
            let sentence = "--files, --lines and --bytes have to be at least 1";
            return Err(CorpusError::Arguments(sentence.to_owned()));
        }
        if amount.checked_mul(self.files).is_none_or(|total| total > 1 << 50) {
            let sentence = "so large a corpus fits no disk, give fewer --files, --lines or --bytes";
            return Err(CorpusError::Arguments(sentence.to_owned()));
        }
        let Self { files, seed, skew, kind, hostile, .. } = *self;
        Ok(Plan { files, size, seed, skew, kind, hostile })
    }
}

/// Reads `1500`, `64KiB`, `2MB`, `1GiB` and the like.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err(format!("unknown unit {unit:?}; use B, KB, MB, GB, KiB, MiB or GiB")),
    };
    let number: u64 = number.parse().map_err(|_| "a size starts with a whole number".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "more than 64 bits hold".to_owned())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_read_in_both_systems() {
        assert_eq!(bytes("1500"), Ok(1_500));
        assert_eq!(bytes("2GB"), Ok(2_000_000_000));
        assert_eq!(bytes("3mib"), Ok(3 << 20));
        assert!(bytes("GB").is_err() && bytes("1.5GB").is_err() && bytes("1XB").is_err());
        assert!(bytes("99999999999GB").is_err());
    }
}
