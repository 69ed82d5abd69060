//! What a run leaves where the next one could find it: names of abstract sockets, and entries of
//! the folders for temporary files. A run's own folder is emptied, and its processes are ended.
//!
//! Another program of the same user may have left it meanwhile: so this is a sentence for a person,
//! and no run fails for it.

use std::{
    collections::BTreeSet,
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use lab_process::Left;
use lab_record::Run;
use nix::unistd::Uid;

use crate::{Progress, words::harmless};

/// Where programs leave temporary files, and shared memory that has a name.
const FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// What the lab itself writes among its scratch files while runs go on.
const OURS: [&str; 6] =
    ["run", "kept", "spec.json", "outcome.json", "timed.json", "hyperfine.json"];
/// A folder of more is not read at every run.
const ENTRIES_MAX: usize = 4_096;
/// So many names make a sentence.
const NAMED_MAX: usize = 3;

/// What is there at one moment.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    sockets: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
}

impl Traces {
    /// Of a sweep with this folder of scratch files.
    pub(crate) fn take(scratch: &Path) -> Self {
        let unix = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        let given = env::var_os("TMPDIR").map(PathBuf::from);
        let own = [env::current_dir().ok(), Some(scratch.to_owned()), given].into_iter().flatten();
        let folders: BTreeSet<PathBuf> = FOLDERS.iter().map(PathBuf::from).chain(own).collect();
        let entries = |folder: &PathBuf| {
            let names = fs::read_dir(folder).into_iter().flatten().flatten();
            let paths: Vec<PathBuf> =
                names.take(ENTRIES_MAX + 1).map(|entry| entry.path()).collect();
            if paths.len() > ENTRIES_MAX { Vec::new() } else { paths }
        };
        let mut files: BTreeSet<PathBuf> = folders.iter().flat_map(entries).collect();
        files.retain(|file| !OURS.iter().any(|name| *file == scratch.join(name)));
        Self { sockets: abstract_names(&unix), files }
    }

    /// What came since then and is this user's, as a person is told; none where nothing did.
    pub(crate) fn left_since(&self, before: &Self) -> Option<String> {
        let own = Uid::effective().as_raw();
        let is_own =
            |path: &&PathBuf| fs::symlink_metadata(path).is_ok_and(|there| there.uid() == own);
        let sockets = self.sockets.difference(&before.sockets).cloned();
        let mut files: Vec<&PathBuf> =
            self.files.difference(&before.files).filter(is_own).collect();
        // First what lies where others of the user have less to do.
        let is_shared =
            |path: &&PathBuf| FOLDERS.iter().any(|folder| path.parent() == Some(Path::new(folder)));
        files.sort_by_key(is_shared);
        let files = files.into_iter().map(|path| path.display().to_string());
        let found: Vec<String> = sockets.chain(files).collect();
        let named = found.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
        match found.len() {
            0 => None,
            1..=NAMED_MAX => Some(named),
            all => Some(format!("{named} and {} more", all - NAMED_MAX)),
        }
    }
}

/// Puts what a run left behind into its row.
pub(crate) fn count_left(left: Left, run: &mut Run) {
    if left.processes > 0 {
        run.counters.insert("left_processes".to_owned(), left.processes);
        run.counters.insert("left_cpu_ns".to_owned(), left.cpu_ns);
    }
}

/// Tells a person of a variant, once in a sweep, what a run of it left: processes, and what came
/// between two looks.
pub(crate) fn tell_once(
    told: &mut BTreeSet<String>,
    variant: &str,
    run: &str,
    left: Left,
    (before, after): (&Traces, &Traces),
    progress: &mut dyn Progress,
) {
    if left.processes > 0 && told.insert(format!("{variant}'s processes")) {
        let (count, ms) = (left.processes, left.cpu_ns / 1_000_000);
        progress.note(&format!(
            "the run `{run}` left processes behind ({count}, {ms} ms of CPU time): they were \
             ended, and count as its own"
        ));
    }
    let found = after.left_since(before);
    if let Some(found) = found.filter(|_| told.insert(format!("{variant}'s traces"))) {
        progress.note(&harmless(&format!(
            "beside the run `{run}` came, and the next one could find: {found}"
        )));
    }
}

/// The names in `/proc/net/unix` that no file has.
fn abstract_names(unix: &str) -> BTreeSet<String> {
    let names = unix.lines().skip(1).filter_map(|line| line.split_whitespace().nth(7));
    names.filter(|name| name.starts_with('@')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        os::{linux::net::SocketAddrExt, unix::net},
        process,
    };

    use proof_kit::Attack;

    use super::*;

    #[test]
    fn an_abstract_socket_is_named_as_long_as_it_is_there() {
        let _attack = Attack::on("programs", "an abstract socket for the next run");
        let folder = tempfile::tempdir().unwrap();
        let before = Traces::take(folder.path());
        let name = format!("lab-trace-{}", process::id());
        let address = net::SocketAddr::from_abstract_name(&name).unwrap();
        let socket = net::UnixListener::bind_addr(&address).unwrap();
        let after = Traces::take(folder.path());
        assert!(after.sockets.contains(&format!("@{name}")), "{after:?}");
        assert!(!before.sockets.contains(&format!("@{name}")));
        drop(socket);
        assert!(!Traces::take(folder.path()).sockets.contains(&format!("@{name}")));
    }

    #[test]
    fn what_came_is_named_and_what_was_there_is_not() {
        let of = |names: &[&str]| Traces {
            sockets: names.iter().map(|name| (*name).to_owned()).collect(),
            files: BTreeSet::new(),
        };
        assert_eq!(of(&["@a"]).left_since(&of(&["@a", "@b"])), None);
        assert_eq!(of(&["@a", "@b"]).left_since(&of(&["@a"])), Some("@b".to_owned()));
        let many = of(&["@a", "@b", "@c", "@d", "@e"]).left_since(&of(&[])).unwrap();
        assert_eq!(many, "@a, @b, @c and 2 more");
    }
}
