//! `lab new`: one more variant or experiment, from the nearest one there is, or a family.

mod experiment;
mod family;
mod foreign;
mod versions;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, Parser, Subcommand};

use crate::{Exit, Failure, paths::Paths};
use foreign::Language;

#[derive(Args)]
pub(crate) struct NewArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A variant: its folder, copied from another one of the family and named anew
    Variant {
        /// FAMILY/NAME, for example toys/mine
        name: String,
        /// The variant to begin with, for example toys/plain, or plain
        #[arg(long, value_name = "FAMILY/NAME")]
        like: Option<String>,
        /// Measure this version of the crate, with a lock of the folder's own
        #[arg(long, value_name = "VERSION", requires = "like")]
        version: Option<String>,
        /// Begin with a program in this language that does the family's work by a plain loop
        #[arg(long, conflicts_with = "like")]
        language: Option<Language>,
    },
    /// An experiment: experiments/NAME.toml, with one question of another one and its cells
    Experiment {
        /// Its name
        name: String,
        /// The experiment to begin with, for example experiments/adding.toml
        #[arg(long, value_name = "FILE")]
        like: PathBuf,
        /// Ask what this factor changes for one variant [default: the first comparison there]
        #[arg(long)]
        factor: Option<String>,
    },
    /// A family that adds numbers, to be made one's own: its crate, kit, two variants, experiment
    Family {
        /// Its name, for example sums
        name: String,
    },
    /// A variant by the singular of its family: `toy NAME` is `variant toys/NAME`
    #[command(external_subcommand)]
    Named(Vec<String>),
}

/// What `Named` is read as.
#[derive(Parser)]
#[command(name = "lab new")]
struct Again {
    #[command(subcommand)]
    what: What,
}

pub(crate) fn new(args: &NewArgs, paths: &Paths) -> Result<Exit, Failure> {
    match &args.what {
        What::Variant { name, like, version, language } => match (like, language) {
            (Some(like), _) => variant(&paths.workspace, name, like, version.as_deref())?,
            (None, Some(language)) => begun(&paths.workspace, name, *language)?,
            (None, None) => {
                let what = "begin with the nearest variant, --like FAMILY/NAME, or with a program \
                            in a language, --language python, go, node or c";
                return Err(Failure::input(format!("{name}: {what}")));
            }
        },
        What::Experiment { name, like, factor } => {
            experiment::experiment(paths, name, like, factor.as_deref())?;
        }
        What::Family { name } => family(&paths.workspace, name)?,
        What::Named(words) => return new(&named(&paths.workspace, words)?, paths),
    }
    Ok(Exit::Success)
}

/// `lab new toy mine …` as `lab new variant toys/mine …`.
fn named(root: &Path, words: &[String]) -> Result<NewArgs, Failure> {
    let families = lab_driver::families(root)?;
    let one = |family: &String| family.trim_end_matches('s').to_owned();
    let kind = words.first().map(String::as_str).unwrap_or_default();
    let Some(family) = families.iter().find(|family| one(family) == kind) else {
        let kinds: Vec<_> = families.iter().map(one).collect();
        let message = "is nothing that can be new; there are: variant, experiment, family, and";
        return Err(Failure::input(format!("`{kind}` {message} {}", kinds.join(", "))));
    };
    let Some(name) = words.get(1).filter(|name| !name.starts_with('-')) else {
        return Err(Failure::input(format!("lab new {kind}: needs a name as its next word")));
    };
    let first = ["lab new", "variant"].map(str::to_owned).into_iter();
    let words = first.chain([format!("{family}/{name}")]).chain(words[2..].iter().cloned());
    match Again::try_parse_from(words) {
        Ok(again) => Ok(NewArgs { what: again.what }),
        Err(error) => error.exit(),
    }
}

fn family(root: &Path, name: &str) -> Result<(), Failure> {
    word(name)?;
    if name.contains('-') {
        return Err(Failure::input(format!("`{name}`: a family's name has no `-`")));
    }
    let written = family::begin(root, name);
    let written = written.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    println!("{name}, which adds numbers:\n  {}", written.join("\n  "));
    println!("  1. cargo build --release --workspace");
    println!("  2. target/release/lab run experiments/{name}.toml --quick");
    println!("  3. lab/families/src/{name}/mod.rs: its factors, its check, its metrics");
    println!("  4. {name}/kit, {name}/*/src/main.rs: the work and the variants");
    Ok(())
}

