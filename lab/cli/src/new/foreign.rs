//! Variants that are no packages of Cargo: copied under another name, or begun in a language.
//!
//! What begins one is a program that speaks the protocol, of a language, and the work of a family
//! in it, which lies with the family: `FAMILY/languages/LANGUAGE`, and beside it `tags`, or
//! `LANGUAGE.like` with the name of a variant that is copied instead.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use clap::ValueEnum;

use super::quoted;

/// In which a variant can be begun.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Language {
    /// Read by python3, with nothing beside its standard library
    Python,
    /// Built by Go, with nothing beside its standard library
    Go,
    /// Read by Node.js, with nothing beside its own modules
    Node,
    /// Built by the C compiler, with nothing beside C's library
    C,
}

/// What every program of a language has, whatever its family.
struct Begun {
    /// Texts by name, of which `@PROGRAM@` is the variant's own.
    files: &'static [(&'static str, &'static str)],
    /// What reads the program, where that is a text.
    interpreter: Option<&'static str>,
    /// Where it asks for a hash (`@HASH@`).
    hash: &'static str,
}

const C: Begun = Begun {
    files: &[
        ("build", include_str!("languages/c.build")),
        ("json.c", include_str!("languages/c.json")),
        ("main.c", include_str!("languages/c.program")),
        ("variant.h", include_str!("languages/c.header")),
        ("work.c", "@WORK@"),
    ],
    interpreter: None,
    hash: include_str!("languages/c.hash"),
};
const GO: Begun = Begun {
    files: &[
        ("build", include_str!("languages/go.build")),
        ("go.mod", "module @FAMILY@-@NAME@\n\ngo 1.22\n"),
        ("main.go", include_str!("languages/go.program")),
        ("work.go", "@WORK@"),
    ],
    interpreter: None,
    hash: include_str!("languages/go.hash"),
};
const NODE: Begun = Begun {
    files: &[("@PROGRAM@", include_str!("languages/node.program"))],
    interpreter: Some("node"),
    hash: include_str!("languages/node.hash"),
};
const PYTHON: Begun = Begun {
    files: &[("@PROGRAM@", include_str!("languages/python.program"))],
    interpreter: Some("python3"),
    hash: include_str!("languages/python.hash"),
};
/// The work of a family that has none in this language.
const UNWRITTEN: &str = include_str!("languages/python.unwritten");

impl Language {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Go => "go",
            Self::Node => "node",
            Self::C => "c",
        }
    }

    fn begun(self) -> &'static Begun {
        match self {
            Self::Python => &PYTHON,
            Self::Go => &GO,
            Self::Node => &NODE,
            Self::C => &C,
        }
    }

    /// The file in which the author goes on.
    pub(super) fn source(self, family: &str, name: &str) -> String {
        match self {
            Self::Go => "work.go".to_owned(),
            Self::C => "work.c".to_owned(),
            _ => format!("{family}-{name}"),
        }
    }
}

/// Names a copied folder anew: the program's file, and who its files say that they are.
pub(super) fn rename(folder: &Path, family: &str, old: &str, new: &str) -> io::Result<()> {
    let programs = [old, new].map(|name| format!("{family}-{name}"));
    name_anew(folder, &|text| {
        text.replace(&programs[0], &programs[1]).replacen(&quoted(old), &quoted(new), 1)
    })?;
    let program = folder.join(&programs[0]);
    if program.exists() { fs::rename(program, folder.join(&programs[1])) } else { Ok(()) }
}

fn name_anew(folder: &Path, named: &dyn Fn(&str) -> String) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            name_anew(&path, named)?;
        // What is no text names nobody, and the manifest has its name already.
        } else if entry.file_name() != "variant.toml"
            && let Ok(text) = fs::read_to_string(&path)
        {
            fs::write(&path, named(&text))?;
        }
    }
    Ok(())
}

/// The variant of the family that is copied where one is asked for in this language.
pub(super) fn like(root: &Path, family: &str, language: Language) -> Option<String> {
    let file = format!("{family}/languages/{}.like", language.name());
    Some(fs::read_to_string(root.join(file)).ok()?.trim().to_owned())
}

/// Writes a folder whose program speaks the protocol and does the family's work as simply as it can
/// be done; where nobody has written that, it leaves the work to its author.
pub(super) fn begin(
    root: &Path,
    folder: &Path,
    language: Language,
    (family, name): (&str, &str),
) -> io::Result<()> {
    let languages = root.join(family).join("languages");
    let work = fs::read_to_string(languages.join(language.name()));
    let work = match (work, language) {
        (Ok(work), _) => work,
        (Err(_), Language::Python) => UNWRITTEN.to_owned(),
        (Err(_), _) => return Err(nobody_wrote(&languages, family, language)),
    };
    let begun = language.begun();
    let tags = fs::read_to_string(languages.join("tags"));
    let tags = tags.unwrap_or_else(|_| "[]".to_owned());
    fs::create_dir(folder)?;
    let program = format!("{family}-{name}");
    for (file, text) in begun.files {
        let text = text.replace("@WORK@", &work).replace("@HASH@\n", begun.hash);
        let text = text.replace("@FAMILY@", family).replace("@NAME@", name);
        let path = folder.join(file.replace("@PROGRAM@", &program));
        fs::write(&path, text)?;
        if ["build", "@PROGRAM@"].contains(file) {
            fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        }
    }
    if !begun.files.iter().any(|(file, _)| *file == "@PROGRAM@") {
        fs::write(folder.join(".gitignore"), format!("/{program}\n/{program}.*\n"))?;
    }
    fs::write(folder.join("variant.toml"), manifest(begun, language, (family, name), tags.trim()))?;
    fs::write(folder.join("BUILD.bazel"), bazel(begun, family))
}

fn nobody_wrote(languages: &Path, family: &str, language: Language) -> io::Error {
    let has = |one: &&Language| {
        let of = |end: &str| languages.join(format!("{}{end}", one.name())).is_file();
        **one == Language::Python || of("") || of(".like")
    };
    let there: Vec<_> = Language::value_variants().iter().filter(has).map(|l| l.name()).collect();
    let (there, language) = (there.join(", "), language.name());
    io::Error::other(format!("nobody has written {family} in {language} yet; there are: {there}"))
}

fn manifest(begun: &Begun, language: Language, (family, name): (&str, &str), tags: &str) -> String {
    let language = language.name();
    let interpreter = begun.interpreter.map(|reader| format!("interpreter = \"{reader}\"\n"));
    format!(
        "name = \"{name}\"\nfamily = \"{family}\"\ntags = {tags}\nsentence = \"A plain loop in \
         {language}.\"\nmeasures = \"{language}\"\nversion = \"installed\"\nfeatures = []\n{}",
        interpreter.unwrap_or_default()
    )
}

fn bazel(begun: &Begun, family: &str) -> String {
    let load = "load(\"//tools/bazel:lab.bzl\", \"script\")\n\n";
    if begun.interpreter.is_some() {
        return format!("{load}script(family = \"{family}\")\n");
    }
    let files: String =
        begun.files.iter().map(|(file, _)| format!("        \"{file}\",\n")).collect();
    format!("{load}script(\n    family = \"{family}\",\n    files = [\n{files}    ],\n)\n")
}
