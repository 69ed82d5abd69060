//! A server that variants name is started once, offered to every run of theirs, replaced where it
//! has ended, and ended with the sweep.

use std::{fs, path::PathBuf};

use lab_record::{Results, Run, Status};
use serde_json::{Value, json};

use crate::{
    checkout::{Checkout, alone},
    foreign::{SCRIPT, write},
    sixth_family::EXPERIMENT,
};

/// The check, and two cells in eight blocks.
const RUNS: usize = 1 + 8 * 2;

/// The server is a process that sleeps, and its number what is offered. Its keeper ends with it or
/// with the input.
const KEEP: &str = r#"
if [[ $1 == --keep-up ]]; then
  sleep 1000 & server=$!
  echo $server >> "$NOTES.servers"; echo $$ > "$NOTES.keeper"
  exec 3<&0; { cat <&3 > /dev/null; kill $server; } &
  echo $server; wait $server; echo "$2 has ended" >&2; exit 1
fi
"#;
const REFUSE: &str = r#"
if [[ $1 == --keep-up ]]; then
  echo "$PWD" >> "$NOTES.servers"; echo "there is no $2" >&2; exit 1
fi
"#;
/// Ends the server after its third run. The next one must not begin before its keeper is at its
/// end, when it has no arguments any more.
const KILL: &str = r#"
if [[ $(wc -l < "$NOTES.offered") == 3 ]]; then
  kill -9 "$LAB_KEPT_THING"
  while [[ $(tr -d '\0' < "/proc/$(cat "$NOTES.keeper")/cmdline") ]]; do sleep 0.01; done
fi
"#;

