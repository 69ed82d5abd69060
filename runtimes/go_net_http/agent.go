package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// keywords are the topics that an agent looks for in a reply.
var keywords = []string{
	"latency", "throughput", "memory", "bottleneck", "improve", "recommend",
}

// analysis counts words, and how many begin with each keyword, whatever their case.
func analysis(text string) string {
	lower := strings.Map(func(letter rune) rune {
		if 'A' <= letter && letter <= 'Z' {
			return letter + 'a' - 'A'
		}
		return letter
	}, text)
	isBetween := func(letter rune) bool {
		return !unicode.IsLetter(letter) && !unicode.IsNumber(letter)
	}
	words := strings.FieldsFunc(lower, isBetween)
	counts := strings.Builder{}
	for _, keyword := range keywords {
		count := 0
		for _, word := range words {
			if strings.HasPrefix(word, keyword) {
				count++
			}
		}
		fmt.Fprintf(&counts, " %s %d,", keyword, count)
	}
	return fmt.Sprintf("analysis:%s words %d", counts.String(), len(strings.Fields(lower)))
}

// ingest reads every regular file below the folder into memory and hashes it; links are not
// followed. It gives their length in bytes. Reading blocks, for which a goroutine gets a thread.
func ingest(folder *string) (int64, error) {
	if folder == nil {
		return 0, nil
	}
	var size int64
	var digest uint64
	// In the order of their paths.
	err := filepath.WalkDir(*folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		size += int64(len(content))
		digest = xxh64(content, digest)
		return err
	})
	return size, err
}

// why is what the system says, as everybody else writes it.
func why(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return err.Error()
	}
	text := number.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// agent is one agent: a folder to read, then its calls in order.
type agent struct {
	index       int
	spec        agentSpec
	load        *workload
	meter       *meter
	replies     []*reply
	analysis    string
	dueNs       int64
	startNs     int64
	endNs       int64
	ingestEndNs int64
	ingestBytes int64
}

// run does all of it. A panic is an error like any other.
func (a *agent) run() (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("the variant panicked: %v", panicked)
		}
	}()
	time.Sleep(time.Duration(a.dueNs - nowNs()))
	a.meter.agent()
	a.startNs = nowNs()
	if a.ingestBytes, err = ingest(a.load.IngestDir); err != nil {
		return fmt.Errorf("agent %d: cannot ingest %s: %s", a.index, *a.load.IngestDir, why(err))
	}
	a.ingestEndNs = nowNs()
	stall := time.Duration(min(*a.load.StallTimeoutMs, 1<<40)) * time.Millisecond
	client := newClient(*a.spec.Server, stall)
	for number, call := range a.spec.Calls {
		if err := a.call(call, client); err != nil {
			return fmt.Errorf("agent %d, call %d on %s: %w", a.index, number, *a.spec.Server, err)
		}
	}
	client.http.CloseIdleConnections()
	return nil
}

func (a *agent) call(call callSpec, client *client) error {
	isLast := len(a.replies)+1 == len(a.spec.Calls)
	into := newReply(*a.spec.Model, a.meter, isLast, *call.Options.NumPredict)
	into.giveUpMs = a.load.GiveUpLagMs
	if isLast {
		into.dropAfter = a.spec.DropAfter
	}
	a.replies = append(a.replies, into)
	prompt := *call.Prompt
	if a.analysis != "" {
		prompt += "\n\n" + a.analysis
	}
	body, err := generate(*a.spec.Model, prompt, call.Options)
	if err != nil {
		return err
	}
	if err := client.post(body, into); errors.Is(err, errDropped) {
		a.endNs = into.endNs
		return nil
	} else if err != nil {
		return err
	}
	a.analysis = analysis(string(into.text))
	a.endNs = nowNs()
	return nil
}

// generate is the body of a request.
func generate(model, prompt string, options *callOptions) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		Model   string       `json:"model"`
		Prompt  string       `json:"prompt"`
		Stream  bool         `json:"stream"`
		Options *callOptions `json:"options"`
	}{model, prompt, true, options})
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), err
}
