//! What of a tree somebody said, a tool was given or printed, or a model thought.

use super::Tree;
use super::tolerant;

/// A message as the program shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Message {
    pub(crate) role: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) timestamp: Option<String>,
    /// Kinds (`text`, `tools`, `thinking`) and texts.
    pub(crate) texts: Vec<(&'static str, String)>,
}

/// Depth and value of what a draft has of a field.
type Field = Option<(usize, String)>;

#[derive(Default)]
struct Draft {
    kind: Field,
    inner_kind: Field,
    role: Field,
    session: Field,
    cwd: Field,
    time: Field,
    /// Of what kind, whether it may be JSON itself and all its keys count, and the text.
    texts: Vec<Piece>,
}

#[derive(Clone)]
struct Piece {
    kind: &'static str,
    inner: Option<bool>,
    text: String,
}

/// The messages of a record.
pub(super) fn messages(record: &Tree) -> Vec<Message> {
    let Tree::Object(fields) = record else { return Vec::new() };
    let mut drafts = vec![Draft::default()];
    object(fields, At { depth: 0, draft: 0, is_part: false, is_inner: false }, &mut drafts);
    let is_one = drafts.len() == 1;
    let value = |field: &Field| field.as_ref().map(|(_, value)| value.clone());
    let (session, project) = (value(&drafts[0].session), value(&drafts[0].cwd));
    let timestamp = value(&drafts[0].time);
    let all = drafts.into_iter().enumerate();
    let shown = all.filter(|(number, draft)| is_one || *number > 0 || !draft.texts.is_empty());
    let message = |(_, draft): (usize, Draft)| Message {
        role: value(&draft.role).or(value(&draft.inner_kind)).or(value(&draft.kind)),
        session: value(&draft.session).or(session.clone()),
        project: value(&draft.cwd).or(project.clone()),
        timestamp: value(&draft.time).or(timestamp.clone()),
        texts: draft.texts.into_iter().flat_map(shown_as).collect(),
    };
    shown.map(message).collect()
}

#[derive(Clone, Copy)]
struct At {
    depth: usize,
    draft: usize,
    is_part: bool,
    is_inner: bool,
}

const SAID: &str = "content text summary parts prompt system result answer display refusal title \
    reply question completion lastPrompt customTitle aiTitle instructions pastedContents \
    transcript last_agent_message";
const WRAPS: &str = "message msg body delta error event response";
const HOLDS: &str = "payload item items data choices candidates request $set";
const MESSAGES: &str = "messages history turns conversation";
const THINKING: &str = "thinking thoughts reasoning reasoning_content reasoning_details";
const TOOL: &str = "action stdout stderr command changes tool_calls toolCalls tool_call \
    toolUseResult tool_result function_call functionCall functionResponse function_response \
    aggregated_output resultDisplay";
const GIVEN: &str = "input args arguments parameters";
const SESSION: &str = "sessionId session_id conversation_id conversationId thread_id";
const TIME: &str = "timestamp created_at createdAt created time ts";
const NO_TEXT: &str = "id uuid type role data index model object status base64 call_id callId \
    signature timestamp toolUseId tool_use_id media_type mimeType thoughtSignature \
    encrypted_content";

fn is(key: &str, names: &str) -> bool {
    names.split_whitespace().any(|name| name == key)
}

fn object(fields: &[(String, Tree)], at: At, drafts: &mut Vec<Draft>) {
    let before: Vec<usize> = drafts.iter().map(|draft| draft.texts.len()).collect();
    let mut own = None;
    let mut name = None;
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("type", Tree::Text(text)) => {
                own = own.or(of_type(text));
                let draft = &mut drafts[at.draft];
                let field = if at.is_inner { &mut draft.inner_kind } else { &mut draft.kind };
                keep(at, field, text, at.is_inner);
            }
            ("role", Tree::Text(text)) => {
                own = own.or(text.starts_with("tool").then_some("tools"));
                keep(at, &mut drafts[at.draft].role, text, true);
            }
            ("thought", Tree::Word("true")) => own = own.or(Some("thinking")),
            ("name", Tree::Text(text)) => {
                let texts = &mut drafts[at.draft].texts;
                let count = texts.len();
                piece(texts, "tools", None, text);
                name = (texts.len() > count).then_some(count);
            }
            ("type" | "role" | "thought" | "name", _) => {}
            (key, value) => field(key, value, At { depth: at.depth + 1, ..at }, drafts),
        }
    }
    if let Some(place) = name.filter(|_| own != Some("tools")) {
        drafts[at.draft].texts.remove(place);
    }
    let Some(own) = own else { return };
    for (number, draft) in drafts.iter_mut().enumerate() {
        let from = before.get(number).copied().unwrap_or(0);
        let said = draft.texts[from..].iter_mut().filter(|piece| piece.kind == "text");
        said.for_each(|piece| piece.kind = own);
    }
}

