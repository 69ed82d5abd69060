//! Corpora through the door that `lab corpus` uses: what is made, what is counted, what is refused.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use lab_corpus::{CorpusArgs, CorpusError, CorpusState, MANIFEST, Manifest, NeedleCount, run};
use serde_json::Value;
use tempfile::TempDir;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: CorpusArgs,
}

fn corpus(dir: &Path, flags: &str) -> Result<CorpusState, CorpusError> {
    let arguments = ["corpus", dir.to_str().unwrap()].into_iter().chain(flags.split_whitespace());
    run(&Cli::try_parse_from(arguments).unwrap().args, &mut |_, _| ())
}

fn make(dir: &Path, flags: &str) -> Manifest {
    match corpus(dir, flags).unwrap() {
        CorpusState::Made(manifest) => manifest,
        other => panic!("{other:?}"),
    }
}

fn differences(dir: &Path) -> Vec<String> {
    match corpus(dir, "--check").unwrap() {
        CorpusState::Differs(sentences) => sentences,
        CorpusState::Checked(_) => Vec::new(),
        other => panic!("{other:?}"),
    }
}

fn files(dir: &Path, manifest: &Manifest) -> Vec<PathBuf> {
    manifest.files.iter().map(|file| dir.join(&file.path)).collect()
}

