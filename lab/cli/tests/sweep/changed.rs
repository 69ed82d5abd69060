//! Variants that change what a sweep rests on: their own program, a rival's, the data of all.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    thread,
};

use crate::world::World;
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, SessionEvent, Status};
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;

/// What a variant does in its first timed run, and what the lab says. `$DIR` has the programs that
/// run, `$RIVAL` is another one's.
const CHANGES: [(&str, &str, &str); 20] = [
    ("a rival written over", "echo 'exit 1' > \"$RIVAL\"", "steady has other bytes"),
    ("a line more in a rival", "echo '# x' >> \"$RIVAL\"", "steady has other bytes"),
    (
        "a byte of a rival",
        "printf x | dd of=\"$RIVAL\" bs=1 seek=30 conv=notrunc 2>/dev/null",
        "steady has other bytes",
    ),
    (
        "another file by a rival's name",
        "cp \"$RIVAL\" n; echo '# x' >> n; mv -f n \"$RIVAL\"",
        "steady has other bytes",
    ),
    ("a copy by a rival's name", "cp -p \"$RIVAL\" n; mv -f n \"$RIVAL\"", "steady was touched"),
    (
        "a rival put back after a moment",
        "mv \"$RIVAL\" n; cp n \"$RIVAL\"; echo >> \"$RIVAL\"; mv -f n \"$RIVAL\"",
        "steady was touched",
    ),
    (
        "a rival written back with its times",
        "cp -p \"$RIVAL\" n; echo '# x' >> \"$RIVAL\"; cat n > \"$RIVAL\"; touch -r n \"$RIVAL\"",
        "steady was touched",
    ),
    ("the time of a rival", "touch -d '2001-01-01' \"$RIVAL\"", "steady was touched"),
    ("the permissions of a rival", "chmod 0755 \"$RIVAL\"", "steady was touched"),
    ("a hard link to a rival", "ln \"$RIVAL\" n", "steady was touched"),
    (
        "a link in the place of a rival",
        "mv \"$RIVAL\" n; ln -s \"$PWD/n\" \"$RIVAL\"",
        "steady was tou",
    ),
    ("a rival taken away", "rm -f \"$RIVAL\"", "the program of steady is gone"),
    ("a folder in the place of a rival", "rm -f \"$RIVAL\"; mkdir \"$RIVAL\"", "steady is gone"),
    ("a rival's twin", "echo '# x' >> \"${RIVAL}_twin\"", "steady_twin has other bytes"),
    ("a line more in itself", "echo '# x' >> \"$0\"", "the program of thief has other bytes"),
    ("itself replaced", "cp \"$RIVAL\" n; mv -f n \"$0\"", "the program of thief has other bytes"),
    ("a file beside the programs", "echo x > \"$DIR/libc.so.6\"", "the programs' copies was"),
    (
        "a text file that all read",
        "echo x > \"$DIR/../ingest/report_000.md\"",
        "report_000.md in the folder of text files was changed",
    ),
    (
        "a text file more",
        "echo x > \"$DIR/../ingest/report_999.md\"",
        "the folder of text files was changed",
    ),
    (
        "a text file put back",
        "cd \"$DIR/../ingest\"; cp -p report_001.md n; mv -f n report_001.md",
        "in the folder of text files was changed",
    ),
];

/// A variant that does something in its first timed run, beside one that does not.
fn world(attack: &str) -> World {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    let script = format!(
        "DIR=$(dirname \"$0\"); RIVAL=$DIR/runtimes-steady\n{{ read -r line\n\
         printf '%s\\n' \"$line\" | \"$FLOOR\"; code=$?\n\
         case \"$line\" in *'\"block 0'*) ;; *)\n\
         chmod u+w \"$DIR\" \"$DIR\"/* \"$DIR\"/../ingest/* 2>/dev/null\n{attack} ;; esac\n\
         exit $code; }}"
    );
    // Only root writes where nobody may: anybody else has to change permissions first.
    let is_root = nix::unistd::Uid::effective().is_root();
    let script = if is_root { without_chmod(&script) } else { script };
    world.variant("thief", &script);
    world.experiment("paced", 2, "");
    world
}

