//! DuckDB: `read_json` over all files, the message's content compared by ILIKE.

#![forbid(unsafe_code)]

use std::env;
use std::process::{Command, ExitCode};

use engines_kit::{Ends, Identity, Question, ask_peer, count_after_colon, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));
/// Names a Python that has the module, where the one on PATH has not: `tools/peer duckdb up` makes
/// one.
const PYTHON: &str = "LAB_DUCKDB_PYTHON";
/// Arguments: threads, glob, operator, pattern.
const SCRIPT: &str = "
import sys
try:
    import duckdb
except ImportError:
    print('this Python has no module duckdb: tools/peer duckdb up installs one', file=sys.stderr)
    sys.exit(77)
threads, files, like, word = sys.argv[1:]
database = duckdb.connect()
database.execute(f'SET threads = {int(threads)}')
query = f\"\"\"SELECT count(*) FROM read_json(?, format = 'newline_delimited',
    columns = {{message: 'STRUCT(content JSON)'}}, ignore_errors = true)
    WHERE CAST(message.content AS VARCHAR) {like} ?\"\"\"
print(database.execute(query, [files, f'%{word}%']).fetchone()[0])
";

fn main() -> ExitCode {
    variant_main(&IDENTITY, |search| {
        let ask = |question: &Question| {
            question.buffered()?;
            let mut command = Command::new(env::var_os(PYTHON).unwrap_or("python3".into()));
            command.arg("-c").arg(SCRIPT).arg(question.threads.to_string());
            command.arg(question.corpus.join("**/*.jsonl"));
            command.arg(if question.case_sensitive { "LIKE" } else { "ILIKE" });
            command.arg(&question.word);
            Ok(command)
        };
        ask_peer(&search, Ends::WithZero, ask, count_after_colon)
    })
}
