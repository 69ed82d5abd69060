//! The compiler's flags: Cargo's release profile against Bazel's build. What is measured must not
//! depend on which of the two made it.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// Flags by the names of Cargo's profiles, and `target-cpu` and `linker`.
type Flags = BTreeMap<String, String>;

/// What Cargo does in `[profile.release]` where the profile says nothing.
const CARGO: [(&str, &str); 11] = [
    ("opt-level", "3"),
    ("codegen-units", "16"),
    ("lto", "false"),
    ("panic", "unwind"),
    ("debug", "false"),
    ("strip", "none"),
    ("overflow-checks", "false"),
    ("debug-assertions", "false"),
    // Where `lto` is false.
    ("embed-bitcode", "no"),
    ("target-cpu", "rustc's"),
    ("linker", "rustc's"),
];

/// What rules_rust 0.54 and rustc do with `--compilation_mode=opt` where .bazelrc says nothing. An
/// LTO that nobody asks for is rustc's own, between the units of a crate: Cargo's `false`.
const BAZEL: [(&str, &str); 11] = [
    ("opt-level", "3"),
    ("codegen-units", "16"),
    ("lto", "false"),
    ("panic", "unwind"),
    ("debug", "false"),
    ("strip", "debuginfo"),
    ("overflow-checks", "false"),
    ("debug-assertions", "false"),
    ("embed-bitcode", "yes"),
    ("target-cpu", "rustc's"),
    // The C toolchain's, which is the one that rustc calls unasked.
    ("linker", "rustc's"),
];

/// Complaints about flags that differ between Cargo's release profile and Bazel's build.
pub fn differences(root_manifest: &Table, bazelrc: &str) -> Vec<String> {
    let (cargo, mut complaints) = of_cargo(root_manifest);
    match of_bazel(bazelrc) {
        Ok(bazel) => {
            let names = cargo.keys().chain(bazel.keys().filter(|name| !cargo.contains_key(*name)));
            let said = |flags: &Flags, name: &str| flags.get(name).cloned().unwrap_or_default();
            complaints.extend(names.filter(|name| cargo.get(*name) != bazel.get(*name)).map(
                |name| {
                    let (by_cargo, by_bazel) = (said(&cargo, name), said(&bazel, name));
                    format!("{name} is `{by_cargo}` under Cargo and `{by_bazel}` under Bazel")
                },
            ));
        }
        Err(complaint) => complaints.push(complaint),
    }
    complaints
}

/// Complaints about flags that are set where [`differences`] does not look. `text` is that of a
/// file of Bazel's rules, or of Cargo's configuration.
pub fn set_elsewhere(path: &str, text: &str) -> Vec<String> {
    let flags =
        ["rustc_flags", "rustc_flag", "opt_level", "strip_level", "debug_info", "rustflags"];
    // Of what is never timed: `packages::unoptimised` holds the list to that.
    let of_untimed = "rustc_flags = _flags()";
    // Other people's code, as Cargo does: no lint changes what is compiled.
    let of_lints = "rustc_flags = [\"--cap-lints=allow\"],";
    let is_set = |line: &&str| {
        let line = line.trim_start();
        if line == of_lints || path == "tools/bazel/lab.bzl" && line.starts_with(of_untimed) {
            return false;
        }
        flags.iter().any(|flag| {
            let rest =
                line.strip_prefix(flag).or_else(|| line.strip_prefix("extra_")?.strip_prefix(flag));
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        })
    };
    let complaint = |line: &str| {
        format!("{path} sets `{}`: set it in Cargo.toml and .bazelrc, so that both do", line.trim())
    };
    text.lines().filter(is_set).map(complaint).collect()
}

/// The folders of lab/ that Bazel does not optimise, as the list in `lab_bzl` names them.
pub fn unoptimised(lab_bzl: &str) -> Vec<String> {
    let lines = lab_bzl.lines().skip_while(|line| *line != "_UNTIMED = [").skip(1);
    let names = lines.map_while(|line| line.trim().strip_prefix('"')?.strip_suffix("\","));
    names.map(|name| format!("lab/{name}")).collect()
}

/// The flags of the profile, and complaints about parts of it that Bazel has nothing like.
fn of_cargo(root_manifest: &Table) -> (Flags, Vec<String>) {
    let mut flags: Flags = CARGO.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let mut complaints = Vec::new();
    let profile = root_manifest.get("profile").and_then(|profiles| profiles.get("release"));
    for (key, value) in profile.and_then(Value::as_table).into_iter().flatten() {
        match value {
            Value::Table(_) => complaints
                .push(format!("[profile.release.{key}] treats some crates apart; Bazel does not")),
            Value::String(text) => drop(flags.insert(key.clone(), text.clone())),
            value => drop(flags.insert(key.clone(), value.to_string())),
        }
    }
    (flags, complaints)
}

