//! Both commands of a pair at once, each on its half of the processors.

use lab_console::Failure;

/// The processors that the lab may use in two halves, the cores of each its own where that is
/// possible.
pub(crate) fn halves() -> Result<[Vec<usize>; 2], Failure> {
    let cpus = lab_process::cpus_by_core()
        .map_err(|error| Failure::lab(format!("cannot ask for the allowed processors: {error}")))?;
    if cpus.len() < 2 {
        return Err(Failure::input(
            "--duet needs two processors and may use one; leave it out to run one at a time",
        ));
    }
    let (first, second) = cpus.split_at(cpus.len() / 2);
    Ok([first.to_vec(), second.to_vec()])
}
