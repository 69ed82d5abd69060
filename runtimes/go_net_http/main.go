// Agents on net/http, one goroutine each, with nothing beside Go's standard library.
//
// It reads one run spec as a JSON line from standard input and writes one outcome as a JSON line.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

const (
	protocol = 1
	family   = "runtimes"
)

// Exit codes.
const (
	done    = 0
	failed  = 1
	badSpec = 2
)

// variant is the name of the folder; `build` says it.
var variant string

const help = `%s-%s: agents on Go's net/http, with nothing beside its standard library.

Reads one run spec as a JSON line from standard input and writes one outcome as a JSON line.

  --describe  print who this is, as JSON
  --help      print this

Exit codes: 0 done, 1 failed (the outcome says why), 2 bad spec
`

type identity struct {
	Protocol int      `json:"protocol"`
	Family   string   `json:"family"`
	Variant  string   `json:"variant"`
	Measures string   `json:"measures"`
	Version  string   `json:"version"`
	Features []string `json:"features"`
}

type outcome struct {
	Protocol int                `json:"protocol"`
	Run      string             `json:"run"`
	Status   string             `json:"status"`
	Reason   string             `json:"reason,omitempty"`
	Counters map[string]int64   `json:"counters"`
	Samples  map[string][]int64 `json:"samples"`
}

func main() {
	// For the time until the first agent counts from here.
	meter := &meter{processStartNs: nowNs()}
	os.Exit(answer(os.Args[1:], meter))
}

func answer(arguments []string, meter *meter) int {
	switch {
	case len(arguments) == 1 && arguments[0] == "--describe":
		return write(identity{protocol, family, variant, "net/http", "installed", []string{}}, done)
	case len(arguments) == 1 && (arguments[0] == "--help" || arguments[0] == "-h"):
		fmt.Printf(help, family, variant)
		return done
	case len(arguments) > 0:
		fmt.Fprintln(os.Stderr, "the only arguments are --describe and --help")
		return badSpec
	}
	spec, err := readSpec()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return badSpec
	}
	said, code := outcomeOf(spec, meter)
	if said.Reason != "" {
		fmt.Fprintf(os.Stderr, "%s: %s\n", variant, said.Reason)
	}
	return write(said, code)
}

// write gives the code, or that of a failure where whoever asked is gone.
func write(answer any, code int) int {
	if json.NewEncoder(os.Stdout).Encode(answer) != nil {
		return failed
	}
	return code
}

func outcomeOf(spec *runSpec, meter *meter) (outcome, int) {
	said := outcome{
		Protocol: protocol, Run: *spec.Run, Status: "ok",
		Counters: map[string]int64{}, Samples: map[string][]int64{},
	}
	if said.Reason = refusal(spec.Workload); said.Reason != "" {
		said.Status = "unsupported"
		return said, done
	}
	agents, err := run(spec.Workload, meter)
	if err != nil {
		said.Status, said.Reason = "failed", err.Error()
		return said, failed
	}
	said.Counters = meter.counters()
	said.Counters["wall_ns"] = wallNs(agents)
	said.Samples = samples(agents)
	return said, done
}

// run starts all agents at once or each when the one before it is done. The first error ends it.
func run(load *workload, meter *meter) ([]*agent, error) {
	agents := make([]*agent, len(load.Agents))
	ended := make(chan error, len(agents))
	began := nowNs()
	for index, spec := range load.Agents {
		due := began + int64(spec.StartAfterNs)
		agents[index] = &agent{index: index, spec: spec, load: load, meter: meter, dueNs: due}
	}
	for _, one := range agents {
		go func(one *agent) { ended <- one.run() }(one)
		if *load.Arrangement == "solo" {
			if err := <-ended; err != nil {
				return nil, err
			}
		}
	}
	if *load.Arrangement == "solo" {
		return agents, nil
	}
	for range agents {
		if err := <-ended; err != nil {
			return nil, err
		}
	}
	return agents, nil
}

// wallNs is the time from the first agent's start to the last agent's end.
func wallNs(agents []*agent) int64 {
	start, end := agents[0].startNs, agents[0].endNs
	for _, agent := range agents {
		start, end = min(start, agent.startNs), max(end, agent.endNs)
	}
	return end - start
}

// samples are one column a name; agent by agent, call by call, token by token.
func samples(agents []*agent) map[string][]int64 {
	columns := map[string][]int64{"token_received_ns": {}, "token_sent_ns": {}}
	add := func(name string, values ...int64) { columns[name] = append(columns[name], values...) }
	for _, agent := range agents {
		add("agent_due_ns", agent.dueNs)
		add("agent_start_ns", agent.startNs)
		add("agent_end_ns", agent.endNs)
		add("ingest_end_ns", agent.ingestEndNs)
		add("ingest_bytes", agent.ingestBytes)
		for _, reply := range agent.replies {
			add("call_agent", int64(agent.index))
			reply.addTo(add)
		}
	}
	// What nobody was asked to do is not told of.
	isSome := func(name string, than int64) bool {
		return slices.ContainsFunc(columns[name], func(ns int64) bool { return ns != than })
	}
	if !isSome("agent_due_ns", agents[0].dueNs) {
		delete(columns, "agent_due_ns")
	}
	if !isSome("call_dropped_ns", unsaid) {
		delete(columns, "call_dropped_ns")
	}
	return columns
}

func (r *reply) addTo(add func(name string, values ...int64)) {
	firstNs, lastNs := int64(unsaid), int64(unsaid)
	if tokens := len(r.receivedNs); tokens > 0 {
		firstNs, lastNs = r.receivedNs[0], r.receivedNs[tokens-1]
	}
	add("call_start_ns", r.startNs)
	add("call_first_token_ns", firstNs)
	add("call_last_token_ns", lastNs)
	add("call_end_ns", r.endNs)
	add("call_dropped_ns", r.droppedNs)
	add("call_tokens", int64(len(r.receivedNs)))
	add("call_text_hash", int64(xxh64(r.text, 0)))
	add("call_eval_count", orUnsaid(r.said.EvalCount))
	add("call_eval_ns", orUnsaid(r.said.EvalDuration))
	add("call_prompt_eval_count", orUnsaid(r.said.PromptEvalCount))
	add("call_prompt_eval_ns", orUnsaid(r.said.PromptEvalDuration))
	add("call_load_ns", orUnsaid(r.said.LoadDuration))
	add("call_server_total_ns", orUnsaid(r.said.TotalDuration))
	add("token_received_ns", r.receivedNs...)
	add("token_sent_ns", r.sentNs...)
}