/// It works all the time, whoever runs.
const BUSY: [&str; 2] = ["sleep 1000 &", "while :; do :; done &"];
/// One that names no server.
const BYSTANDER: &str = "bystander";
/// In one of the cells a run lasts until the server, where there is one, has had `BUSY_NS` more of
/// CPU time.
const LAST: &str = r#"
ticks() { read -r stat < "/proc/$server/stat"; set -- ${stat##*) }; had=$((${12} + ${13})); }
if [[ $numbers == 1000 && -f "$NOTES.servers" ]]; then
  server=$(tail -n 1 "$NOTES.servers"); ticks; end=$((had + 20))
  while ((had < end)); do sleep 0.02; ticks; done
fi
"#;
const BUSY_NS: u64 = 200_000_000;

/// A sweep with variants that name the server `thing`, each this script around the one that adds.
struct Swept {
    checkout: Checkout,
    results: Results,
}

impl Swept {
    fn of(names: &[&str], before: &str, after: &str) -> Self {
        let checkout = Checkout::of(EXPERIMENT, &[&["fast", "slow"][..], names].concat());
        let notes = checkout.folder("notes");
        for name in names {
            let adder = SCRIPT.replace("\"other\"", &format!("\"{name}\""));
            let (line, rest) = adder.split_once('\n').unwrap();
            let work = rest.replace(
                "read -r line\n",
                "echo \"$LAB_KEPT_THING\" >> \"$NOTES.offered\"\nread -r line\n",
            );
            let script = format!("{line}\nNOTES='{}'{before}{work}{after}", notes.display());
            let folder = checkout.folder(name);
            write(&folder.join(format!("toys-{name}")), &script);
            let mut manifest = fs::read_to_string(folder.join("variant.toml")).unwrap();
            if *name != BYSTANDER {
                manifest.push_str("keep_up = [\"thing\"]\n");
            }
            fs::write(folder.join("variant.toml"), manifest).unwrap();
        }
        assert!(checkout.sweep(false, usize::MAX).finished);
        let results = Results::load(&checkout.results()).unwrap();
        Self { checkout, results }
    }

    fn lines(&self, kind: &str) -> Vec<String> {
        let file = PathBuf::from(format!("{}.{kind}", self.checkout.folder("notes").display()));
        let text = fs::read_to_string(file).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// The runs of the scripts, in the order in which they ran.
    fn runs(&self) -> Vec<&Run> {
        let ours = |run: &&Run| !["fast", "fast_twin", "slow"].contains(&run.variant.as_str());
        let mut runs: Vec<&Run> = self.results.runs.iter().filter(ours).collect();
        runs.sort_by_key(|run| run.start_ns);
        assert!(runs.iter().all(|run| run.status == Status::Ok), "{runs:?}");
        runs
    }

    /// Which start each of them found, and how many runs before it.
    fn found(&self) -> Vec<(u32, u32)> {
        let kept = self.runs().into_iter().map(|run| run.kept["thing"]);
        kept.map(|kept| (kept.start, kept.runs_before)).collect()
    }

    fn at_the_end(&self) -> &Value {
        &self.results.sessions.last().unwrap().environment["kept"]["thing"]
    }

    fn all_have_ended(&self) -> bool {
        let is_there = |pid: &String| PathBuf::from(format!("/proc/{pid}")).exists();
        !self.lines("servers").iter().any(is_there)
    }
}

#[test]
fn all_runs_find_one_server_and_it_ends_with_the_sweep() {
    let _alone = alone();
    let swept = Swept::of(&["other", "another"], KEEP, "");
    let (servers, offered) = (swept.lines("servers"), swept.lines("offered"));
    assert_eq!((servers.len(), offered.len()), (1, 2 * RUNS));
    assert!(offered.iter().all(|pid| *pid == servers[0]), "{offered:?}");
    assert!(swept.all_have_ended());
    let expected: Vec<_> = (0..2 * RUNS as u32).map(|before| (1, before)).collect();
    assert_eq!(swept.found(), expected);
    assert_eq!(*swept.at_the_end(), json!({ "runs": 2 * RUNS, "starts": 1 }));
    // Whoever names none is offered none.
    let others = swept.results.runs.iter().filter(|run| run.variant == "fast");
    assert!(others.into_iter().all(|run| run.kept.is_empty()));
    assert!(!swept.results.sessions[0].environment.contains_key("kept"));
}

#[test]
fn a_server_that_has_ended_is_replaced() {
    let _alone = alone();
    let _attack = proof_kit::Attack::on("servers", "a kept server that a run kills");
    let swept = Swept::of(&["other"], KEEP, KILL);
    let (servers, offered) = (swept.lines("servers"), swept.lines("offered"));
    assert_eq!(servers.len(), 2);
    assert!(offered[..3].iter().all(|pid| *pid == servers[0]), "{offered:?}");
    assert!(offered[3..].iter().all(|pid| *pid == servers[1]), "{offered:?}");
    let first = (0..3).map(|before| (1, before));
    let second = (0..RUNS as u32 - 3).map(|before| (2, before));
    assert_eq!(swept.found(), first.chain(second).collect::<Vec<_>>());
    assert_eq!(*swept.at_the_end(), json!({ "runs": RUNS, "starts": 2 }));
    assert!(swept.all_have_ended());
}

#[test]
fn a_server_that_does_not_start_is_each_runs_own_affair() {
    let _alone = alone();
    let _attack = proof_kit::Attack::on("servers", "a kept server that does not start");
    let swept = Swept::of(&["other"], REFUSE, "");
    assert_eq!(swept.lines("servers").len(), 1, "it was tried again");
    assert!(swept.lines("offered").iter().all(String::is_empty));
    assert!(swept.runs().iter().all(|run| run.kept.is_empty()));
    let expected = json!({ "refused": "there is no thing", "runs": 0, "starts": 0 });
    assert_eq!(*swept.at_the_end(), expected);
    let note = "thing is not kept up: there is no thing; each run starts its own";
    // What a program beside this one leaves in /tmp may be told too.
    let mut notes = swept.checkout.notes.borrow().clone();
    notes.retain(|note| !note.starts_with("beside the run"));
    assert_eq!(notes, [note]);
}

#[test]
fn a_server_disturbs_the_runs_that_it_is_not_for() {
    let _alone = alone();
    let swept = Swept::of(&["other", BYSTANDER], &KEEP.replace(BUSY[0], BUSY[1]), LAST);
    // CPU time that counts as ours beside that of the run's own processes.
    let beside = |name: &'static str| {
        let lasts =
            move |run: &&Run| run.variant == name && !run.warmup && run.cell["numbers"] == "1000";
        let ours = |run: &Run| run.noise.own_cpu_ns.unwrap().saturating_sub(run.cpu_ns.unwrap());
        swept.runs().into_iter().filter(lasts).map(ours).collect::<Vec<_>>()
    };
    let (for_it, by) = (beside("other"), beside(BYSTANDER));
    assert_eq!((for_it.len(), by.len()), (8, 8));
    assert!(for_it.iter().all(|ns| *ns > BUSY_NS / 2), "{for_it:?}");
    assert!(by.iter().all(|ns| *ns < BUSY_NS / 2), "{by:?}");
}
