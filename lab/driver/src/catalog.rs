//! Which variants there are, and where their programs lie.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use lab_plan::{Entrant, Manifest};
use lab_process::{Limits, Run};
use lab_protocol::{Identity, PROTOCOL};
use lab_record::{VariantEntry, sha256_hex};

use crate::{DriverError, foreign, words::harmless};

/// A copy may be read and run, and not written.
const PROGRAM_MODE: u32 = 0o555;
/// An identity is a line.
const DESCRIBE: Limits = Limits { time: Duration::from_secs(10), output_bytes: 64 << 10 };

/// The families below `root`: folders that hold a folder with a `variant.toml`, by name.
///
/// # Errors
/// Where `root` cannot be read.
pub fn families(root: &Path) -> Result<Vec<String>, DriverError> {
    let entries = fs::read_dir(root).map_err(|error| {
        let place = root.display();
        DriverError::Input(format!("cannot read {place}: {error}; correct --root"))
    })?;
    let has_variant = |folder: &Path| {
        let below = fs::read_dir(folder).into_iter().flatten().flatten();
        below.into_iter().any(|entry| entry.path().join("variant.toml").is_file())
    };
    let folders = entries.flatten().filter(|entry| has_variant(&entry.path()));
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// The manifests of one family.
#[derive(Debug)]
pub struct Catalog {
    root: PathBuf,
    bin_dir: PathBuf,
    /// A manifest per folder that holds a `variant.toml`.
    pub manifests: Vec<Manifest>,
}

/// An entrant's program, found, hashed and identified.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// What goes into `run.json`.
    pub entry: VariantEntry,
    /// The file that reads it, where it is no program by itself.
    pub reader: Option<PathBuf>,
    /// Servers that it can keep up over runs.
    pub keep_up: Vec<String>,
    /// Why this machine has no such program; then path and hash are empty.
    pub absent: Option<String>,
}

