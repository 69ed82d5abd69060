//! Commands out of git revisions, built before anything is timed.

use std::{collections::BTreeSet, path::Path, sync::atomic::AtomicBool};

use lab_console::Failure;

use super::{
    builds::{Built, Git, Revision, Store},
    commands::{Command, check_counts},
    names::{Names, check_different},
    options::{Options, Revisions},
    values::Parameters,
};

/// A command for each revision, the first being the reference; and sentences about what was built.
pub(crate) fn commands(
    options: &Options,
    asked: &Revisions,
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<(Vec<Command>, Vec<String>), Failure> {
    let count = asked.names.len();
    check_counts(options, count)?;
    let names = Names::new(&options.names, count, count)?;
    let git = Git::here(folder, interrupted)?;
    let revisions: Vec<Revision> =
        asked.names.iter().map(|name| git.revision(name)).collect::<Result<_, _>>()?;
    let mut notes = Vec::new();
    if !asked.names.iter().any(|name| name == ".") && git.has_changes()? {
        notes.push(
            "the work tree has changes that no revision holds; --rev . takes them".to_owned(),
        );
    }
    let (shell, program) = (options.runs.shell.name(), &options.commands[0]);
    let store = Store::new(&git, &asked.build, shell, program, asked.rebuild)?;
    let mut commands = Vec::new();
    for (place, revision) in revisions.iter().enumerate() {
        let builds = (0..asked.builds).map(|build| store.built(revision, build));
        let builds = builds.collect::<Result<Vec<Built>, _>>()?;
        let rest = options.commands[1..].iter().cloned();
        let name = &revision.name;
        commands.push(Command {
            name: names.of(place, place, name, &Parameters::new()),
            text: format!("{name}: {}", options.commands.join(" ")),
            argv: [builds[0].program.display().to_string()].into_iter().chain(rest).collect(),
            prepare: options.runs.prepare_of(place).cloned(),
            conclude: options.runs.conclude_of(place).cloned(),
            output: options.runs.output_of(place),
            parameters: Parameters::new(),
            builds,
        });
    }
    check_different(&commands, |place| names.is_given(place))?;
    notes.extend(equal(&commands, &asked.names));
    Ok((commands, notes))
}

/// Builds of one revision that have the same bytes.
fn equal(commands: &[Command], names: &[String]) -> Vec<String> {
    let hashes = |command: &Command| -> Vec<String> {
        command.builds.iter().map(|built| built.sha256.clone()).collect()
    };
    let mut notes = Vec::new();
    for (command, name) in commands.iter().zip(names) {
        let (all, different) = (hashes(command), BTreeSet::from_iter(hashes(command)).len());
        if different == 1 && all.len() > 1 {
            notes.push(format!(
                "all {} builds of {name} are the same bytes; the build command has to use \
                 LAB_BUILD or LAB_BUILD_SEED",
                all.len()
            ));
        } else if different < all.len() {
            // Of two that are equal, both are.
            let twice = |hash: &&String| all.iter().filter(|other| other == hash).count() > 1;
            let equal = all.iter().filter(twice).count();
            notes.push(format!("{equal} of {} builds of {name} are the same bytes", all.len()));
        }
    }
    notes
}
