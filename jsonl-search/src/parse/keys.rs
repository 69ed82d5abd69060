//! What a value is, told from its key: the names that coding agents and chat servers give.

/// What a key says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// What a record or part is.
    Type,
    Role,
    Session,
    Cwd,
    Time,
    /// Whether the part is a thought: Gemini.
    Thought,
    /// A tool's name, where its part is about a tool.
    Name,
    /// Text, or parts that have some.
    Said,
    /// Text, or what the record is about.
    Wraps,
    /// What the record is about, and no text.
    Holds,
    /// Several messages.
    Messages,
    /// Every text below.
    Thinking,
    /// What a tool printed, or parts that have text.
    Output,
    /// Every text below but for names and bytes.
    Tool,
    /// Every text below: the keys are the tool's own.
    Given,
    Nothing,
}

impl Means {
    /// By length first: most keys are none of these, and that tells it soon.
    #[inline]
    pub(super) fn of(key: &[u8]) -> Self {
        match key.len() {
            1 => Self::of_number(key),
            2 => match key {
                b"ts" => Self::Time,
                _ => Self::of_number(key),
            },
            3 => match key {
                b"cwd" => Self::Cwd,
                b"msg" => Self::Wraps,
                _ => Self::of_number(key),
            },
            4 => match key {
                b"type" => Self::Type,
                b"role" => Self::Role,
                b"text" => Self::Said,
                b"name" => Self::Name,
                b"time" => Self::Time,
                b"args" => Self::Given,
                b"body" => Self::Wraps,
                b"data" | b"item" | b"$set" => Self::Holds,
                _ => Self::of_number(key),
            },
            5 => match key {
                b"input" => Self::Given,
                b"parts" | b"title" | b"reply" => Self::Said,
                b"delta" | b"error" | b"event" => Self::Wraps,
                b"turns" => Self::Messages,
                b"items" => Self::Holds,
                _ => Self::Nothing,
            },
            6 => match key {
                b"output" => Self::Output,
                b"action" | b"stdout" | b"stderr" => Self::Tool,
                b"prompt" | b"system" | b"result" | b"answer" => Self::Said,
                _ => Self::Nothing,
            },
            7 => match key {
                b"message" => Self::Wraps,
                b"content" | b"summary" | b"display" | b"refusal" => Self::Said,
                b"payload" | b"choices" | b"request" => Self::Holds,
                b"thought" => Self::Thought,
                b"created" => Self::Time,
                b"history" => Self::Messages,
                b"command" | b"changes" => Self::Tool,
                _ => Self::Nothing,
            },
            8 => match key {
                b"messages" => Self::Messages,
                b"response" => Self::Wraps,
                b"thinking" | b"thoughts" => Self::Thinking,
                b"question" => Self::Said,
                _ => Self::Nothing,
            },
            _ => Self::of_long(key),
        }
    }

    #[inline]
    fn of_long(key: &[u8]) -> Self {
        match key {
            b"sessionId" | b"session_id" | b"conversation_id" | b"conversationId"
            | b"thread_id" => Self::Session,
            b"timestamp" | b"created_at" | b"createdAt" => Self::Time,
            b"reasoning" | b"reasoning_content" | b"reasoning_details" => Self::Thinking,
            b"arguments" | b"parameters" => Self::Given,
            b"tool_calls" | b"toolCalls" | b"tool_call" | b"toolUseResult" | b"tool_result"
            | b"function_call" | b"functionCall" | b"functionResponse" | b"function_response"
            | b"aggregated_output" | b"resultDisplay" => Self::Tool,
            b"candidates" => Self::Holds,
            b"completion"
            | b"lastPrompt"
            | b"customTitle"
            | b"aiTitle"
            | b"instructions"
            | b"pastedContents"
            | b"transcript"
            | b"last_agent_message" => Self::Said,
            b"conversation" => Self::Messages,
            _ => Self::Nothing,
        }
    }

    /// Content that was an array is written with its indexes for keys at times.
    fn of_number(key: &[u8]) -> Self {
        if key.iter().all(u8::is_ascii_digit) { Self::Said } else { Self::Nothing }
    }
}

/// Whether a key below what a tool was given or gave stands for no text: a name of the machine's,
/// or bytes as letters.
pub(super) fn is_no_text(key: &[u8]) -> bool {
    matches!(
        key,
        b"id"
            | b"uuid"
            | b"type"
            | b"role"
            | b"data"
            | b"index"
            | b"model"
            | b"object"
            | b"status"
            | b"base64"
            | b"call_id"
            | b"callId"
            | b"signature"
            | b"timestamp"
            | b"toolUseId"
            | b"tool_use_id"
            | b"media_type"
            | b"mimeType"
            | b"thoughtSignature"
            | b"encrypted_content"
    )
}
