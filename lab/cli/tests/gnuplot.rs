//! What gnuplot is given, and what it may do: our scripts ask no other program, and one that would
//! is held to its folder.

use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

use lab_driver::plots::Scripts;
use lab_process::Hold;
use proof_kit::Attack;

/// The script of `lab compare --plot`.
const COMPARE: &str = include_str!("../../compare/src/run/plot.gp");
/// Commands and functions that start something, read a script, or write beside the picture.
const REFUSED: [&str; 17] = [
    "system", "shell", "eval", "evaluate", "call", "import", "save", "update", "print", "cd",
    "table", "fit", "pause", "read", "reread", "loadpath", "function",
];

/// A line as pieces of code and of strings; a comment ends it.
fn pieces(line: &str) -> (Vec<String>, Vec<String>) {
    let (mut code, mut strings) = (vec![String::new()], Vec::new());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '#' => break,
            '"' | '\'' => {
                let mut string = String::new();
                while let Some(inner) = letters.next().filter(|inner| *inner != letter) {
                    string.push(inner);
                    // What is escaped ends no string.
                    if inner == '\\' && letter == '"' {
                        string.extend(letters.next());
                    }
                }
                strings.push(string);
                code.push(String::new());
            }
            _ => code.last_mut().unwrap().push(letter),
        }
    }
    (code, strings)
}

/// Why a script is not ours: what in it could read a name as anything else.
fn complaints(name: &str, script: &str) -> Vec<String> {
    let style = format!("load ARG0[1:strstrt(ARG0, \"{name}\") - 1].\"style.gp\"");
    let mut found = Vec::new();
    for line in script.lines().filter(|line| *line != style) {
        let (code, strings) = pieces(line);
        let code = code.join(" ");
        let words = code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let is_refused = |word: &&str| *word == "load" || REFUSED.contains(word);
        found.extend(words.filter(is_refused).map(|word| format!("{name}: {word}: {line}")));
        let is_piped = strings.iter().any(|text| text.trim_start().starts_with(['<', '|', '!']));
        let is_run = code.contains('`') || strings.iter().any(|text| text.contains('`'));
        let is_macro = code.contains('@') || code.trim_start().starts_with('!');
        if is_piped || is_run || is_macro {
            found.push(format!("{name}: {line}"));
        }
    }
    found
}

#[test]
fn no_script_asks_another_program() {
    let mut scripts = lab_families::PLOTS.to_vec();
    scripts.push(("plot.gp", COMPARE));
    let found: Vec<String> =
        scripts.iter().flat_map(|(name, text)| complaints(name, text)).collect();
    assert!(found.is_empty(), "{found:#?}");
    for bad in [
        "x = system(\"date\")",
        "system \"date\"",
        "!date",
        "  ! date",
        "x = \"`date`\"",
        "plot \"< date\"",
        "file = ' <date'",
        "set output \"| date\"",
        "load \"other.gp\"",
        "load ARG0[1:strstrt(ARG0, \"b.gp\") - 1].\"style.gp\"",
        "call 'style.gp'",
        "eval(name)",
        "set print \"/tmp/a\"",
        "@name",
        "plot x; shell",
    ] {
        assert_eq!(complaints("a.gp", bad).len(), 1, "{bad}");
    }
    for good in ["# system, @, ! and < date", "if (a != b && !c) { x = 1 < 2 }", "t = \"load <1\""]
    {
        assert!(complaints("a.gp", good).is_empty(), "{good}");
    }
}

/// Whether gnuplot is here and something holds it; a test without says so, on the stream that the
/// harness keeps.
fn is_held(test: &str) -> bool {
    let found = Command::new("gnuplot").arg("--version").stdout(Stdio::null()).status().is_ok();
    let why = match (found, Hold::here()) {
        (false, _) => "gnuplot is not installed".to_owned(),
        (true, Hold::Nothing) => Hold::Nothing.to_string(),
        (true, _) => return true,
    };
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
    false
}

/// Runs a script of these lines as if it were ours.
fn run(lines: &str) -> Result<Vec<u8>, String> {
    let scripts = Scripts::unpack(&[("hostile.gp", lines)]).unwrap();
    scripts.draw("hostile.gp", &BTreeMap::new(), &[], "a.svg")
}