/// The flags of every build, without those of a `--config`.
fn of_bazel(bazelrc: &str) -> Result<Flags, String> {
    let words = bazelrc.lines().filter_map(|line| line.strip_prefix("build "));
    let words: Vec<&str> = words.flat_map(str::split_whitespace).collect();
    if !words.contains(&"--compilation_mode=opt") {
        return Err(".bazelrc lacks `build --compilation_mode=opt`, as Cargo's release".to_owned());
    }
    let mut flags: Flags = BAZEL.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let settings =
        words.iter().filter_map(|word| word.split_once("//rust/settings:")?.1.split_once('='));
    for (setting, value) in settings {
        match setting {
            "lto" => drop(flags.insert("lto".to_owned(), value.to_owned())),
            "codegen_units" => drop(flags.insert("codegen-units".to_owned(), value.to_owned())),
            "extra_rustc_flag" | "extra_rustc_flags" => {
                let options = value
                    .split(',')
                    .filter_map(|one| one.trim_start_matches('-').strip_prefix('C'));
                let options = options.map(|one| one.split_once('=').unwrap_or((one, "true")));
                flags.extend(options.map(|(name, value)| (name.to_owned(), value.to_owned())));
            }
            _ => {}
        }
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAZELRC: &str = "common --x\nbuild --compilation_mode=opt\n\
                           build --@rules_rust//rust/settings:extra_rustc_flag=-Cembed-bitcode=no\n\
                           build:apart --@rules_rust//rust/settings:extra_rustc_flag=-Clto=fat\n";

    fn manifest(profile: &str) -> Table {
        format!("[profile.release]\nstrip = \"debuginfo\"\n{profile}").parse().unwrap()
    }

    #[test]
    fn equal_flags_are_equal_however_they_are_said() {
        assert_eq!(differences(&manifest(""), BAZELRC), [""; 0]);
        let spelled = "opt-level = 3\nlto = false\ncodegen-units = 16\ndebug = false\n";
        assert_eq!(differences(&manifest(spelled), BAZELRC), [""; 0]);
        let both =
            format!("{BAZELRC}build --@rules_rust//rust/settings:extra_rustc_flag=-Cpanic=abort\n");
        assert_eq!(differences(&manifest("panic = \"abort\""), &both), [""; 0]);
    }

    #[test]
    fn a_flag_of_one_alone_is_found() {
        let of = |profile: &str, more: &str| {
            differences(&manifest(profile), &format!("{BAZELRC}{more}"))
        };
        assert_eq!(of("lto = \"off\"", ""), ["lto is `off` under Cargo and `false` under Bazel"]);
        assert_eq!(of("codegen-units = 1", "").len(), 1);
        assert_eq!(of("panic = \"abort\"", "").len(), 1);
        assert_eq!(of("", "build --@rules_rust//rust/settings:lto=thin\n").len(), 1);
        let native = "build --@rules_rust//rust/settings:extra_rustc_flag=-Ctarget-cpu=native\n";
        assert_eq!(of("", native).len(), 1);
        assert_eq!(of("[profile.release.package.tokio]\nopt-level = 2", "").len(), 1);
        assert_eq!(differences(&manifest(""), "build --verbose_failures\n").len(), 1);
    }

    #[test]
    fn the_list_of_what_is_not_optimised_is_read() {
        let text = "A = [\n \"x\",\n]\n_UNTIMED = [\n \"audit\",\n \"cli\",\n]\nB = [\n \"y\",\n]";
        assert_eq!(unoptimised(text), ["lab/audit", "lab/cli"]);
        assert_eq!(unoptimised("_UNTIMED = []"), [""; 0]);
    }

    #[test]
    fn flags_in_other_files_are_found() {
        let of = |text: &str| set_elsewhere("a.bzl", text).len();
        assert_eq!(of("rust_binary(\n    rustc_flags = [\"-Clto=fat\"],\n)"), 1);
        assert_eq!(of("    extra_rustc_flags = [],\n    opt_level = {},"), 2);
        let known = "        rustc_flags = _flags() or _TESTS,\n    rustc_flags = [],";
        assert_eq!(set_elsewhere("tools/bazel/lab.bzl", known).len(), 1);
        assert_eq!(of("    rustc_flags = [\"--cap-lints=allow\"],"), 0);
        assert_eq!(of("    rustc_flags = [\"--cap-lints=allow\", \"-Clto=fat\"],"), 1);
        assert_eq!(of("rustc_env = paths\n# rustc_flags are in .bazelrc"), 0);
    }
}
