//! What variants say that is no answer, or is meant for a terminal: it is named, and shown as text.

use std::fs;

use crate::world::{World, of};
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Status};
use proof_kit::Attack;

/// What a variant does, and what is said of it. `$RUN` is the name of its run.
const SAYINGS: [(&str, &str, &str); 16] = [
    (
        "colours in the reason of a failure",
        r#"say failed '\u001b[31mred\u001b[2J'; exit 1"#,
        r"\u{1b}[31mred\u{1b}[2J",
    ),
    (
        "a second line in a reason",
        r#"say failed 'bad\nlab: all is well\r'; exit 1"#,
        r"bad\nlab: all is well\r",
    ),
    ("letters turned around", r#"say failed 'x\u202edab\u0007'; exit 1"#, r"x\u{202e}dab\u{7}"),
    ("colours in a refusal", r#"say unsupported '\u009b2Jno'"#, r"\u{9b}2Jno"),
    ("a title in its last words", r"printf '\033]0;x\007gone\n' >&2; exit 3", r"\u{1b}]0;x\u{7}"),
    ("a title in the place of an answer", r"printf '\033]0;x\007\n'", r"`\u{1b}]0;x\u{7}`"),
    ("a title in a key", r#"printf '{"\\u001b]0;x":1}\n' | tr x y"#, r"unknown field `\u{1b}]0;y`"),
    (
        "a title in the name of a counter",
        r#""$FLOOR" | sed 's/"counters":{/&"\\u001b]0;x":1,/'"#,
        r"names a number `\u{1b}]0;x`",
    ),
    (
        "another name of its run",
        r#""$FLOOR" | sed 's/"run":"[^"]*"/"run":"\\u001bc"/'"#,
        r"answered for run `\u{1b}c`",
    ),
    (
        "one counter twice",
        r#""$FLOOR" | sed 's/"counters":{/&"wall_ns":1,/'"#,
        "`wall_ns` stands there twice",
    ),
    (
        "one column twice",
        r#""$FLOOR" | sed 's/"samples":{/&"call_tokens":[1],/'"#,
        "`call_tokens` stands there twice",
    ),
    ("two statuses", r#""$FLOOR" | sed 's/"status":"ok"/&,&/'"#, "duplicate field `status`"),
    ("bytes that are no text", r"printf '\377\376\n'", "printed bytes that are no UTF-8"),
    (
        "300 MB of errors",
        "head -c 300000000 /dev/zero >&2\nprintf '%s\\n' \"$line\" | \"$FLOOR\"",
        "printed more than 268435456 bytes to standard error",
    ),
    ("300 MB of output", "head -c 300000000 /dev/zero", "printed more than 268435456 bytes and"),
    (
        "a reason of a megabyte",
        "say failed \"$(head -c 1000000 /dev/zero | tr '\\0' x)\"; exit 1",
        "xxxxxxxx",
    ),
];

#[test]
fn nothing_that_a_variant_says_reaches_a_terminal_or_a_record_as_it_is() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    for (number, (_, script, _)) in SAYINGS.iter().enumerate() {
        let say = r#"read -r line; run=${line#*\"run\":\"}; RUN=${run%%\"*}
say() { printf '%s\n' "{\"protocol\":1,\"run\":\"$RUN\",\"status\":\"$1\",\"reason\":\"$2\"}"; }
"#;
        let script = match script.contains("\"$FLOOR\" |") {
            true => (*script).to_owned(),
            false => format!("{say}{script}"),
        };
        world.variant(&format!("v{number}"), &script);
    }
    world.experiment("paced", 1, "");
    let ended = world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert();
    let told = String::from_utf8(ended.code(1).get_output().stderr.clone()).unwrap();
    let stored = fs::read_to_string(world.path("r/runs.jsonl")).unwrap();
    let results = Results::load(&world.path("r")).unwrap();
    assert!(of(&results, "steady").iter().all(|run| run.status == Status::Ok));
    for (number, (name, _, said)) in SAYINGS.iter().enumerate() {
        let _attack = Attack::on("answers", name);
        let runs = of(&results, &format!("v{number}"));
        let reason = runs[0].reason.clone().unwrap_or_default();
        assert_ne!(runs[0].status, Status::Ok, "{name}");
        assert_eq!(runs.len(), 1, "{name}: it is not timed");
        assert!(reason.contains(said), "{name}: {reason}");
        assert!(reason.chars().count() <= 2_001, "{name}: {} letters", reason.chars().count());
        for text in [&reason, &told, &stored] {
            let moves = |line: &&str| line.chars().any(|one| one.is_control() || one == '\u{202e}');
            assert_eq!(text.lines().find(moves), None, "{name}");
        }
    }
}
