//! How replies are written: the lines of Ollama and the events of OpenAI, both with a stamp.

use serde_json::{Value, json};

use crate::clock::created_at;

/// What a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    /// `/api/generate`
    Generate,
    /// `/api/chat`, which has a message in place of a response.
    Chat,
    /// `/v1/completions`
    Completion,
    /// `/v1/chat/completions`
    ChatCompletion,
}

/// Tokens that leave together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) tokens: usize,
    /// It is thought before the answer.
    pub(crate) is_thought: bool,
}

/// What is put around the keys of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Brackets {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
}

/// What the end of a reply says of all of it. Times are nanoseconds.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) is_cut: bool,
    pub(crate) total_ns: i64,
    pub(crate) prompt_tokens: usize,
    pub(crate) prompt_ns: i64,
    pub(crate) tokens: usize,
    pub(crate) thought_tokens: usize,
    pub(crate) eval_ns: i64,
}

/// The writer of one reply.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) speech: Speech,
    pub(crate) model: String,
    /// OpenAI's name of the reply.
    pub(crate) id: String,
    pub(crate) created_s: u64,
    pub(crate) include_usage: bool,
    /// The tool that the reply calls at its end.
    pub(crate) tool: Option<String>,
}

impl Speech {
    pub(crate) fn is_openai(self) -> bool {
        matches!(self, Self::Completion | Self::ChatCompletion)
    }

    /// The key that says how long a reply may be.
    pub(crate) fn tokens_key(self) -> &'static str {
        if self.is_openai() { "max_tokens" } else { "options.num_predict" }
    }

    pub(crate) fn brackets(self) -> Brackets {
        match self.is_openai() {
            true => Brackets { open: "data: {", close: "}\n\n" },
            false => Brackets { open: "{", close: "}\n" },
        }
    }

    pub(crate) fn content_type(self) -> &'static str {
        if self.is_openai() { "text/event-stream" } else { "application/x-ndjson" }
    }

    /// The body of a refusal.
    pub(crate) fn error(self, sentence: &str) -> Value {
        match self.is_openai() {
            true => json!({"error": {"message": sentence, "type": "paced", "code": null}}),
            false => json!({"error": sentence}),
        }
    }
}

impl Wire {
    /// The keys of a line with text.
    pub(crate) fn piece(&self, piece: &Piece, is_first: bool) -> String {
        let text = Value::from(piece.text.as_str());
        if !self.speech.is_openai() {
            return format!("{},\"done\":false", self.ollama(&text, piece.is_thought, ""));
        }
        let choice = match (self.speech, piece.is_thought) {
            (Speech::Completion, _) => format!("\"text\":{text}"),
            (_, is_thought) => {
                let role = if is_first { "\"role\":\"assistant\"," } else { "" };
                let key = if is_thought { "reasoning_content" } else { "content" };
                format!("\"delta\":{{{role}\"{key}\":{text}}}")
            }
        };
        self.choice(&format!("{choice},\"finish_reason\":null"))
    }

    /// The keys of the line that calls the tool, which chats have.
    pub(crate) fn tool_call(&self) -> Option<String> {
        let name = Value::from(self.tool.as_deref()?);
        match self.speech {
            Speech::Chat => {
                let call = format!(
                    ",\"tool_calls\":[{{\"function\":{{\"name\":{name},\"arguments\":{{}}}}}}]"
                );
                Some(format!("{},\"done\":false", self.ollama(&"".into(), false, &call)))
            }
            Speech::ChatCompletion => {
                let delta = json!({"tool_calls": [self.openai_call(Some(0))]});
                Some(self.choice(&format!("\"delta\":{delta},\"finish_reason\":null")))
            }
            Speech::Generate | Speech::Completion => None,
        }
    }

    /// The keys of the last line of a stream.
    pub(crate) fn done(&self, account: &Account) -> String {
        if !self.speech.is_openai() {
            let said = self.ollama(&"".into(), false, "");
            return format!("{said},{}", self.ollama_account(account));
        }
        let empty =
            if self.speech == Speech::Completion { "\"text\":\"\"" } else { "\"delta\":{}" };
        self.choice(&format!("{empty},\"finish_reason\":\"{}\"", self.reason(account)))
    }

    /// What follows the last line of a stream.
    pub(crate) fn after_done(&self, account: &Account) -> String {
        match self.speech.is_openai() {
            false => String::new(),
            true if self.include_usage => {
                let usage = usage(account);
                let names = self.names(self.event());
                format!("data: {{{names},\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n")
            }
            true => "data: [DONE]\n\n".to_owned(),
        }
    }