fn variant(root: &Path, name: &str, like: &str, version: Option<&str>) -> Result<(), Failure> {
    let (family, new) = parts(name)?;
    // Without a family it is one of the same.
    let like = if like.contains('/') { like.to_owned() } else { format!("{family}/{like}") };
    let (like_family, old) = parts(&like)?;
    if family != like_family {
        return Err(Failure::input(format!(
            "{name}: `{like}` is of another family; name one of {family}/"
        )));
    }
    let (from, to) = (root.join(&like), root.join(name));
    if !from.join("variant.toml").is_file() {
        let message = "there is no such variant: no variant.toml is in that folder";
        return Err(Failure::input(format!("--like {like}: {message}")));
    }
    let program = format!("{family}-{old}");
    if !["Cargo.toml", "build", &program].iter().any(|file| from.join(file).exists()) {
        let message = "its program is made elsewhere; name a variant with one of its own";
        return Err(Failure::input(format!("--like {like}: {message}")));
    }
    if version.is_some() && !from.join("Cargo.toml").exists() {
        let message = "with --version it must be a package of this workspace";
        return Err(Failure::input(format!("--like {like}: {message}")));
    }
    make(&to, name, |draft| {
        if let Some(version) = version {
            let made = versions::Copy { family, old, new, version };
            return versions::write(root, &from, draft, &made);
        }
        copy(&from, draft)?;
        rename(&draft.join("variant.toml"), &quoted(old), &quoted(new))?;
        let manifest = draft.join("Cargo.toml");
        if !manifest.exists() {
            return foreign::rename(draft, family, old, new);
        }
        let [old, new] = [old, new].map(|name| quoted(&format!("{family}-{name}")));
        rename(&manifest, &old, &new)
    })?;
    println!("{name}, as {like} is");
    match (version, to.join("Cargo.toml").exists()) {
        (Some(_), _) => next(name, "crate/src/main.rs", &format!("{name}/build && ")),
        (None, true) => next(name, "src/main.rs", "cargo build --release --workspace && "),
        (None, false) => next(name, &format!("{family}-{new}"), ""),
    }
    Ok(())
}

fn begun(root: &Path, name: &str, language: Language) -> Result<(), Failure> {
    let (family, new) = parts(name)?;
    let families = lab_driver::families(root)?;
    if !families.iter().any(|known| known == family) && !root.join(family).is_dir() {
        let what = format!("`{family}` is no family; there are: {}", families.join(", "));
        return Err(Failure::input(format!("{name}: {what}")));
    }
    if let Some(like) = foreign::like(root, family, language) {
        return variant(root, name, &like, None);
    }
    make(&root.join(name), name, |draft| foreign::begin(root, draft, language, (family, new)))?;
    println!("{name}, a plain loop in {}", language.name());
    next(name, &language.source(family, new), "");
    Ok(())
}

/// Makes a folder: beside its place until it is whole.
fn make(
    to: &Path,
    name: &str,
    content: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), Failure> {
    let own = to.file_name().unwrap_or_default().display();
    let draft = to.with_file_name(format!(".new-{own}"));
    let made = not_there(to).and_then(|()| {
        let made = content(&draft).and_then(|()| fs::rename(&draft, to));
        if made.is_err() {
            let _ = fs::remove_dir_all(&draft);
        }
        made
    });
    made.map_err(|error| Failure::input(format!("{name}: {error}")))
}

/// What is left to do, by the file that holds the variant's work and what has to be built.
fn next(name: &str, source: &str, build: &str) {
    let family = name.split('/').next().unwrap_or_default();
    println!("  1. {name}/variant.toml: its sentence, what it measures, its tags");
    println!("  2. {name}/{source}: the variant itself");
    println!("  3. {build}cargo test --release -p proof-kit --test {family}");
    println!("  4. lab verify experiments/FILE.toml, which has one of its tags");
}

/// The family and the name of FAMILY/NAME.
fn parts(name: &str) -> Result<(&str, &str), Failure> {
    let Some((family, own)) = name.split_once('/') else {
        return Err(Failure::input(format!("`{name}` is no FAMILY/NAME, as toys/plain is")));
    };
    word(family)?;
    word(own)?;
    Ok((family, own))
}

/// A name that a folder, a package and a table can have.
fn word(name: &str) -> Result<(), Failure> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    match name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(fits) {
        true => Ok(()),
        false => Err(Failure::input(format!(
            "`{name}` must begin with a small letter and have small letters, digits, `_` and `-` \
             alone"
        ))),
    }
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn not_there(path: &Path) -> io::Result<()> {
    match path.exists() {
        true => Err(io::Error::other("is there already; choose another name")),
        false => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), &target)?),
        }
    }
    Ok(())
}

/// The value of the file's own `name`, in place of the old one.
fn rename(path: &Path, old: &str, new: &str) -> io::Result<()> {
    let text = fs::read_to_string(path)?;
    let [old, new] = [old, new].map(|name| format!("name = {name}"));
    if !text.contains(&old) {
        return Err(io::Error::other(format!("{} has no line `{old}`", path.display())));
    }
    fs::write(path, text.replacen(&old, &new, 1))
}
