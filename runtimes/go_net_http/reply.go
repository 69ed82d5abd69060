package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// unsaid is what a server did not say.
const unsaid = -1

// Bounds in bytes: of a line, and of what is kept of a response that is no stream.
const (
	maxLine      = 4 << 20
	maxErrorBody = 4 << 10
)

// maxReserved is for how many tokens of a call rows are set aside before it starts, at most.
const maxReserved = 1 << 16

// line is one line of a stream, as far as an agent reads it.
type line struct {
	Response           string       `json:"response"`
	Thinking           string       `json:"thinking"`
	Done               bool         `json:"done"`
	Model              string       `json:"model"`
	Error              *explanation `json:"error"`
	SentNs             *int64       `json:"sent_ns"`
	EvalCount          *int64       `json:"eval_count"`
	EvalDuration       *int64       `json:"eval_duration"`
	PromptEvalCount    *int64       `json:"prompt_eval_count"`
	PromptEvalDuration *int64       `json:"prompt_eval_duration"`
	LoadDuration       *int64       `json:"load_duration"`
	TotalDuration      *int64       `json:"total_duration"`
}

// hasToken says whether it carries a token: of the answer, or of a thought, which is no text.
func (l *line) hasToken() bool { return l.Response != "" || l.Thinking != "" }

// explanation is of an error, which is a string, or an object with a message.
type explanation string

// UnmarshalJSON takes what is neither as it is written.
func (e *explanation) UnmarshalJSON(data []byte) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	text, isText := value.(string)
	if !isText {
		object, _ := value.(map[string]any)
		text, isText = object["message"].(string)
	}
	if !isText {
		text = string(data)
	}
	*e = explanation(text)
	return nil
}

// reply is one reply as it arrives: lines of JSON, cut anywhere, and the time of each token.
type reply struct {
	model      string
	meter      *meter
	isLast     bool
	dropAfter  uint64
	giveUpMs   *int64
	status     int
	errorBody  []byte
	carry      []byte
	text       []byte
	done       bool
	startNs    int64
	endNs      int64
	droppedNs  int64
	receivedNs []int64
	sentNs     []int64
	said       line
}

func newReply(model string, meter *meter, isLast bool, tokens int64) *reply {
	rows := min(max(tokens, 0), maxReserved)
	return &reply{
		model: model, meter: meter, isLast: isLast, status: 200, startNs: nowNs(), endNs: unsaid,
		droppedNs: unsaid,
		// A token is about five bytes.
		text:       make([]byte, 0, 8*rows),
		receivedNs: make([]int64, 0, rows),
		sentNs:     make([]int64, 0, rows),
	}
}

// errDropped says that the agent has enough of this reply: whoever reads it closes the connection.
var errDropped = errors.New("dropped")

// feed takes bytes of the body, which were handed over at this time.
func (r *reply) feed(data []byte, receivedNs int64) error {
	if r.status != 200 {
		room := maxErrorBody - len(r.errorBody)
		r.errorBody = append(r.errorBody, data[:min(len(data), room)]...)
		return nil
	}
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		whole := data[:end]
		if len(r.carry) > 0 {
			r.carry = append(r.carry, whole...)
			whole = r.carry
		}
		if err := r.line(whole, receivedNs); err != nil {
			return err
		}
		r.carry, data = r.carry[:0], data[end+1:]
	}
	r.carry = append(r.carry, data...)
	if len(r.carry) > maxLine {
		return broken(r.carry, fmt.Sprintf("no end of line within %d bytes", maxLine))
	}
	if tokens := len(r.sentNs); r.giveUpMs != nil && tokens > 0 && r.sentNs[tokens-1] >= 0 {
		lagMs := (r.receivedNs[tokens-1] - r.sentNs[tokens-1]) / 1_000_000
		if lagMs > *r.giveUpMs {
			return fmt.Errorf("saturated: a token waited %d ms for its agent, and %d ms are the limit",
				lagMs, *r.giveUpMs)
		}
	}
	if r.dropAfter > 0 && uint64(len(r.receivedNs)) >= r.dropAfter && !r.done {
		r.meter.lastToken()
		r.droppedNs = nowNs()
		r.endNs = r.droppedNs
		return errDropped
	}
	return nil
}

// finish says that the body is complete; a server need not end its last line.
func (r *reply) finish(receivedNs int64) error {
	if r.status != 200 {
		return fmt.Errorf("status %d: %s", r.status, refused(r.errorBody))
	}
	if err := r.line(r.carry, receivedNs); err != nil {
		return err
	}
	if !r.done {
		return fmt.Errorf("the body ended without a done line, after %d tokens", len(r.receivedNs))
	}
	return nil
}

func (r *reply) line(data []byte, receivedNs int64) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	found := line{}
	if !utf8.Valid(data) {
		return broken(data, "it is not UTF-8")
	}
	if err := json.Unmarshal(data, &found); err != nil {
		return broken(data, err.Error())
	}
	if found.Error != nil {
		return fmt.Errorf("the server reports an error: %s", *found.Error)
	}
	if r.done && (found.Done || found.hasToken()) {
		return fmt.Errorf("the server went on after its done line, with `%s`",
			excerpt([]byte(found.Response)))
	}
	if err := r.checkModel(found.Model, found.Done); err != nil {
		return err
	}
	if found.hasToken() {
		r.meter.token()
		r.text = append(r.text, found.Response...)
		r.receivedNs = append(r.receivedNs, receivedNs)
		r.sentNs = append(r.sentNs, orUnsaid(found.SentNs))
	}
	if found.Done {
		r.endNs = nowNs()
		r.done, r.said = true, found
		if r.isLast {
			r.meter.lastToken()
		}
	}
	return nil
}

// checkModel: Ollama names the model on every line: none may name another one, and the last must
// name it. Its tag `latest` may be left out.
func (r *reply) checkModel(said string, isLast bool) error {
	untagged := func(model string) string { return strings.TrimSuffix(model, ":latest") }
	if said != "" && untagged(said) != untagged(r.model) {
		return fmt.Errorf("asked for model %s, the server says that it ran %s", r.model, said)
	}
	if said == "" && isLast {
		return fmt.Errorf("asked for model %s, the server does not say which one it ran", r.model)
	}
	return nil
}

func orUnsaid(value *int64) int64 {
	if value == nil {
		return unsaid
	}
	return *value
}

// excerpt is the first 60 characters.
func excerpt(data []byte) string {
	text := []rune(strings.ToValidUTF8(string(data[:min(len(data), 4*60)]), "\uFFFD"))
	return string(text[:min(len(text), 60)])
}

func broken(data []byte, why string) error {
	return errors.New("broken JSON in line `" + excerpt(data) + "`: " + why)
}

// refused is the explanation of a refusal: Ollama's is `{"error": "…"}`, a gateway has an object
// there.
func refused(body []byte) string {
	found := line{}
	if json.Unmarshal(body, &found) != nil || found.Error == nil {
		return excerpt(body)
	}
	return string(*found.Error)
}
