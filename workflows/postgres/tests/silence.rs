//! A database whose events reach nobody: polling takes their place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proof_kit::workflows::{batches, is_missing, outcome, skipped, variant, whole};
use workflows_kit::{Operation, Workload};

/// In place of the function of that name which tells those who listen: it only says so in the log.
const SILENCE: &str = "create schema silence;

create function silence.pg_notify(text, text) returns void language plpgsql as
$$ begin raise warning 'told nobody of %', $1; end $$;

";

/// Where PostgreSQL's own programs are.
fn programs() -> Option<PathBuf> {
    let named = std::env::var_os("LAB_PG_BIN").map(PathBuf::from);
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = debian.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    named.into_iter().chain(debian).find(|folder| folder.join("initdb").is_file())
}

/// Programs that make such a database, and start its server so that it finds that function first.
fn silent(real: &Path, folder: &Path) -> PathBuf {
    let (real, sql) = (real.display(), folder.join("silence.sql"));
    fs::write(&sql, SILENCE).unwrap();
    // The folder of the database is its second argument.
    let initdb = format!(
        "#!/bin/sh\nset -e\n'{real}/initdb' \"$@\"\n\
         exec '{real}/postgres' --single -j -D \"$2\" postgres <'{}'\n",
        sql.display()
    );
    let server = format!(
        "#!/bin/sh\nexec '{real}/postgres' \"$@\" -c search_path=silence,pg_catalog,public\n"
    );
    for (name, script) in [("initdb", initdb), ("postgres", server)] {
        let path = folder.join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    folder.to_owned()
}

#[test]
fn where_events_reach_nobody_polling_takes_their_place() {
    let Some(real) = programs() else {
        skipped("there is no PostgreSQL server");
        return;
    };
    let (folder, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let silent = silent(&real, programs.path());
    let postgres = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    let postgres = postgres.with("LAB_PG_BIN", silent.to_str());
    let batches = batches(folder.path(), 2);
    let mut workload =
        Workload { processes: 4, fallback_ms: 5, warmup_tasks: 0, tasks: 6, ..batches };
    workload.shape.steps[1].operation = Operation::SumRows(200);
    let outcome = outcome(&postgres, &workload);
    if is_missing(&outcome) {
        return;
    }
    whole("without events", &workload, &outcome);
    let log = fs::read_to_string(folder.path().join("postgres.log")).unwrap();
    for event in ["work", "complete"] {
        assert!(log.contains(&format!("told nobody of {event}")), "no {event} was silenced: {log}");
    }
}