impl Catalog {
    /// Reads the manifests of `family` under `root`. Programs are looked for in the variant's own
    /// folder (Bazel's runfiles) and then in one of `bin_dirs` (Cargo's target folders): the first
    /// that has a program of the family, else the last.
    ///
    /// # Errors
    /// Names the folder or the manifest's key.
    pub fn read(root: &Path, family: &str, bin_dirs: &[PathBuf]) -> Result<Self, DriverError> {
        let folder = root.join(family);
        let entries = fs::read_dir(&folder).map_err(|error| {
            let place = folder.display();
            DriverError::Input(format!(
                "cannot read the family folder {place}: {error}; \
                 run in a checkout or give --root"
            ))
        })?;
        let mut manifests = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let file = entry.path().join("variant.toml");
            // A kit has no manifest and is no variant.
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let shown = format!("{family}/{name}/variant.toml");
            let manifest = Manifest::parse(&shown, &text, family, &name)
                .map_err(|error| DriverError::Input(error.to_string()))?;
            manifests.push(manifest);
        }
        manifests.sort_by(|a, b| a.name.cmp(&b.name));
        let bin_dir = folder_of_programs(family, &manifests, bin_dirs);
        Ok(Self { root: root.to_owned(), bin_dir, manifests })
    }

    /// The program of each entrant.
    ///
    /// # Errors
    /// Names every program that was not built, or says what is wrong with the first one.
    pub fn programs(
        &self,
        entrants: &[Entrant],
        copies: &Path,
    ) -> Result<Vec<Program>, DriverError> {
        let missing: BTreeSet<String> = entrants
            .iter()
            .filter(|entrant| self.is_missing(&entrant.manifest))
            .map(|entrant| entrant.manifest.program())
            .collect();
        if !missing.is_empty() {
            return Err(self.not_built(&missing.into_iter().collect::<Vec<_>>()));
        }
        entrants.iter().map(|entrant| self.program(entrant, copies)).collect()
    }

    /// Finds an entrant's program, copies it into `copies` and asks the copy `--describe`. The copy
    /// alone is hashed and run, so that a build during a sweep changes nothing; a twin's copy
    /// differs from its original's in the name only. A program that needs what this machine lacks,
    /// to be built or to be read, is absent.
    ///
    /// # Errors
    /// Says which file is missing, or in what the program and its manifest disagree.
    fn program(&self, entrant: &Entrant, copies: &Path) -> Result<Program, DriverError> {
        let compiler = foreign::build(&self.folder(&entrant.manifest));
        let interpreter = foreign::interpreter(&entrant.manifest);
        match compiler.and_then(|compiler| Ok(interpreter?.or(compiler))) {
            Ok(made_by) => self.copied(entrant, copies, made_by),
            Err(why) => Ok(absent(entrant, why)),
        }
    }

    fn copied(
        &self,
        entrant: &Entrant,
        copies: &Path,
        interpreter: Option<String>,
    ) -> Result<Program, DriverError> {
        let manifest = &entrant.manifest;
        let built = self.locate(manifest)?;
        let path = copies.join(format!("{}-{}", manifest.family, entrant.name));
        fs::copy(&built, &path).map_err(|error| {
            DriverError::Lab(format!("cannot copy the program of {}: {error}", entrant.name))
        })?;
        fs::set_permissions(&path, fs::Permissions::from_mode(PROGRAM_MODE)).map_err(|error| {
            DriverError::Lab(format!("cannot protect the copy of {}: {error}", entrant.name))
        })?;
        let bytes = fs::read(&path).map_err(|error| {
            DriverError::Input(format!("cannot read the program of {}: {error}", entrant.name))
        })?;
        let identity = describe(&path, &entrant.name)?;
        agree(manifest, &identity)?;
        let entry = VariantEntry {
            variant: entrant.name.clone(),
            family: manifest.family.clone(),
            twin_of: entrant.twin_of.clone(),
            measures: identity.measures,
            version: identity.version,
            features: identity.features,
            interpreter,
            tags: manifest.tags.clone(),
            binary_sha256: sha256_hex(&bytes),
            binary_bytes: bytes.len() as u64,
        };
        let reader = manifest.interpreter.as_deref().and_then(foreign::file);
        Ok(Program { path, entry, reader, keep_up: manifest.keep_up.clone(), absent: None })
    }

    /// The folder of the program that does a family's steps outside its variants; empty where it
    /// was not built, so that only the runs that need it fail, and say so.
    pub(crate) fn worker_folder(&self, family: &str) -> PathBuf {
        let own = self.root.join(family).join("worker");
        let places = [own, self.bin_dir.clone()];
        let has_it = |folder: &&PathBuf| folder.join(worker(family)).is_file();
        let found = places.iter().find(has_it).and_then(|folder| folder.canonicalize().ok());
        found.unwrap_or_default()
    }

    /// That program and the library that it has for other languages, as far as they were built.
    pub(crate) fn worker_files(&self, family: &str) -> Vec<PathBuf> {
        let folder = self.worker_folder(family);
        let names = [worker(family), format!("lib{family}_worker.so")];
        names.into_iter().map(|name| folder.join(name)).filter(|file| file.is_file()).collect()
    }

    /// What built the programs of these entrants: those in a variant's own folder are Bazel's,
    /// those in `bin_dir` are Cargo's. Texts and what a script of their own builds are neither.
    pub(crate) fn built_by(&self, entrants: &[Entrant]) -> String {
        let builder = |entrant: &Entrant| {
            let manifest = &entrant.manifest;
            let folder = self.folder(manifest);
            if manifest.interpreter.is_some() || foreign::has_build(&folder) {
                return None;
            }
            let is_own = self.locate(manifest).ok()?.starts_with(folder);
            Some(if is_own { "Bazel" } else { "Cargo" })
        };
        let builders: BTreeSet<&str> = entrants.iter().filter_map(builder).collect();
        builders.into_iter().collect::<Vec<_>>().join(" and ")
    }

    /// Programs that were not built, but for those that are built when they are needed.
    pub fn missing(&self) -> Vec<String> {
        let missing = self.manifests.iter().filter(|manifest| self.is_missing(manifest));
        missing.map(Manifest::program).collect()
    }

    fn is_missing(&self, manifest: &Manifest) -> bool {
        self.locate(manifest).is_err() && !foreign::has_build(&self.folder(manifest))
    }

    /// Programs that nothing on this machine can read, each with its reason.
    pub fn unreadable(&self) -> Vec<String> {
        let why = |manifest: &Manifest| {
            let why = foreign::interpreter(manifest).err()?;
            Some(format!("{} is left out: {why}", manifest.program()))
        };
        self.manifests.iter().filter_map(why).collect()
    }

    fn folder(&self, manifest: &Manifest) -> PathBuf {
        self.root.join(&manifest.family).join(&manifest.name)
    }

    fn locate(&self, manifest: &Manifest) -> Result<PathBuf, DriverError> {
        let program = manifest.program();
        let own = self.folder(manifest).join(&program);
        let built = self.bin_dir.join(&program);
        let found = [own, built].into_iter().find(|path| path.is_file());
        found.ok_or_else(|| self.not_built(&[program]))
    }

    fn not_built(&self, programs: &[String]) -> DriverError {
        let place = self.bin_dir.display();
        let (said, them) = match programs {
            [one] => (format!("program {one} is neither in its own folder"), "it"),
            all => {
                (format!("programs {} are neither in their own folders", all.join(", ")), "them")
            }
        };
        DriverError::Input(format!(
            "the {said} nor in {place}; build {them} (cargo build --release --workspace), give \
             --bin-dir, or take `bazel run //lab:run -- FILE`, which builds first"
        ))
    }
}

