//! Sessions of one experiment, recorded apart and put together.

use std::fs;

use assert_cmd::assert::OutputAssertExt;
use lab_record::Results;
use predicates::{prelude::PredicateBooleanExt, str::contains};

use crate::{unchained::unchain, world::World};

pub fn world() -> World {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.variant("calm", "exec \"$FLOOR\"");
    world.experiment("paced", 2, "");
    world
}

fn session(world: &World, number: &str) {
    let run = ["run", "experiments/e.toml", "--session", number, "--out", number, "--no-startup"];
    world.lab(&run).assert().code(0);
}

#[test]
fn sessions_draw_anew_and_are_put_together() {
    let world = world();
    for number in ["1", "2", "3"] {
        session(&world, number);
        let file = Results::load(&world.path(number)).unwrap().run_file;
        assert_eq!(file.seed.to_string(), number, "the experiment's is 1");
        assert_eq!(file.session.map(|it| it.number.to_string()).as_deref(), Some(number));
        world.lab(&["report", number, "--check"]).assert().code(0);
    }
    let end = world.lab(&["report", "1", "--over", "2", "3"]).assert().code(0);
    let text = String::from_utf8(end.get_output().stdout.clone()).unwrap();
    assert!(text.starts_with("3 sessions of `e`, "), "{text}");
    for said in ["`calm`", "`steady_twin` (A/A)", "3 sessions, and 6 are needed", " on one machine"]
    {
        assert!(text.contains(said), "{said} is not in {text}");
    }
    let next = ["report", "1", "--over", "2", "--next", "3", "4"];
    session(&world, "4");
    let held = world.lab(&next).assert().code(0);
    held.stdout(
        contains("Earlier: 2 sessions of `e`, ")
            .and(contains("| verdicts given | 0 "))
            .and(contains("| later estimates inside the interval | ")),
    );
    let twice = ["report", "1", "--over", "2", "1"];
    world.lab(&twice).assert().code(2).stderr(contains("/1 are one record: give each"));
    world.variant("calm", "true; exec \"$FLOOR\"");
    session(&world, "5");
    let other = world.lab(&["report", "1", "--over", "5"]).assert().code(2);
    other.stderr(contains("ran different programs of `calm`"));
    world.variant("calm", "exec \"$FLOOR\"");
    world.experiment("paced", 3, "");
    session(&world, "6");
    let other = world.lab(&["report", "1", "--over", "6"]).assert().code(2);
    other.stderr(contains("are of different experiment files or profiles"));
}

#[test]
fn records_that_drew_alike_are_told() {
    let world = world();
    for out in ["a", "b"] {
        let run = ["run", "experiments/e.toml", "--out", out, "--no-startup"];
        world.lab(&run).assert().code(0);
    }
    let end = world.lab(&["report", "a", "--over", "b"]).assert().code(0);
    end.stderr(contains("/a: `lab run --session N` draws anew"));
}

#[test]
fn sessions_of_one_command_share_the_time_and_go_on_where_they_were_stopped() {
    let world = world();
    world.experiment("paced", 8, "");
    let run = |numbers: &str, said: &str| {
        let run = ["run", "experiments/e.toml", "--sessions", numbers, "--out", "s"];
        let end = world.lab(&[&run[..], &["--no-startup"]].concat()).assert().code(0);
        let page = fs::read_to_string(world.path("s/sessions.md")).unwrap();
        assert!(page.starts_with(&format!("{said} sessions of `e`, ")), "{page}");
        end.stdout(contains(page));
    };
    let found = |number: u32| {
        let results = Results::load(&world.path(&format!("s/{number}"))).unwrap();
        let file = results.run_file;
        assert_eq!(file.session.unwrap().number, number);
        (file.session.unwrap().sharing, file.blocks, file.seed, results.sessions.len())
    };
    run("2", "2");
    assert_eq!((found(1), found(2)), ((2, 4, 1, 2), (2, 4, 2, 2)));
    run("3", "3");
    assert_eq!((found(1), found(3)), ((2, 4, 1, 2), (3, 3, 3, 2)), "none ran again");
    run("4-9", "6");
    fs::rename(world.path("s"), world.path("results/s")).unwrap();
    let plan = world.lab(&["plan", "experiments/e.toml"]).assert().code(0);
    plan.stdout(contains("Over its 9 sessions:").and(contains(" with twice the sessions. ")));
    fs::rename(world.path("results/s"), world.path("s")).unwrap();
    assert_eq!((found(4), found(9)), ((6, 2, 4, 2), (6, 2, 9, 2)), "two blocks at least");
}