/// Scripts that would write outside their folder; `OUT` is a folder of somebody else.
const WRITING: [&str; 24] = [
    "system(\"touch OUT/made\")",
    "x = system(\"touch OUT/made\")",
    "system \"rm OUT/theirs\"",
    "!touch OUT/made",
    "x = \"`touch OUT/made`\"",
    "x = `touch OUT/made`",
    "plot \"< touch OUT/made\"",
    "stats \"< touch OUT/made\"",
    "load \"< touch OUT/made\"",
    "eval \"system('touch OUT/made')\"",
    "c = \"system('touch OUT/made')\"\n@c",
    "set output \"| tee OUT/made\"\nset term svg\nplot x\nset output",
    "set output \"OUT/made\"\nset term svg\nplot x\nset output",
    "set output \"OUT/theirs\"\nset term svg\nplot x\nset output",
    "set output \"tables/../../../OUT/made\"\nset term svg\nplot x\nset output",
    "set print \"OUT/made\"\nprint 1\nset print",
    "set print \"OUT/theirs\" append\nprint 1\nset print",
    "set print \"| cat >OUT/made\"\nprint 1\nset print",
    "save \"OUT/made\"",
    "save \"| cat >OUT/made\"",
    "set table \"OUT/made\"\nplot x\nunset table",
    "set fit logfile \"OUT/made\"\nf(x) = a * x\nfit f(x) '+' using 1:(2 * $1) via a",
    "cd \"OUT\"\nset print \"made\"\nprint 1\nset print",
    "set print \"picture\"\nprint \"touch OUT/made\"\nset print\nsystem(\"sh picture\")",
];

#[test]
fn a_script_that_would_write_elsewhere_writes_nothing() {
    if !is_held("a_script_that_would_write_elsewhere_writes_nothing") {
        return;
    }
    let world = tempfile::tempdir().unwrap();
    let theirs = world.path().join("theirs");
    fs::write(&theirs, "theirs").unwrap();
    for lines in WRITING {
        let _attack = Attack::on("pictures", &format!("a script of its own: {lines}"));
        let _ = run(&lines.replace("OUT", world.path().to_str().unwrap()));
        let left: Vec<_> = fs::read_dir(world.path()).unwrap().map(Result::unwrap).collect();
        assert_eq!(left.len(), 1, "{lines}: {left:?}");
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs", "{lines}");
    }
    // The same commands write where they may.
    let good = "set output \"pictures/a.svg\"\nset term svg\nplot x\nset output\n\
                set print \"b\"\nprint 1\nset print";
    assert!(run(good).unwrap().ends_with(b"</svg>\n\n"), "{:?}", run(good));
}

#[test]
fn a_script_that_would_call_somebody_reaches_nobody() {
    if !is_held("a_script_that_would_call_somebody_reaches_nobody") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for lines in [
        "system(\"bash -c 'exec 3<>/dev/tcp/127.0.0.1/PORT'\")",
        "plot \"< bash -c 'exec 3<>/dev/tcp/127.0.0.1/PORT'\"",
        "set output \"| bash -c 'exec 3<>/dev/tcp/127.0.0.1/PORT'\"\nset term svg\nplot x",
        "plot \"/dev/tcp/127.0.0.1/PORT\"",
        "load \"http://127.0.0.1:PORT/a.gp\"",
    ] {
        let _attack = Attack::on("pictures", &format!("a script that calls: {lines}"));
        let _ = run(&lines.replace("PORT", &port));
        assert!(listener.accept().is_err(), "{lines}");
    }
}

/// What stands in a home folder has no say in pictures.
#[test]
fn a_script_of_the_home_folder_is_not_run() {
    if !is_held("a_script_of_the_home_folder_is_not_run") {
        return;
    }
    let (home, record) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports/offload-wake");
    for entry in fs::read_dir(committed).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            fs::copy(entry.path(), record.path().join(entry.file_name())).unwrap();
        }
    }
    let picture = record.path().join("stalls.svg");
    let before = fs::read(&picture).unwrap();
    let _attack = Attack::on("pictures", "a script in the home folder");
    fs::write(home.path().join(".gnuplot"), "set title 'CHANGED'\nset label 'CHANGED' at 0, 0\n")
        .unwrap();
    let mut lab = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
    lab.arg("report").arg(record.path()).env("HOME", home.path()).current_dir(home.path());
    let ended = lab.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let after = String::from_utf8(fs::read(&picture).unwrap()).unwrap();
    assert!(!before.is_empty() && !after.contains("CHANGED"), "{after}");
}

#[test]
fn no_name_of_a_command_is_run_by_a_picture() {
    if !is_held("no_name_of_a_command_is_run_by_a_picture") {
        return;
    }
    let names = [
        "`touch made`",
        "\"; system(\"touch made\"); \"",
        "'; system('touch made'); '",
        "x\\\"; system(\"touch made\")",
        "$(touch made)",
        "< touch made",
        "| touch made",
        "!touch made",
        "@ARG1 @name {/=90 a}",
        "a\tb\nsystem(\"touch made\")",
        "#\n!touch made",
    ];
    for name in names {
        let _attack = Attack::on("pictures", &format!("a command named: {name}"));
        let dir = tempfile::tempdir().unwrap();
        let mut lab = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
        lab.args(["compare", "true", "true", "-N", "--runs", "40", "-n", "old", "-n", name]);
        let ended = lab.args(["--plot", "a.svg"]).current_dir(dir.path()).output().unwrap();
        let picture = fs::read_to_string(dir.path().join("a.svg")).unwrap_or_default();
        assert!(picture.contains("against old"), "{name}: {ended:?}");
        let files = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(files.collect::<Vec<_>>(), ["a.svg"], "{name}");
    }
}