fn without_chmod(script: &str) -> String {
    script.lines().filter(|line| !line.starts_with("chmod u+w")).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_a_variant_changes_ends_the_sweep_and_nothing_rests_on_it() {
    for (name, attack, said) in CHANGES {
        let _attack = Attack::on("programs", name);
        let world = world(attack);
        let run = ["run", "experiments/e.toml", "--out", "r", "--no-startup"];
        let ended = world.lab(&run).assert().code(4);
        let during = contains("during the run `block 1 thief ");
        ended.stderr(contains(said).and(during).and(contains("which has failed")));
        let results = Results::load(&world.path("r")).unwrap();
        let (last, before) = results.runs.split_last().unwrap();
        assert_eq!((last.variant.as_str(), last.status), ("thief", Status::Failed), "{name}");
        let reason = last.reason.as_deref().unwrap_or_default();
        assert!(reason.contains(said) && reason.ends_with("during the run"), "{name}: {reason}");
        assert!(before.len() >= 3, "{name}: the checks of all were right");
        assert!(before.iter().all(|run| run.status == Status::Ok), "{name}");
        assert_eq!(results.sessions.last().unwrap().event, SessionEvent::Stopped, "{name}");
        let left = fs::read_dir(world.path("results")).unwrap().count();
        assert_eq!(left, 0, "{name}: the scratch folder is gone");
    }
}

#[test]
fn a_check_that_changes_a_program_ends_with_a_sentence() {
    let _attack = Attack::on("programs", "a rival written over by a check");
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    let attack = "chmod u+w \"$(dirname \"$0\")/runtimes-steady\"\n\
                  echo '# x' >> \"$(dirname \"$0\")/runtimes-steady\"; exec \"$FLOOR\"";
    world.variant("thief", attack);
    world.experiment("paced", 1, "");
    let ended = world.lab(&["verify", "experiments/e.toml"]).assert().code(4);
    ended.stderr(contains("the program of steady has other bytes than at the start"));
}

#[test]
fn a_program_that_changes_others_as_it_says_who_it_is_is_refused() {
    for victim in ["steady", "thief"] {
        let _attack = Attack::on("programs", &format!("{victim} written over by --describe"));
        let world = World::new();
        world.variant("steady", "exec \"$FLOOR\"");
        world.variant("thief", "exec \"$FLOOR\"");
        let program = world.path("runtimes/thief/runtimes-thief");
        let text = fs::read_to_string(&program).unwrap();
        let copy = format!("\"$(dirname \"$0\")/runtimes-{victim}\"");
        let attack = format!("\nchmod u+w {copy}; echo '# x' >> {copy}\nFLOOR=");
        fs::write(&program, text.replacen("\nFLOOR=", &attack, 1)).unwrap();
        world.experiment("paced", 1, "");
        let ended = world.lab(&["run", "experiments/e.toml", "--out", "r"]).assert().code(4);
        let said = format!("the program of {victim} was changed while the programs said who");
        ended.stderr(contains(said));
        assert!(!world.path("r").exists(), "nothing was run");
    }
}

#[test]
fn programs_of_a_sweep_may_not_be_written() {
    let _attack = Attack::on("programs", "writing without being root");
    let world = World::new();
    let look = world.path("modes");
    world.variant(
        "steady",
        &format!(
            "stat -c %a \"$0\" \"$(dirname \"$0\")\" >> '{}'\nexec \"$FLOOR\"",
            look.display()
        ),
    );
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(0);
    let modes = fs::read_to_string(look).unwrap();
    assert!(modes.lines().count() >= 6 && modes.lines().all(|mode| mode == "555"), "{modes}");
}

/// Reads a request, and returns its path.
fn request(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    first.split(' ').nth(1).map(str::to_owned)
}

/// A server that has another model by the name of the first, once it was asked for replies.
fn fickle_server() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut digest = "aaa";
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let Some(path) = request(&mut reader) else { continue };
            let body = match path.as_str() {
                "/api/version" => "{\"version\":\"1\"}".to_owned(),
                "/api/tags" => {
                    format!("{{\"models\":[{{\"name\":\"paced\",\"digest\":\"{digest}\"}}]}}")
                }
                _ => {
                    digest = "bbb";
                    "{\"error\":\"no\"}\n".to_owned()
                }
            };
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n");
            let answer = format!("{head}connection: close\r\n\r\n{body}");
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn a_model_that_is_replaced_amid_a_sweep_ends_it() {
    let _attack = Attack::on("servers", "a model replaced amid a sweep");
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("given", 1, "");
    let server = fickle_server();
    let run = ["run", "experiments/e.toml", "--servers", &server, "--out", "r", "--no-startup"];
    let ended = world.lab(&run).assert().code(4);
    let said = format!("the model paced of {server} was replaced amid the sweep: its digest was");
    ended.stderr(contains(said).and(contains("aaa and is bbb")));
    let results = Results::load(&world.path("r")).unwrap();
    assert!(results.runs.is_empty(), "{:?}", results.runs);
    assert_eq!(results.sessions.last().unwrap().event, SessionEvent::Stopped);
}
