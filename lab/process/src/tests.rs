use std::{fs, thread};

use proof_kit::Attack;

use super::*;

fn shell(script: &str) -> Run {
    let argv = ["sh", "-c", script].map(OsString::from).into();
    Run { argv, output: Output::Hash, ..Run::default() }
}

fn execute(run: &Run) -> Finished {
    run.execute(&AtomicBool::new(false)).unwrap()
}

fn output(run: &Run) -> (String, u64) {
    execute(run).output.unwrap()
}

#[test]
fn status_and_signal_are_told_apart() {
    assert_eq!(execute(&shell("exit 3")).ended, Ended::Exited(3));
    assert_eq!(execute(&shell("kill -9 $$")).ended, Ended::Signalled(9));
}

#[test]
fn cpu_time_memory_and_faults_are_the_commands() {
    let busy = execute(&shell("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"));
    let idle = execute(&shell(":"));
    assert!(busy.usage.user + busy.usage.system > idle.usage.user + idle.usage.system);
    assert!(busy.wall >= Duration::from_millis(1) && idle.usage.minor_faults > 0);
    let large = execute(&shell("head -c 300000000 /dev/zero | tail -c 290000000"));
    assert!(large.usage.peak_rss_bytes > 280_000_000, "{large:?}");
}

#[test]
fn output_is_hashed_and_counted_however_long_it_is() {
    let (hash, bytes) = output(&shell("printf abc"));
    assert_eq!(bytes, 3);
    assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(output(&shell("head -c 5000000 /dev/zero")).1, 5_000_000);
    assert_eq!(output(&shell(":")).1, 0);
}

#[test]
fn input_and_output_are_files_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [input, to, errors] = ["in", "out", "errors"].map(|name| folder.path().join(name));
    fs::write(&input, "hello").unwrap();
    let run = Run {
        input: Some(input),
        output: Output::File(to.clone()),
        errors: Some(errors.clone()),
        ..shell("cat; echo bad >&2")
    };
    assert_eq!(execute(&run).output, None);
    assert_eq!(fs::read_to_string(to).unwrap(), "hello");
    assert_eq!(fs::read_to_string(errors).unwrap(), "bad\n");
    assert_eq!(output(&shell("cat")).1, 0);
}

#[test]
fn a_command_that_hangs_is_ended_with_its_children() {
    let _attack = Attack::on("kills", "a command that hangs with a child");
    let folder = tempfile::tempdir().unwrap();
    let run = Run {
        timeout: Some(Duration::from_millis(300)),
        directory: Some(folder.path().to_owned()),
        ..shell("sleep 1000 & echo $! > child; wait")
    };
    assert_eq!(execute(&run).ended, Ended::TimedOut);
    let child = fs::read_to_string(folder.path().join("child")).unwrap();
    wait_for_end_of(child.trim());
}

#[test]
fn what_a_command_leaves_running_is_ended_and_not_waited_for() {
    let _attack = Attack::on("kills", "a command that leaves a child running");
    let folder = tempfile::tempdir().unwrap();
    let run = Run {
        directory: Some(folder.path().to_owned()),
        ..shell("sleep 1000 & echo $! > child; echo done")
    };
    let finished = execute(&run);
    assert_eq!(finished.ended, Ended::Exited(0));
    assert_eq!(finished.output.unwrap().1, 5);
    let child = fs::read_to_string(folder.path().join("child")).unwrap();
    wait_for_end_of(child.trim());
}

/// Until the process is gone, or is a zombie that somebody else has to collect.
fn wait_for_end_of(process: &str) {
    let stat = PathBuf::from(format!("/proc/{process}/stat"));
    for _ in 0..200 {
        match fs::read_to_string(&stat) {
            Ok(text) if !text.contains(") Z ") => thread::sleep(Duration::from_millis(50)),
            _ => return,
        }
    }
    panic!("process {process} is still there");
}

