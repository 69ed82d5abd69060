//! `lab corpus`: generates or checks a corpus of chat sessions.

use lab_corpus::{CorpusArgs, CorpusError, CorpusState, Manifest};
use lab_driver::{Position, Progress};

use crate::{Exit, Failure, progress::Bar};

pub(crate) fn corpus(args: &CorpusArgs) -> Result<Exit, Failure> {
    let mut bar = Bar::new(args.quiet);
    let dir = args.dir.display();
    let label = format!("{} {dir}", if args.check { "checking" } else { "generating" });
    // Bytes, not milliseconds: of the position only the part that is done is shown.
    let outcome = lab_corpus::run(args, &mut |done_ms, total_ms| {
        bar.at(&Position { done_ms, total_ms, label: &label, ..Position::default() })
    });
    bar.finish();
    match outcome.map_err(failure)? {
        CorpusState::Made(manifest) => println!("{dir}: generated, {}", inside(&manifest)),
        CorpusState::Fits(manifest) => println!("{dir}: exists already, {}", inside(&manifest)),
        CorpusState::Checked(manifest) => {
            println!("{dir}: matches its manifest, {}", inside(&manifest))
        }
        CorpusState::Differs(sentences) => {
            sentences.iter().for_each(|sentence| eprintln!("{sentence}"));
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Success)
}

fn inside(manifest: &Manifest) -> String {
    let Manifest { files, lines, bytes, sha256, .. } = manifest;
    format!("{} files, {lines} lines, {bytes} bytes, sha256 {sha256}", files.len())
}

fn failure(error: CorpusError) -> Failure {
    let exit = match error {
        CorpusError::Arguments(_) => Exit::Input,
        CorpusError::Folder(_) => Exit::File,
    };
    Failure { exit, sentence: error.to_string() }
}