#[test]
fn what_is_held_is_not_drawn_anew() {
    let world = world();
    let run = ["run", "experiments/e.toml", "--sessions", "2", "--out", "s", "--no-startup"];
    let end = world.lab(&[&run[..], &["--hold", "order"]].concat()).assert().code(0);
    end.stderr(contains("2 drew the same orders as "));
    let seeds = ["s/1", "s/2"].map(|it| Results::load(&world.path(it)).unwrap().run_file.seed);
    assert_eq!(seeds, [1, 1]);
}

#[test]
fn sessions_of_several_experiments_take_turns() {
    let world = world();
    world.experiment("paced", 2, "");
    let other = fs::read_to_string(world.path("experiments/e.toml"))
        .unwrap()
        .replace("name = \"e\"", "name = \"f\"");
    let other = other.replace("[analysis]\n", "[analysis]\nsessions = { least = 6 }\n");
    fs::write(world.path("experiments/f.toml"), &other).unwrap();
    let both = ["run", "experiments/e.toml", "experiments/f.toml"];
    let alone = world.lab(&both).assert().code(2);
    alone.stderr(contains("several experiments take turns in sessions: add --sessions N"));
    let more = ["--sessions", "2", "--out", "s", "--no-startup"];
    let end = world.lab(&[&both[..], &more].concat()).assert().code(0);
    end.stdout(contains("2 sessions of `e`, ").and(contains("2 sessions of `f`, ")));
    let started = |place: &str| {
        let file = Results::load(&world.path(&format!("s/{place}"))).unwrap().run_file;
        (file.started_unix_s, place.to_owned())
    };
    let mut in_turn = ["e/1", "e/2", "f/1", "f/2"].map(started);
    in_turn.sort();
    let [.., third, fourth] = in_turn.map(|(_, place)| place);
    assert!(third.ends_with('2') && fourth.ends_with('2'), "{third} {fourth}");
    // Without --sessions it is the experiment's own number, but not of a smoke test.
    let out = ["run", "experiments/f.toml", "--out", "own", "--no-startup"];
    world.lab(&out).assert().code(0).stdout(contains("6 sessions of `f`, "));
    let few = other.replace("least = 6", "least = 5");
    fs::write(world.path("experiments/f.toml"), &few).unwrap();
    let refused = world.lab(&["plan", "experiments/f.toml"]).assert().code(2);
    refused.stderr(contains("f.toml: key `analysis.sessions.least`: must lie between 6 and 64"));
}

/// A record from before chains, with another text in a file of it.
fn changed(world: &World, number: &str, file: &str, change: &dyn Fn(&str) -> String) {
    unchain(&world.path(number));
    let path = world.path(&format!("{number}/{file}"));
    let text = fs::read_to_string(&path).unwrap();
    let new = change(&text);
    assert_ne!(text, new, "{file} has nothing to change");
    fs::write(path, new).unwrap();
}

#[test]
fn machines_are_told_apart_and_below_three_nothing_is_told_of_another() {
    let world = world();
    for number in ["1", "2", "3", "4"] {
        session(&world, number);
    }
    let machine = |id: usize| {
        move |text: &str| {
            let mut file: serde_json::Value = serde_json::from_str(text).unwrap();
            file["machine"]["id"] = format!("machine {id}").into();
            file.to_string()
        }
    };
    let over = |numbers: &[&str]| {
        let arguments = [&["report", "1", "--over"][..], numbers].concat();
        let end = world.lab(&arguments).assert().code(0);
        String::from_utf8(end.get_output().stdout.clone()).unwrap()
    };
    for (number, id) in [("1", 1), ("2", 1), ("3", 2), ("4", 3)] {
        changed(&world, number, "run.json", &machine(id));
    }
    let two = over(&["2", "3"]);
    assert!(two.contains(" on 2 machines"), "{two}");
    assert!(two.contains("all 2") && two.contains("3 machines are needed"), "{two}");
    let three = over(&["2", "3", "4"]);
    assert!(three.contains("all 3") && three.contains("3 machines are few"), "{three}");
}

#[test]
fn a_clock_that_was_set_and_a_restart_are_told_and_nothing_is_lost() {
    let world = world();
    session(&world, "1");
    session(&world, "2");
    let later = |text: &str| {
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let mut lines: Vec<serde_json::Value> = lines.collect();
        let last = lines.last_mut().unwrap();
        last["unix_s"] = (last["unix_s"].as_u64().unwrap() + 3_600).into();
        last["environment"]["boot"] = "another".into();
        lines.iter().map(|line| format!("{line}\n")).collect()
    };
    changed(&world, "1", "sessions.jsonl", &later);
    let end = world.lab(&["report", "1", "--over", "2"]).assert().code(0);
    end.stderr(
        contains("/1: the machine was started again amid it")
            .and(contains("were at the same time on one machine, or its clock was set")),
    )
    .stdout(contains("2 sessions of `e`, "));
}