#[test]
fn an_interrupted_command_is_ended() {
    let interrupted = AtomicBool::new(true);
    let finished = shell("sleep 1000").execute(&interrupted).unwrap();
    assert_eq!(finished.ended, Ended::Interrupted);
}

#[test]
fn the_environment_is_as_large_as_asked() {
    let run = |environment_bytes| Run { environment_bytes, ..shell("env") };
    assert_eq!(output(&run(1_000)).1, output(&run(0)).1 + 1_000);
}

#[test]
fn what_cannot_start_is_named() {
    let missing = Run { argv: vec!["no-such-program".into()], ..Run::default() };
    let error = missing.execute(&AtomicBool::new(false)).unwrap_err().to_string();
    assert!(error.starts_with("cannot start `no-such-program`: "), "{error}");
    let no_input = Run { input: Some("/no/such/file".into()), ..shell(":") };
    let error = no_input.execute(&AtomicBool::new(false)).unwrap_err().to_string();
    assert!(error.starts_with("cannot open /no/such/file: "), "{error}");
}

#[test]
fn two_at_once_overlap_and_one_that_hangs_does_not_end_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let here = Some(folder.path().to_owned());
    let both = Run { directory: here, ..shell("echo s >> log; sleep 0.5; echo e >> log") };
    let finished = Run::execute_both([&both, &both], &AtomicBool::new(false)).unwrap();
    assert!(finished.iter().all(|one| one.ended == Ended::Exited(0)));
    assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "s\ns\ne\ne\n");
    let hangs = Run { timeout: Some(Duration::from_millis(200)), ..shell("sleep 1000") };
    let prints = shell("sleep 0.6; printf abc");
    let [hung, printed] = Run::execute_both([&hangs, &prints], &AtomicBool::new(false)).unwrap();
    assert_eq!((hung.ended, printed.ended), (Ended::TimedOut, Ended::Exited(0)));
    assert_eq!(printed.output.unwrap().1, 3);
    assert!(hung.wall < printed.wall);
}

#[test]
fn of_two_the_first_is_ended_where_the_second_cannot_start() {
    let _attack = Attack::on("kills", "a duet whose second command cannot start");
    let folder = tempfile::tempdir().unwrap();
    let long = Run {
        directory: Some(folder.path().to_owned()),
        ..shell("echo $$ > child; exec sleep 1000")
    };
    let missing = Run { argv: vec!["no-such-program".into()], ..Run::default() };
    let error = Run::execute_both([&long, &missing], &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().starts_with("cannot start `no-such-program`: "), "{error}");
    // It may have been ended before it wrote its number, with the file there already.
    let child = fs::read_to_string(folder.path().join("child")).unwrap_or_default();
    if !child.is_empty() {
        wait_for_end_of(child.trim());
    }
}

#[test]
fn a_command_runs_on_its_processors_and_the_lab_on_all() {
    let cpus = cpus_by_core().unwrap();
    let one = Run { cpus: vec![cpus[0]], ..shell("nproc") };
    let all = shell("nproc");
    let [of_one, of_all] = [&one, &all].map(|run| {
        let to = tempfile::NamedTempFile::new().unwrap();
        execute(&Run { output: Output::File(to.path().to_owned()), ..run.clone() });
        fs::read_to_string(to.path()).unwrap().lines().last().unwrap().parse::<usize>().unwrap()
    });
    assert_eq!((of_one, of_all), (1, cpus.len()));
    assert_eq!(cpus_by_core().unwrap(), cpus);
}

fn succeeds(status: i32) -> bool {
    status == 0
}

