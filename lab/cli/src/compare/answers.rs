//! What the checked answers of the commands have in common, and what not.

use lab_process::Ended;

use super::commands::Command;

/// Where any status is accepted: the commands one of whose builds ends with another one than the
/// reference's first.
pub(super) fn other_statuses(commands: &[Command], ends: &[Vec<Ended>]) -> Vec<String> {
    let status = |ended: &Ended| match ended {
        Ended::Exited(status) => Some(*status),
        _ => None,
    };
    let Some(first) = ends.first().and_then(|ends| status(ends.first()?)) else {
        return Vec::new();
    };
    let others = commands.iter().zip(ends).filter_map(|(command, ends)| {
        let other = ends.iter().filter_map(status).find(|status| *status != first)?;
        let (name, reference) = (&command.name, &commands[0].name);
        Some(format!("{name} ends with status {other}, and {reference} with {first}"))
    });
    others.collect()
}

/// By the hashes of each command's builds, and that of another run of the first.
pub(super) fn differences(
    commands: &[Command],
    hashes: &[Vec<Option<String>>],
    again: &Option<String>,
) -> Vec<String> {
    let (first, reference) = (&hashes[0][0], &commands[0].name);
    if again != first {
        return vec![format!(
            "{reference} prints something else each time, so outputs were not compared"
        )];
    }
    let said = |(command, builds): (&Command, &Vec<Option<String>>)| {
        let name = &command.name;
        if builds.iter().any(|hash| *hash != builds[0]) {
            return Some(format!("the builds of {name} print different things"));
        }
        (builds[0] != *first).then(|| format!("{name} prints something else than {reference}"))
    };
    commands.iter().zip(hashes).filter_map(said).collect()
}
