//! The dashboard names what a watch exposes, and nothing else.

use std::{collections::BTreeSet, fs, path::Path};

use lab_watch::{
    ALL, Api, Call, Ending, Exposition, Moment, Origin, Round, Seen, Watch, published, rules,
};
use serde_json::Value;

const SERVER: &str = "http://127.0.0.1:11434";

/// The text of a watch that has seen and said everything there is.
fn exposed() -> String {
    let text = "[[rule]]\nmetric = \"ttft_p50_s\"\nover = 1\nwindow_s = 60\n";
    let mut rules = rules("r.toml", text).unwrap();
    rules.extend(published());
    let shown =
        Exposition::new(&rules, Origin::Servers { model: "m".to_owned(), api: Api::Ollama });
    let mut watch = Watch::new(rules);
    let call = Call {
        outcome: Ending::Answered,
        reason: None,
        first_token_s: Some(3.5),
        first_answer_s: Some(3.5),
        thought: false,
        streaming_s: 0.02,
        tokens: 2,
        prompt_tokens: Some(9),
        cached_tokens: Some(4),
        gaps_s: vec![0.02],
    };
    let round = Round { together_s: vec![1.0; 2], alone_s: None, wall_s: 1.0, late: true };
    let seen = vec![(ALL.to_owned(), Seen::Round(round)), (SERVER.to_owned(), Seen::Call(call))];
    let moment = Moment { at_ns: 1, seen };
    let events = watch.take(&moment);
    shown.take(&moment, &watch, &events);
    shown.text(&watch)
}

/// The names of the samples in a text.
fn names(text: &str) -> BTreeSet<String> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.filter_map(|line| Some(line.split(['{', ' ']).next()?.to_owned())).collect()
}

#[test]
fn ours_and_the_conventional_names_are_exposed() {
    let text = exposed();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let names = names(&text);
    for name in [
        "lab_watch_rounds_total",
        "lab_watch_calls_total",
        "lab_watch_tokens_total",
        "lab_watch_prompt_tokens_total",
        "lab_watch_prompt_cached_tokens_total",
        "lab_watch_first_answer_seconds_count",
        "lab_watch_value",
        "lab_watch_threshold",
        "lab_watch_alert",
        "lab_watch_alerts_fired_total",
        "gen_ai_client_operation_time_to_first_chunk_seconds_bucket",
        "gen_ai_client_operation_time_per_output_chunk_seconds_sum",
        "gen_ai_server_time_to_first_chunk_seconds_count",
        "gen_ai_server_time_per_output_chunk_seconds_bucket",
    ] {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
    let alert = "lab_watch_alert{rule=\"ttft_p50_s_over_1\",metric=\"ttft_p50_s\",\
                 severity=\"alert\",subject=\"http://127.0.0.1:11434\"} 2\n";
    assert!(text.contains(alert), "{text}");
    let senseless = "metric=\"error_rate\",severity=\"alert\",subject=\"all\"";
    assert!(!text.contains(senseless), "requests have a server each: {text}");
    let labels = "gen_ai_operation_name=\"text_completion\",gen_ai_provider_name=\"ollama\",\
                  gen_ai_request_model=\"m\",server_address=\"127.0.0.1\",server_port=\"11434\"";
    let name = "gen_ai_server_time_to_first_chunk_seconds";
    assert!(text.contains(&format!("{name}_count{{{labels}}} 1\n")), "{text}");
    assert!(text.contains(&format!("{name}_bucket{{le=\"3.0\",{labels}}} 0\n")), "{text}");
}

/// All expressions below a value.
fn expressions<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| expressions(value, found)),
        Value::Object(values) => {
            found.extend(values.get("expr").and_then(Value::as_str));
            values.values().for_each(|value| expressions(value, found));
        }
        _ => {}
    }
}

#[test]
fn the_dashboard_names_only_what_is_exposed() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/watch/dashboard.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let mut found = Vec::new();
    expressions(&dashboard, &mut found);
    assert!(found.len() >= 10, "{found:?}");
    let exposed = names(&exposed());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut named = BTreeSet::new();
    for expression in found {
        let words = expression.split(|c| !is_part(c));
        let ours: Vec<&str> = words
            .filter(|word| word.starts_with("lab_watch_") || word.starts_with("gen_ai_"))
            // Labels of the conventions begin alike.
            .filter(|word| !["operation_name", "request_model"].iter().any(|l| word.ends_with(l)))
            .collect();
        assert!(!ours.is_empty(), "{expression} asks for nothing of ours");
        for name in ours {
            assert!(exposed.contains(name), "{expression} names {name}, which is not exposed");
            named.insert(name.to_owned());
        }
    }
    assert!(named.len() >= 6, "{named:?}");
}