/// The texts that every reading of the format calls the message's: a string, and text blocks.
fn texts(line: &Value) -> String {
    let blocks = |block: &Value| block["text"].as_str().unwrap_or_default().to_owned();
    match &line["message"]["content"] {
        Value::String(text) => text.clone(),
        Value::Array(content) => content.iter().map(blocks).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// Counts again what the manifest says, by another way: line by line with a full parser.
fn recount(dir: &Path, manifest: &Manifest) {
    let mut counted = manifest.clone();
    for count in &mut counted.needles {
        (count.lines, count.lines_exact_case, count.messages) = (0, 0, 0);
    }
    (counted.lines, counted.lines_invalid, counted.lines_blank, counted.bytes) = (0, 0, 0, 0);
    for path in files(dir, manifest) {
        let bytes = fs::read(path).unwrap();
        counted.bytes += bytes.len() as u64;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let parsed: Option<Value> = serde_json::from_slice(line).ok().filter(Value::is_object);
            let line = String::from_utf8_lossy(line);
            counted.lines += 1;
            counted.lines_blank += u64::from(line.trim().is_empty());
            counted.lines_invalid += u64::from(parsed.is_none() && !line.trim().is_empty());
            let text = parsed.as_ref().map(texts).unwrap_or_default().to_lowercase();
            for count in &mut counted.needles {
                count.lines += u64::from(line.to_lowercase().contains(&count.word));
                count.lines_exact_case += u64::from(line.contains(&count.word));
                count.messages += u64::from(text.contains(&count.word));
            }
        }
    }
    assert_eq!(counted, *manifest);
}

#[test]
fn the_same_seed_gives_the_same_bytes_here_and_elsewhere() {
    let dir = TempDir::new().unwrap();
    let manifest = make(&dir.path().join("one"), "--files 5 --lines 100 --seed 42 --hostile");
    // Known from the first machine. It changes with the generator's VERSION, and only with it.
    assert_eq!(manifest.sha256, "5d8657033c895b646085c54733192d57e11cd90b0c911f9afa46eb5012562e34");
    let again = make(&dir.path().join("two"), "--files 5 --lines 100 --seed 42 --hostile");
    assert_eq!(again, manifest);
    let other = make(&dir.path().join("three"), "--files 5 --lines 100 --seed 43");
    assert_ne!(other.sha256, manifest.sha256);
}

#[test]
fn counts_are_what_a_parser_finds() {
    let dir = TempDir::new().unwrap();
    let manifest = make(dir.path(), "--files 7 --lines 1000 --skew --hostile");
    recount(dir.path(), &manifest);
    let sessions = manifest.files.iter().filter(|file| file.path.starts_with("projects/"));
    assert_eq!(sessions.map(|file| file.lines).sum::<u64>(), 7_000);
    let quokka = manifest.needles.iter().find(|count| count.word == "quokka").unwrap();
    assert!((6..=7).contains(&quokka.messages), "one of a thousand messages");
    let pangolin = manifest.needles.iter().find(|count| count.word == "pangolin").unwrap();
    assert!(pangolin.lines > pangolin.messages, "some stand outside of messages");
}

#[test]
fn a_size_in_bytes_is_reached_and_hardly_passed() {
    let dir = TempDir::new().unwrap();
    let manifest = make(dir.path(), "--files 3 --bytes 2MB --skew --seed 9");
    assert!((2_000_000..2_100_000).contains(&manifest.bytes), "{}", manifest.bytes);
    let mut sizes: Vec<_> = manifest.files.iter().map(|file| file.bytes).collect();
    sizes.sort_unstable();
    assert!(sizes[2] > 2 * sizes[0]);
    recount(dir.path(), &manifest);
}

#[test]
fn every_hostile_case_is_there() {
    let dir = TempDir::new().unwrap();
    let manifest = make(dir.path(), "--files 1 --lines 10 --hostile");
    let read = |name: &str| fs::read(dir.path().join(format!("hostile/{name}.jsonl"))).unwrap();
    let lines = |name: &str| read(name).split(|byte| *byte == b'\n').map(<[u8]>::len).max();
    assert_eq!(read("empty").len(), 0);
    assert!(read("crlf").split_inclusive(|b| *b == b'\n').all(|line| line.ends_with(b"}\r\n")));
    assert!(!read("torn").ends_with(b"\n") && !read("torn").ends_with(b"}"));
    assert!(read("unterminated").ends_with(b"}"));
    assert_eq!(lines("long"), Some(1 << 22));
    assert!(read("blank").windows(3).any(|bytes| bytes == b"\n\n\n"));
    let entry = |name: &str| manifest.files.iter().find(|file| file.path.contains(name)).unwrap();
    let escapes = &entry("escapes").needles.iter().find(|count| count.word == "axolotl").unwrap();
    assert_eq!((escapes.lines, escapes.messages), (4, 7), "three are spelled with escapes");
    assert_eq!(entry("invalid").lines_invalid, 12);
    assert!(String::from_utf8(read("invalid")).is_err());
}

#[test]
fn a_check_finds_what_was_changed() {
    let dir = TempDir::new().unwrap();
    let manifest = make(dir.path(), "--files 3 --lines 20");
    assert_eq!(differences(dir.path()), [""; 0]);
    let path = &files(dir.path(), &manifest)[1];
    let mut bytes = fs::read(path).unwrap();
    bytes[100] ^= 1;
    fs::write(path, &bytes).unwrap();
    assert_eq!(
        differences(dir.path()),
        [format!("{} has different bytes", manifest.files[1].path)]
    );
    bytes[100] ^= 1;
    fs::write(path, &bytes[1..]).unwrap();
    assert_eq!(differences(dir.path()).len(), 2, "its size and its bytes");
    fs::remove_file(path).unwrap();
    fs::write(dir.path().join("projects/more.jsonl"), "{}\n").unwrap();
    assert_eq!(differences(dir.path()).len(), 2, "one too few, one too many");
    let manifest = fs::read_to_string(dir.path().join(MANIFEST)).unwrap();
    let wrong = manifest.replacen("\"lines\": ", "\"lines\": 9", 1);
    fs::write(dir.path().join(MANIFEST), wrong).unwrap();
    assert_eq!(differences(dir.path()).len(), 3, "and a total that is no sum");
}

#[test]
fn a_corpus_that_fits_is_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    let manifest = make(dir.path(), "--files 2 --lines 20");
    let path = &files(dir.path(), &manifest)[0];
    let before = fs::metadata(path).unwrap().modified().unwrap();
    let outcome = corpus(dir.path(), "--files 2 --lines 20").unwrap();
    assert!(matches!(outcome, CorpusState::Fits(found) if found == manifest));
    assert_eq!(fs::metadata(path).unwrap().modified().unwrap(), before);
    let other = corpus(dir.path(), "--files 2 --lines 21").unwrap_err();
    assert!(matches!(other, CorpusError::Arguments(_)), "{other}");
    fs::remove_file(path).unwrap();
    let damaged = corpus(dir.path(), "--files 2 --lines 20").unwrap_err();
    assert!(matches!(damaged, CorpusError::Folder(_)), "{damaged}");
}

#[test]
fn an_interrupted_run_begins_again_cleanly() {
    let dir = TempDir::new().unwrap();
    // As far as a run comes that is killed: its mark, half a file, one that it would not make now.
    fs::create_dir_all(dir.path().join("projects/old")).unwrap();
    fs::write(dir.path().join("corpus.unfinished"), "").unwrap();
    fs::write(dir.path().join("projects/old/half.jsonl"), "{\"type\":").unwrap();
    assert!(corpus(dir.path(), "--check").is_err(), "without a manifest it is no corpus");
    make(dir.path(), "--files 2 --lines 20");
    assert_eq!(differences(dir.path()), [""; 0]);
    assert!(!dir.path().join("corpus.unfinished").exists());
}

