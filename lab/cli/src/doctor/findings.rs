//! What is wrong with this machine for measuring, and what to do about it.

use crate::idle::BUSY_LOAD;

const INSTALL: &str = "install it, or run in the pinned environment (./enter)";

/// One thing that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) subject: &'static str,
    pub(super) problem: String,
    pub(super) remedy: String,
}

/// The variants of a family.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) variants: usize,
    /// Programs that are not built.
    pub(super) unbuilt: Vec<String>,
    /// Sentences about programs whose interpreter is not there.
    pub(super) unreadable: Vec<String>,
}

/// What was seen of the machine.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) load: Option<f64>,
    pub(super) governor: Option<String>,
    pub(super) cpus: usize,
    pub(super) virtual_machine: bool,
    /// Causes that the noise gate found in the pilot.
    pub(super) disturbances: Vec<String>,
    /// Name and what is lost without it.
    pub(super) tools_missing: Vec<(&'static str, &'static str)>,
    pub(super) families: Vec<Family>,
}

impl Seen {
    pub(super) fn unbuilt(&self) -> Vec<&str> {
        let names = self.families.iter().flat_map(|family| &family.unbuilt);
        names.map(String::as_str).collect()
    }
}

/// All findings, what disturbs most first.
pub(super) fn findings(seen: &Seen) -> Vec<Finding> {
    let machine = [load(seen), governor(seen), virtual_machine(seen), few_cpus(seen)];
    let mut found: Vec<Finding> =
        seen.disturbances.iter().map(|cause| disturbance(cause)).collect();
    found.extend(machine.into_iter().flatten());
    found.extend(seen.tools_missing.iter().map(|(name, without)| Finding {
        subject: "tool",
        problem: format!("{name} is not installed: {without}"),
        remedy: INSTALL.to_owned(),
    }));
    found.extend(seen.families.iter().filter_map(programs));
    let unreadable = seen.families.iter().flat_map(|family| &family.unreadable);
    found.extend(unreadable.map(|sentence| Finding {
        subject: "programs",
        problem: sentence.clone(),
        remedy: INSTALL.to_owned(),
    }));
    found
}

fn disturbance(cause: &str) -> Finding {
    let remedy = if cause.starts_with("steal") {
        "take a machine of your own, or wait until the host is less busy"
    } else {
        "stop them; `top` shows which they are"
    };
    Finding { subject: "noise", problem: cause.to_owned(), remedy: remedy.to_owned() }
}

fn load(seen: &Seen) -> Option<Finding> {
    let load = seen.load.filter(|load| *load > BUSY_LOAD)?;
    Some(Finding {
        subject: "load",
        problem: format!("load {load:.2} over the last minute: other work takes CPU time"),
        remedy: "stop it, or start with `lab run --wait-idle`".to_owned(),
    })
}

fn governor(seen: &Seen) -> Option<Finding> {
    let governor = seen.governor.as_deref().filter(|governor| *governor != "performance")?;
    Some(Finding {
        subject: "CPU frequency",
        problem: format!("the governor is `{governor}`: the clock rate changes during runs"),
        remedy: "cpupower frequency-set --governor performance".to_owned(),
    })
}

fn virtual_machine(seen: &Seen) -> Option<Finding> {
    seen.virtual_machine.then(|| Finding {
        subject: "virtual machine",
        problem: "its host shares CPUs, caches and disks with others, mostly unseen".to_owned(),
        remedy: "measure small differences on a machine of your own".to_owned(),
    })
}

fn few_cpus(seen: &Seen) -> Option<Finding> {
    let least = lab_driver::PINNING_CPUS_MIN;
    (seen.cpus < least).then(|| Finding {
        subject: "CPUs",
        problem: format!("{} CPUs: a server and its clients share them, unpinned", seen.cpus),
        remedy: format!("compare clients of a server on {least} CPUs or more"),
    })
}

fn programs(family: &Family) -> Option<Finding> {
    let Family { name, variants, unbuilt, .. } = family;
    (!unbuilt.is_empty()).then(|| Finding {
        subject: "programs",
        problem: format!(
            "{} of {variants} variants in {name}/ are not built: {}",
            unbuilt.len(),
            unbuilt.join(", ")
        ),
        remedy: "cargo build --release --workspace".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(unbuilt: &[&str]) -> Family {
        let unbuilt = unbuilt.iter().map(|name| (*name).to_owned()).collect();
        Family { name: "f".to_owned(), variants: 3, unbuilt, unreadable: vec![] }
    }

    #[test]
    fn a_good_machine_has_no_findings() {
        let seen = Seen {
            load: Some(0.2),
            governor: Some("performance".to_owned()),
            cpus: 4,
            families: vec![family(&[])],
            ..Seen::default()
        };
        assert_eq!(findings(&seen), []);
        assert_eq!(findings(&Seen { cpus: 4, ..Seen::default() }), [], "nothing is known");
    }

    #[test]
    fn a_program_that_nothing_reads_is_named() {
        let sentence = "f-a is left out: python3 is not installed".to_owned();
        let family = Family { unreadable: vec![sentence.clone()], ..family(&[]) };
        let found = findings(&Seen { cpus: 4, families: vec![family], ..Seen::default() });
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].problem, found[0].remedy.as_str()), (&sentence, INSTALL));
    }

    #[test]
    fn each_trouble_is_named_with_what_to_do() {
        let seen = Seen {
            load: Some(8.59),
            governor: Some("powersave".to_owned()),
            cpus: 2,
            virtual_machine: true,
            disturbances: vec!["steal 3 % of the CPU time in the pilot".to_owned()],
            tools_missing: vec![("gnuplot", "reports have no pictures")],
            families: vec![family(&["f-a", "f-b"])],
        };
        let found = findings(&seen);
        let problems: Vec<&str> = found.iter().map(|one| one.problem.as_str()).collect();
        let expected = [
            "steal 3 %",
            "load 8.59",
            "the governor is `powersave`",
            "its host shares",
            "2 CPUs",
            "gnuplot is not installed: reports have no pictures",
            "2 of 3 variants in f/ are not built: f-a, f-b",
        ];
        assert_eq!(problems.len(), expected.len());
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.starts_with(expected), "{problem}");
        }
        assert!(found.iter().all(|one| !one.remedy.is_empty()));
    }
}