#[test]
fn several_executions_are_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let here = Some(folder.path().to_owned());
    let run = Run { directory: here, ..shell("head -c 100000 /dev/zero; echo >> log") };
    let interrupted = AtomicBool::new(false);
    let one = run.execute_times(1, succeeds, &interrupted).unwrap();
    let five = run.execute_times(5, succeeds, &interrupted).unwrap();
    let log = || fs::read_to_string(folder.path().join("log")).unwrap().lines().count();
    assert_eq!(log(), 6);
    let [read_one, read_five] = [&one, &five].map(|all| all.transfers.map(|bytes| bytes.read));
    if let Some((one, five)) = read_one.zip(read_five) {
        assert!(one > 100_000 && five > 4 * one && five < 6 * one, "{one} {five}");
    }
    assert!(five.usage.minor_faults > 3 * one.usage.minor_faults);
    let fails = Run { directory: Some(folder.path().to_owned()), ..shell("echo >> log; exit 3") };
    assert_eq!(fails.execute_times(4, succeeds, &interrupted).unwrap().ended, Ended::Exited(3));
    assert_eq!(log(), 7);
    assert_eq!(fails.execute_times(4, |_| true, &interrupted).unwrap().ended, Ended::Exited(3));
    assert_eq!(log(), 11);
}

#[test]
fn output_in_memory_or_in_a_file_is_hashed_after_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("out");
    for output in [Output::Memory(1 << 20), Output::Hashed(to.clone()), Output::Hash] {
        let run = Run { output, ..shell("printf abc") };
        let (hash, bytes) = self::output(&run);
        assert_eq!(bytes, 3);
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
    assert_eq!(fs::read_to_string(to).unwrap(), "abc");
    let device = Run { output: Output::Hashed("/dev/null".into()), ..shell("printf abc") };
    assert_eq!(execute(&device).output, None);
    // A command that opens it by its name finds a file.
    let by_name = Run { output: Output::Memory(9), ..shell("printf abc > /dev/stdout") };
    assert_eq!(output(&by_name).1, 3);
}

#[test]
fn what_prints_more_than_memory_takes_is_ended() {
    let run = |script, most| execute(&Run { output: Output::Memory(most), ..shell(script) });
    assert_eq!(run("printf abc", 3).ended, Ended::Exited(0));
    for (script, most) in [("printf abcd", 3), ("cat /dev/zero", 1 << 20)] {
        let _attack = Attack::on("memory", &format!("{script} into {most} bytes"));
        let finished = run(script, most);
        assert_eq!((finished.ended, finished.output), (Ended::PrintedTooMuch, None), "{script}");
    }
}

#[test]
fn the_last_complaints_of_many_are_kept() {
    let _attack = Attack::on("memory", "megabytes of complaints");
    let run = Run { keeps_errors: true, ..shell("head -c 9000000 /dev/zero >&2; echo bad >&2") };
    let finished = execute(&run);
    assert_eq!(finished.ended, Ended::Exited(0));
    assert_eq!(finished.errors.len(), 64 << 10);
    assert!(finished.errors.ends_with(b"bad\n"));
    let at_once = Run { keeps_errors: true, ..shell("echo bad >&2") };
    assert_eq!(execute(&at_once).errors, b"bad\n");
}

#[test]
fn complaints_are_remembered_up_to_a_bound() {
    let run = |script| execute(&Run { remembers_errors: Some(1 << 20), ..shell(script) });
    assert_eq!(run("echo bad >&2; echo worse >&2").errors, b"bad\nworse\n");
    assert_eq!(run(":").errors, b"");
    let _attack = Attack::on("memory", "seconds of complaints into a megabyte");
    let finished = run("timeout 1 yes >&2; sleep 0.6; echo bad >&2");
    assert!(finished.errors.ends_with(b"y\nbad\n") && finished.errors.len() <= 1 << 20);
}

#[test]
fn one_of_several_executions_that_prints_otherwise_is_told() {
    let _attack = Attack::on("answers", "one of several inner runs that prints otherwise");
    let folder = tempfile::tempdir().unwrap();
    let here = Some(folder.path().to_owned());
    let prints = "echo >> n; test $(wc -l < n) = 2 && echo wrong || echo right";
    let run = Run { directory: here, output: Output::Memory(99), ..shell(prints) };
    let interrupted = AtomicBool::new(false);
    assert!(run.execute_times(4, succeeds, &interrupted).unwrap().outputs_differ);
    assert!(!run.execute_times(4, succeeds, &interrupted).unwrap().outputs_differ);
}