/// The first of these folders that has a program of the family, else the last: it is the one to
/// build into. One folder serves all, so that no sweep compares the programs of two builds.
fn folder_of_programs(family: &str, manifests: &[Manifest], bin_dirs: &[PathBuf]) -> PathBuf {
    let variants = manifests.iter().map(Manifest::program);
    let programs: Vec<String> = variants.chain([worker(family)]).collect();
    let has_one = |folder: &&PathBuf| programs.iter().any(|name| folder.join(name).is_file());
    bin_dirs.iter().find(has_one).or(bin_dirs.last()).cloned().unwrap_or_default()
}

/// The name of the program that does a family's steps outside its variants.
fn worker(family: &str) -> String {
    format!("{family}-worker")
}

/// What `run.json` says of a program that this machine does not have: its manifest.
fn absent(entrant: &Entrant, why: String) -> Program {
    let Manifest { family, tags, measures, version, features, .. } = entrant.manifest.clone();
    let entry = VariantEntry {
        variant: entrant.name.clone(),
        family,
        twin_of: entrant.twin_of.clone(),
        measures,
        version,
        features,
        interpreter: None,
        tags,
        binary_sha256: String::new(),
        binary_bytes: 0,
    };
    let (path, keep_up, absent) = (PathBuf::new(), Vec::new(), Some(why));
    Program { path, entry, reader: None, keep_up, absent }
}

fn describe(path: &Path, name: &str) -> Result<Identity, DriverError> {
    let refuse =
        |what: String| DriverError::Input(format!("{name} --describe: {}", harmless(&what)));
    let asked = Run::of(path, ["--describe"]).ask(DESCRIBE);
    let output = asked.map_err(|why| refuse(why.to_string()))?;
    if !output.status.success() {
        return Err(refuse(format!("ended with {}", output.status)));
    }
    let identity: Identity = serde_json::from_slice(&output.stdout)
        .map_err(|error| refuse(format!("did not print its identity: {error}")))?;
    // The rest has to be what the manifest says.
    if let Some(feature) = identity.features.iter().find(|name| harmless(name) != **name) {
        return Err(refuse(format!("names a feature with letters that do not show: {feature}")));
    }
    match identity.protocol {
        PROTOCOL => Ok(identity),
        other => Err(refuse(format!("speaks protocol {other}, this lab speaks {PROTOCOL}"))),
    }
}

fn agree(manifest: &Manifest, identity: &Identity) -> Result<(), DriverError> {
    let claims = [
        ("family", &manifest.family, &identity.family),
        ("name", &manifest.name, &identity.variant),
        ("measures", &manifest.measures, &identity.measures),
        ("version", &manifest.version, &identity.version),
    ];
    for (key, written, said) in claims {
        if written != said {
            let place = format!("{}/{}/variant.toml", manifest.family, manifest.name);
            return Err(DriverError::Input(format!(
                "{place}: key `{key}` is `{written}`, but the program says `{}`",
                harmless(said)
            )));
        }
    }
    Ok(())
}