    /// The keys of a reply in one piece.
    pub(crate) fn whole(&self, pieces: &[Piece], account: &Account) -> String {
        let text = |thought: bool| {
            let own = pieces.iter().filter(|piece| piece.is_thought == thought);
            own.map(|piece| piece.text.as_str()).collect::<String>()
        };
        let (thought, answer) = (text(true), text(false));
        if !self.speech.is_openai() {
            let mut more = String::new();
            if !thought.is_empty() {
                more = format!(",\"thinking\":{}", Value::from(thought));
            }
            if let Some(name) = self.tool.as_deref().filter(|_| self.speech == Speech::Chat) {
                let call = json!([{"function": {"name": name, "arguments": {}}}]);
                more.push_str(&format!(",\"tool_calls\":{call}"));
            }
            let said = self.ollama(&answer.into(), false, &more);
            return format!("{said},{}", self.ollama_account(account));
        }
        let reason = self.reason(account);
        let choice = if self.speech == Speech::Completion {
            format!("\"text\":{},\"finish_reason\":\"{reason}\"", Value::from(answer))
        } else {
            let mut message = json!({"role": "assistant", "content": answer});
            if !thought.is_empty() {
                message["reasoning_content"] = thought.into();
            }
            if self.tool.is_some() {
                message["tool_calls"] = json!([self.openai_call(None)]);
            }
            format!("\"message\":{message},\"finish_reason\":\"{reason}\"")
        };
        let object =
            if self.speech == Speech::Completion { "text_completion" } else { "chat.completion" };
        let usage = usage(account);
        format!("{},\"choices\":[{{\"index\":0,{choice}}}],\"usage\":{usage}", self.names(object))
    }

    /// The first keys of an Ollama line; `more` goes where the text is.
    fn ollama(&self, text: &Value, is_thought: bool, more: &str) -> String {
        let said = match (self.speech, is_thought) {
            (Speech::Chat, false) => {
                format!("\"message\":{{\"role\":\"assistant\",\"content\":{text}{more}}}")
            }
            (Speech::Chat, true) => format!(
                "\"message\":{{\"role\":\"assistant\",\"content\":\"\",\"thinking\":{text}}}"
            ),
            (_, false) => format!("\"response\":{text}{more}"),
            (_, true) => format!("\"response\":\"\",\"thinking\":{text}"),
        };
        let model = Value::from(self.model.as_str());
        format!("\"model\":{model},\"created_at\":\"{}\",{said}", created_at())
    }

    fn ollama_account(&self, account: &Account) -> String {
        // As Ollama counts: prefill ends with the first token, and evaluation begins there. The
        // prefill here contains the wait for the server in `queue` mode.
        format!(
            "\"done\":true,\"done_reason\":\"{}\",\"total_duration\":{},\"load_duration\":0,\
             \"prompt_eval_count\":{},\"prompt_eval_duration\":{},\"eval_count\":{},\
             \"eval_duration\":{}",
            if account.is_cut { "length" } else { "stop" },
            account.total_ns,
            account.prompt_tokens,
            account.prompt_ns,
            account.tokens,
            account.eval_ns,
        )
    }

    fn names(&self, object: &str) -> String {
        let (id, model) = (&self.id, Value::from(self.model.as_str()));
        let created = self.created_s;
        format!("\"id\":\"{id}\",\"object\":\"{object}\",\"created\":{created},\"model\":{model}")
    }

    /// The keys of an event.
    fn choice(&self, keys: &str) -> String {
        format!("{},\"choices\":[{{\"index\":0,{keys}}}]", self.names(self.event()))
    }

    fn event(&self) -> &'static str {
        match self.speech {
            Speech::ChatCompletion => "chat.completion.chunk",
            _ => "text_completion",
        }
    }

    fn openai_call(&self, index: Option<u32>) -> Value {
        let name = self.tool.as_deref().unwrap_or_default();
        let mut call = json!({
            "id": format!("call-{}", self.id), "type": "function",
            "function": {"name": name, "arguments": "{}"},
        });
        if let Some(index) = index {
            call["index"] = index.into();
        }
        call
    }

    fn reason(&self, account: &Account) -> &'static str {
        match self.tool {
            Some(_) if self.speech == Speech::ChatCompletion => "tool_calls",
            _ if account.is_cut => "length",
            _ => "stop",
        }
    }
}

fn usage(account: &Account) -> Value {
    json!({
        "prompt_tokens": account.prompt_tokens, "completion_tokens": account.tokens,
        "total_tokens": account.prompt_tokens + account.tokens,
        "completion_tokens_details": {"reasoning_tokens": account.thought_tokens},
    })
}