fn field(key: &str, value: &Tree, at: At, drafts: &mut Vec<Draft>) {
    let is_said = is(key, SAID) || !key.is_empty() && key.len() < 5 && is_number(key);
    let draft = &mut drafts[at.draft];
    match value {
        Tree::Text(text) if is(key, SESSION) => keep(at, &mut draft.session, text, false),
        Tree::Text(text) if key == "cwd" => keep(at, &mut draft.cwd, text, false),
        Tree::Text(text) if is(key, TIME) => keep(at, &mut draft.time, text, false),
        Tree::Number(text) if is(key, TIME) && !text.starts_with('-') => {
            keep(at, &mut draft.time, &time(text), false);
        }
        Tree::Text(text) if is_said || is(key, WRAPS) => {
            piece(&mut draft.texts, "text", None, text);
        }
        Tree::Text(text) if key == "output" => {
            piece(&mut draft.texts, "tools", Some(false), text);
        }
        _ if is_said || key == "output" => parts(value, At { is_part: true, ..at }, drafts),
        _ if is(key, WRAPS) => parts(value, At { is_inner: false, ..at }, drafts),
        _ if is(key, HOLDS) => parts(value, At { is_inner: true, ..at }, drafts),
        Tree::Array(elements) if is(key, MESSAGES) && !at.is_part => {
            for element in elements {
                let Tree::Object(fields) = element else { continue };
                drafts.push(Draft::default());
                let (depth, draft) = (at.depth + 1, drafts.len() - 1);
                object(fields, At { depth, draft, ..at }, drafts);
            }
        }
        _ if is(key, THINKING) => deep(value, "thinking", false, &mut draft.texts),
        _ if is(key, TOOL) => deep(value, "tools", false, &mut draft.texts),
        _ if is(key, GIVEN) => deep(value, "tools", true, &mut draft.texts),
        _ => {}
    }
}

fn is_number(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_digit())
}

fn parts(value: &Tree, at: At, drafts: &mut Vec<Draft>) {
    match value {
        Tree::Object(fields) => object(fields, at, drafts),
        Tree::Array(elements) => {
            for element in elements {
                let at = At { depth: at.depth + 1, ..at };
                match element {
                    Tree::Object(fields) => object(fields, at, drafts),
                    Tree::Text(text) if at.is_part => {
                        piece(&mut drafts[at.draft].texts, "text", None, text);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn deep(value: &Tree, kind: &'static str, all: bool, texts: &mut Vec<Piece>) {
    match value {
        Tree::Text(text) => piece(texts, kind, (kind == "tools").then_some(all), text),
        Tree::Array(elements) => elements.iter().for_each(|one| deep(one, kind, all, texts)),
        Tree::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| all || !is(key, NO_TEXT)) {
                deep(value, kind, all || is(key, GIVEN), texts);
            }
        }
        _ => {}
    }
}

fn keep(at: At, field: &mut Field, text: &str, inner_counts: bool) {
    let counts = |depth: usize| if inner_counts { at.depth >= depth } else { at.depth <= depth };
    if !at.is_part && field.as_ref().is_none_or(|(depth, _)| counts(*depth)) {
        *field = Some((at.depth, text.to_owned()));
    }
}

fn shown_as(piece: Piece) -> Vec<(&'static str, String)> {
    let texts = unfolded(&piece.text, piece.inner, 3);
    texts.into_iter().map(|text| (piece.kind, text)).collect()
}

/// What a tool was given or gave: where that is JSON in a string, the texts inside.
fn unfolded(text: &str, inner: Option<bool>, levels: u32) -> Vec<String> {
    let is_json = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    let Some(all) = inner.filter(|_| text.starts_with(['{', '[']) && is_json()) else {
        return vec![text.to_owned()];
    };
    let mut inside = Vec::new();
    deep(&tolerant::value(text), "tools", all, &mut inside);
    let each = inside.into_iter().map(|piece| match levels {
        0 => vec![piece.text],
        _ => unfolded(&piece.text, piece.inner, levels - 1),
    });
    each.flatten().collect()
}

/// A tool's text that stands there twice counts once.
fn piece(texts: &mut Vec<Piece>, kind: &'static str, inner: Option<bool>, text: &str) {
    let is_again = |known: &Piece| known.kind != "text" && known.text == text;
    if kind == "text" || !texts.iter().any(is_again) {
        texts.push(Piece { kind, inner, text: text.to_owned() });
    }
}

fn of_type(name: &str) -> Option<&'static str> {
    if ["tool", "_call", "function", "exec_command"].iter().any(|word| name.contains(word)) {
        return Some("tools");
    }
    ["thinking", "reasoning"].iter().any(|word| name.contains(word)).then_some("thinking")
}

/// Whole seconds since 1970, or milliseconds, as RFC 3339 has them.
fn time(number: &str) -> String {
    let Ok(number) = number.parse::<f64>() else { return number.to_owned() };
    let seconds = if number < 1e11 { number } else { number / 1e3 };
    let days = (seconds / 86_400.0) as i64;
    let (mut year, mut day) = (1970, days);
    let length = |year: i64| 365 + i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    while day >= length(year) {
        day -= length(year);
        year += 1;
    }
    let february = length(year) - 337;
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    let second = seconds as i64 % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let day = day + 1;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
