package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// maxHead bounds the head of a response, in bytes.
const maxHead = 64 << 10

var (
	errStalled = errors.New("stalled: the server sent nothing for the stall timeout")
	errClosed  = errors.New("the connection was closed inside the reply")
)

// client is an agent's, which keeps its connection from call to call where the server does.
type client struct {
	url   string
	stall time.Duration
	http  http.Client
	// What a reply is read into.
	buffer []byte
}

func newClient(server string, stall time.Duration) *client {
	// Nobody else is asked: no proxy of the environment, no address that a server names. What a
	// server packs unasked is no reply.
	transport := &http.Transport{DisableCompression: true, MaxResponseHeaderBytes: maxHead}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{
		url:    strings.TrimRight(server, "/") + "/api/generate",
		stall:  stall,
		http:   http.Client{Transport: transport, CheckRedirect: stay},
		buffer: make([]byte, 64<<10),
	}
}

// post does one call. Every failure is a sentence.
func (c *client) post(body []byte, into *reply) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	watch := newWatch(c.stall, func() { cancel(errStalled) })
	defer watch.end()
	// Asking for an address is none of the server's silence.
	trace := &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { watch.isPaused.Store(true) },
		DNSDone: func(httptrace.DNSDoneInfo) {
			watch.heard()
			watch.isPaused.Store(false)
		},
	}
	ctx = httptrace.WithClientTrace(ctx, trace)
	request, err := http.NewRequestWithContext(ctx, "POST", c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	// A server may close an idle connection while the next request is on its way. Without a value
	// this is not sent; it lets net/http send that one request again on a fresh connection.
	request.Header["Idempotency-Key"] = nil
	response, err := c.http.Do(request)
	if err != nil {
		return sentence(ctx, err)
	}
	defer response.Body.Close()
	watch.heard()
	into.status = response.StatusCode
	return c.read(ctx, response.Body, watch, into)
}

func (c *client) read(ctx context.Context, body io.Reader, watch *watch, into *reply) error {
	for {
		length, err := body.Read(c.buffer)
		receivedNs := nowNs()
		if length > 0 {
			watch.heard()
			if err := into.feed(c.buffer[:length], receivedNs); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return into.finish(nowNs())
		}
		if err != nil {
			return sentence(ctx, err)
		}
	}
}

// sentence says in the words of the family what net/http says in its own.
func sentence(ctx context.Context, err error) error {
	// The address is said already.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	says := func(words string) bool { return strings.Contains(err.Error(), words) }
	switch {
	case errors.Is(context.Cause(ctx), errStalled):
		return errStalled
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errClosed
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("connection reset by the server")
	case says("transport connection broken"), says("malformed"), says("chunk"):
		return fmt.Errorf("the response is not HTTP/1.1: %w", err)
	}
	return fmt.Errorf("cannot talk to the server: %w", err)
}

// watch is one timer a call and none a token: a deadline only ever moves away, so the timer is
// early at worst, and then it is set again.
type watch struct {
	stall    time.Duration
	heardNs  atomic.Int64
	isPaused atomic.Bool
	isLate   bool
	timer    *time.Timer
	stalled  func()
}

// grace is for bytes that lie there already, where this process was not given time to read them.
const grace = 20 * time.Millisecond

func newWatch(stall time.Duration, stalled func()) *watch {
	w := &watch{stall: stall, stalled: stalled}
	w.heard()
	armed := make(chan struct{})
	w.timer = time.AfterFunc(stall, func() {
		<-armed
		w.look()
	})
	close(armed)
	return w
}

func (w *watch) heard() { w.heardNs.Store(nowNs()) }

func (w *watch) end() { w.timer.Stop() }

func (w *watch) look() {
	left := w.stall - time.Duration(nowNs()-w.heardNs.Load())
	switch {
	case w.isPaused.Load():
		w.timer.Reset(w.stall)
	case left > 0:
		w.isLate = false
		w.timer.Reset(left)
	case !w.isLate:
		w.isLate = true
		w.timer.Reset(grace)
	default:
		w.stalled()
	}
}
