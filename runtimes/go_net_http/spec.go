package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
)

type runSpec struct {
	Protocol *int      `json:"protocol"`
	Run      *string   `json:"run"`
	Workload *workload `json:"workload"`
}

type workload struct {
	Arrangement    *string     `json:"arrangement"`
	StallTimeoutMs *uint64     `json:"stall_timeout_ms"`
	IngestDir      *string     `json:"ingest_dir"`
	PieceBytes     *uint32     `json:"piece_bytes"`
	GiveUpLagMs    *int64      `json:"give_up_lag_ms"`
	Agents         []agentSpec `json:"agents"`
}

type agentSpec struct {
	Server         *string    `json:"server"`
	Model          *string    `json:"model"`
	WorkPerTokenNs uint64     `json:"work_per_token_ns"`
	DropAfter      uint64     `json:"drop_after_tokens"`
	StartAfterNs   uint64     `json:"start_after_ns"`
	Calls          []callSpec `json:"calls"`
}

type callSpec struct {
	Prompt  *string      `json:"prompt"`
	Options *callOptions `json:"options"`
}

// callOptions are sent as they came, without those that are not given.
type callOptions struct {
	NumGpu      *int64   `json:"num_gpu,omitempty"`
	NumCtx      *int64   `json:"num_ctx,omitempty"`
	NumThread   *int64   `json:"num_thread,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Seed        *int64   `json:"seed"`
	NumPredict  *int64   `json:"num_predict"`
}

// readSpec gives the spec, or a sentence that refuses it.
func readSpec() (*runSpec, error) {
	line, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("cannot read standard input: %w", err)
	}
	if len(line) == 0 {
		return nil, errors.New(
			"standard input ended before a run spec: write one JSON line to it")
	}
	spec := &runSpec{}
	if err := decode(line, spec); err != nil {
		return nil, fmt.Errorf("cannot read the run spec: %w", err)
	}
	if *spec.Protocol != protocol {
		return nil, fmt.Errorf("the run spec is protocol %d, this variant speaks %d",
			*spec.Protocol, protocol)
	}
	return spec, check(spec.Workload)
}

var unknownField = regexp.MustCompile(`^json: unknown field "(.*)"$`)

func decode(line []byte, spec *runSpec) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(spec); err != nil {
		return errors.New(unknownField.ReplaceAllString(err.Error(), "unknown field `$1`"))
	}
	if rest, _ := io.ReadAll(decoder.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		return errors.New("there is something behind the object")
	}
	if key := missing(spec); key != "" {
		return fmt.Errorf("missing field `%s`", key)
	}
	return nil
}

// missing is the first key that must be there and is not.
func missing(spec *runSpec) string {
	load := spec.Workload
	switch {
	case spec.Protocol == nil:
		return "protocol"
	case spec.Run == nil:
		return "run"
	case load == nil:
		return "workload"
	case load.Arrangement == nil:
		return "arrangement"
	case load.StallTimeoutMs == nil:
		return "stall_timeout_ms"
	}
	for _, agent := range load.Agents {
		switch {
		case agent.Server == nil:
			return "server"
		case agent.Model == nil:
			return "model"
		}
		for _, call := range agent.Calls {
			switch {
			case call.Prompt == nil:
				return "prompt"
			case call.Options == nil:
				return "options"
			case call.Options.Seed == nil:
				return "seed"
			case call.Options.NumPredict == nil:
				return "num_predict"
			}
		}
	}
	return ""
}

// check refuses a workload that no variant can run.
func check(load *workload) error {
	if *load.Arrangement != "concurrent" && *load.Arrangement != "solo" {
		return fmt.Errorf("`arrangement` is `%s`: write `concurrent` or `solo`", *load.Arrangement)
	}
	if len(load.Agents) == 0 {
		return errors.New("the workload names no agent: give `agents` at least one")
	}
	if *load.StallTimeoutMs == 0 {
		return errors.New("`stall_timeout_ms` is 0: give at least 1")
	}
	for index, agent := range load.Agents {
		if len(agent.Calls) == 0 {
			return fmt.Errorf("agent %d: `calls` is empty: give at least one", index)
		}
		if !isAddress(*agent.Server) {
			return fmt.Errorf("agent %d: `server` is `%s`: write it as http://HOST:PORT",
				index, *agent.Server)
		}
	}
	return nil
}

func isAddress(server string) bool {
	address, err := url.Parse(server)
	if err != nil || !strings.HasPrefix(server, "http://") || address.Hostname() == "" {
		return false
	}
	_, err = strconv.ParseUint(address.Port(), 10, 16)
	return err == nil
}

// refusal says what this variant does not do; empty where it does all that is asked.
func refusal(load *workload) string {
	if load.PieceBytes != nil {
		return "it takes a reply's bytes as its client gives them"
	}
	for _, agent := range load.Agents {
		if agent.WorkPerTokenNs > 0 {
			return "it does no work between tokens"
		}
	}
	return ""
}
