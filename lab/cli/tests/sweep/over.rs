//! Sessions of one experiment, recorded apart and put together.

use assert_cmd::assert::OutputAssertExt;
use lab_record::Results;
use predicates::str::contains;

use crate::world::World;

fn world() -> World {
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
        assert_eq!(file.session.map(|it| it.to_string()).as_deref(), Some(number));
        world.lab(&["report", number, "--check"]).assert().code(0);
    }
    let end = world.lab(&["report", "1", "--over", "2", "3"]).assert().code(0);
    let text = String::from_utf8(end.get_output().stdout.clone()).unwrap();
    assert!(text.starts_with("3 sessions of `e`, "), "{text}");
    for said in ["`calm`", "`steady_twin` (A/A)", "3 sessions, and 6 are needed", " on one machine"]
    {
        assert!(text.contains(said), "{said} is not in {text}");
    }
    let twice = ["report", "1", "--over", "2", "1"];
    world.lab(&twice).assert().code(2).stderr(contains("/1 are one record: give each"));
    world.variant("calm", "true; exec \"$FLOOR\"");
    session(&world, "4");
    let other = world.lab(&["report", "1", "--over", "4"]).assert().code(2);
    other.stderr(contains("ran different programs of `calm`"));
    world.variant("calm", "exec \"$FLOOR\"");
    world.experiment("paced", 3, "");
    session(&world, "5");
    let other = world.lab(&["report", "1", "--over", "5"]).assert().code(2);
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
fn sessions_of_one_command_go_on_where_they_were_stopped() {
    let world = world();
    let run = ["run", "experiments/e.toml", "--sessions", "2", "--out", "s", "--no-startup"];
    let end = world.lab(&run).assert().code(0);
    end.stdout(contains("2 sessions of `e`, "));
    let started = |number: &str| {
        let results = Results::load(&world.path(&format!("s/{number}"))).unwrap();
        (results.run_file.session, results.sessions.len())
    };
    assert_eq!((started("1"), started("2")), ((Some(1), 2), (Some(2), 2)));
    let more = ["run", "experiments/e.toml", "--sessions", "3", "--out", "s", "--no-startup"];
    let end = world.lab(&more).assert().code(0);
    end.stdout(contains("3 sessions of `e`, "));
    assert_eq!((started("1"), started("3")), ((Some(1), 2), (Some(3), 2)), "none ran again");
}