#[test]
fn a_folder_of_somebody_else_is_refused_untouched() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("projects")).unwrap();
    fs::write(dir.path().join("projects/mine.jsonl"), "{}\n").unwrap();
    let refusal = corpus(dir.path(), "--files 2").unwrap_err();
    assert!(matches!(&refusal, CorpusError::Arguments(text) if text.contains("projects")));
    assert_eq!(fs::read_to_string(dir.path().join("projects/mine.jsonl")).unwrap(), "{}\n");
    let nothing = corpus(&dir.path().join("new"), "--files 0").unwrap_err();
    assert!(matches!(nothing, CorpusError::Arguments(_)));
}

fn count<'a>(manifest: &'a Manifest, word: &str) -> &'a NeedleCount {
    manifest.needles.iter().find(|count| count.word == word).unwrap()
}

#[test]
fn every_kind_has_the_counts_that_a_parser_finds_and_the_bytes_that_are_known() {
    // Known from the first machine, as above.
    for (kind, sha256) in [
        ("long-lines", "21733dabf457a276"),
        ("small-files", "ab8d4b486941e91e"),
        ("escapes", "bf474be0b6c192fd"),
        ("dense", "8b1fd57185d69fc2"),
        ("logs", "5587e82f5bc0c5d8"),
    ] {
        let dir = TempDir::new().unwrap();
        let lines = if kind == "small-files" { "" } else { "--lines 500" };
        let manifest = make(dir.path(), &format!("--files 4 {lines} --seed 5 --kind {kind}"));
        recount(dir.path(), &manifest);
        assert!(manifest.sha256.starts_with(sha256), "{kind}: {}", manifest.sha256);
        assert_eq!(manifest.lines_invalid, 0, "{kind}");
    }
}

#[test]
fn every_kind_is_what_its_name_says() {
    let dir = TempDir::new().unwrap();
    let made = |kind: &str, size: &str| {
        let folder = dir.path().join(kind);
        let manifest = make(&folder, &format!("{size} --kind {kind}"));
        let read = |path: PathBuf| fs::read_to_string(path).unwrap();
        let texts: Vec<String> = files(&folder, &manifest).into_iter().map(read).collect();
        (manifest, texts)
    };
    let (long, texts) = made("long-lines", "--files 2 --lines 200");
    let lines: Vec<_> = texts.iter().flat_map(|text| text.lines()).collect();
    let messages = lines.iter().filter(|line| line.contains(r#""message":"#));
    assert!(messages.clone().all(|line| (4_000..80_000).contains(&line.len())));
    assert!(messages.clone().count() > 350 && long.bytes / long.lines > 20_000);
    let (small, texts) = made("small-files", "--files 60");
    assert_eq!((small.files.len(), texts.len()), (60, 60));
    assert!(texts.iter().all(|text| (2_000..60_000).contains(&text.len())));
    let (escapes, texts) = made("escapes", "--files 1 --lines 3000");
    assert!(texts[0].is_ascii() && texts[0].matches("\\u04").count() > 100_000);
    let kangaroo = r"\u043a\u0435\u043d\u0433\u0443\u0440\u0443";
    let quokkas = count(&escapes, "quokka").messages;
    assert_eq!((quokkas, texts[0].matches(kangaroo).count() as u64), (3, 3));
    let (dense, texts) = made("dense", "--files 1 --lines 3000");
    let narwhals = count(&dense, "narwhal").messages;
    assert!((870..=900).contains(&narwhals), "{narwhals}");
    let times = texts[0].to_lowercase().matches("narwhal").count() as u64;
    assert!(times > 3 * narwhals, "{times}");
    let (logs, texts) = made("logs", "--files 1 --lines 3000");
    assert!((150..400).contains(&(logs.bytes / logs.lines)), "{}", logs.bytes);
    assert!(texts[0].matches("\\u001b[").count() > 1_000);
    assert_eq!(count(&logs, "narwhal").messages, 300);
}

#[test]
fn small_files_have_their_own_sizes() {
    let dir = TempDir::new().unwrap();
    for flags in ["--kind small-files --bytes 1MB", "--kind small-files --skew"] {
        let refusal = corpus(dir.path(), flags).unwrap_err();
        assert!(matches!(&refusal, CorpusError::Arguments(text) if text.contains("own sizes")));
    }
}
