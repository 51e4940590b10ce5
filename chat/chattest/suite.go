package chattest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/chat"
	"atelier/media"
	"atelier/media/wire"
)

// Subject is a model under test, connected to a simulator of its service.
type Subject struct {
	// Model accepts pictures. Blind is a model of the same provider that does not.
	Model, Blind chat.Model
	Service      *Simulator
	Codec        *wire.Codec
}

// Run is the conformance test suite. It has subtests for each clause of the contract of chat.Model: not streamed,
// streamed, and with a service without streams. It calls open once for each subtest.
func Run(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	clauses := map[string]func(*testing.T, Subject){
		"answers with text and usage":            answers,
		"keeps roles and order":                  keepsOrder,
		"asks for JSON where a schema is given":  asksForJSON,
		"sends a picture byte for byte":          sendsPicture,
		"refuses pictures that it cannot take":   refusesPicture,
		"gives each failure its code":            codes,
		"repeats what was refused, not billed":   repeats,
		"honours cancellation":                   cancels,
		"shows no media in errors":               errorsHoldNoMedia,
		"is safe for concurrent use":             concurrent,
		"shows no token in its answer":           replacesTokens,
		"refuses a picture of another run":       refusesForeign,
		"names a price or says that none is set": prices,
		"gives its text while it is written":     givesText,
	}
	for name, clause := range clauses {
		for i, how := range []string{"", ", streamed", ", by a service without streams"} {
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()
				s := open(t)
				if s.Service.NoStreams = i == 2; i > 0 {
					s.Model, s.Blind = streaming{s.Model}, streaming{s.Blind}
				}
				clause(t, s)
			})
		}
	}
}

// streaming is a model that receives the text of every answer as it is written.
type streaming struct{ chat.Model }

// Generate implements [chat.Model].
func (m streaming) Generate(ctx context.Context, r chat.Request) (chat.Response, error) {
	if r.OnText == nil {
		r.OnText = func(string) {}
	}
	return m.Model.Generate(ctx, r)
}

// givesText makes the service pause in the middle of an answer until the text so far has arrived.
func givesText(t *testing.T, s Subject) {
	t.Helper()
	const answer = `{"message":"Grüße aus Köln 🎨","done":true}`
	s.Service.Answer = func(Request) string { return answer }
	started := make(chan struct{})
	s.Service.Between = func() {
		select {
		case <-started:
		case <-time.After(50 * time.Millisecond): // nothing may arrive before the end
		}
	}
	r := question("Hello")
	text := ""
	r.OnText = func(piece string) {
		if text == "" {
			close(started)
		}
		text += piece
	}
	res, err := s.Model.Generate(scope(t), r)
	if err != nil {
		t.Fatal(err)
	}
	if res.Text != answer || text != "" && text != answer {
		t.Errorf("answer %q, while it was written %q", res.Text, text)
	}
	if res.Usage.OutputTokens == 0 || res.FinishReason != "stop" {
		t.Errorf("answer %+v", res)
	}
}

func scope(t *testing.T) context.Context {
	t.Helper()
	return media.WithScope(t.Context(), media.Scope{Owner: "local", Tree: "tree-1"})
}

func question(text string) chat.Request {
	return chat.Request{System: "Answer in JSON.", Messages: []chat.Message{chat.Text(chat.RoleUser, text)}}
}

// picture stores random bytes that begin like a PNG.
func picture(t *testing.T, c *wire.Codec) ([]byte, media.Output) {
	t.Helper()
	b := make([]byte, 70_001)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // it never fails
	copy(b, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\x00\x00\x00\x04\x00\x08\x06\x00\x00\x00")
	blob, err := c.Store(scope(t), bytes.NewReader(b), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	return b, media.NewOutput(blob, media.Meta{FileName: "canary.png"})
}

func withPicture(o media.Output) chat.Request {
	r := question("What is this?")
	r.Messages[0].Parts = append(r.Messages[0].Parts, chat.Part{Media: &o})
	return r
}

func answers(t *testing.T, s Subject) {
	t.Helper()
	s.Service.Answer = func(Request) string { return `{"done":true}` }
	res, err := s.Model.Generate(scope(t), question("Hello"))
	if err != nil {
		t.Fatal(err)
	}
	if res.Text != `{"done":true}` || res.FinishReason != "stop" || res.Usage.InputTokens == 0 || res.Usage.OutputTokens == 0 || res.Model == "" {
		t.Errorf("answer %+v", res)
	}
}

func keepsOrder(t *testing.T, s Subject) {
	t.Helper()
	r := question("one")
	r.Messages = append(r.Messages, chat.Text(chat.RoleAssistant, "two"), chat.Text(chat.RoleUser, "three"))
	if _, err := s.Model.Generate(scope(t), r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range s.Service.Requests()[0].Messages {
		got = append(got, m.Role+":"+m.Text)
	}
	if want := "system:Answer in JSON. user:one assistant:two user:three"; strings.Join(got, " ") != want {
		t.Errorf("service received %q, want %q", got, want)
	}
}

func asksForJSON(t *testing.T, s Subject) {
	t.Helper()
	r := question("Hello")
	if _, err := s.Model.Generate(scope(t), r); err != nil {
		t.Fatal(err)
	}
	r.Schema, r.SchemaName = json.RawMessage(`{"type":"object"}`), "step"
	if _, err := s.Model.Generate(scope(t), r); err != nil {
		t.Fatal(err)
	}
	got := s.Service.Requests()
	if got[0].JSONMode || got[1].JSONMode != s.Model.Profile().StructuredOutput {
		t.Errorf("JSON mode %v without and %v with a schema", got[0].JSONMode, got[1].JSONMode)
	}
}

func sendsPicture(t *testing.T, s Subject) {
	t.Helper()
	b, o := picture(t, s.Codec)
	if _, err := s.Model.Generate(scope(t), withPicture(o)); err != nil {
		t.Fatal(err)
	}
	req := s.Service.Requests()[0]
	last := req.Messages[len(req.Messages)-1]
	if len(last.Images) != 1 || last.Images[0].SHA256 != media.DigestOf(b).Hex() || last.Images[0].MIMEType != "image/png" {
		t.Errorf("service received %+v", last)
	}
	if req.ContentLength != req.Bytes {
		t.Errorf("announced %d bytes, sent %d", req.ContentLength, req.Bytes)
	}
}

func refusesPicture(t *testing.T, s Subject) {
	t.Helper()
	_, o := picture(t, s.Codec)
	_, err := s.Blind.Generate(scope(t), withPicture(o))
	if media.CodeOf(err) != media.CodeUnsupported || !strings.Contains(err.Error(), s.Blind.Profile().Name) {
		t.Errorf("got %v", err)
	}
	if n := len(s.Service.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func refusesForeign(t *testing.T, s Subject) {
	t.Helper()
	_, o := picture(t, s.Codec)
	o.Digest = media.DigestOf([]byte("bytes that are not stored"))
	if _, err := s.Model.Generate(scope(t), withPicture(o)); err == nil {
		t.Error("a picture that is not stored was accepted")
	}
	if n := len(s.Service.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func codes(t *testing.T, s Subject) {
	t.Helper()
	for fault, want := range map[Fault]media.Code{
		FaultBadKey: media.CodeUnauthorized, FaultForbidden: media.CodeForbidden, FaultNoModel: media.CodeNotFound,
		FaultContextLength: media.CodeContextLength, FaultQuota: media.CodeQuotaExceeded,
	} {
		s.Service.Fail(fault)
		_, err := s.Model.Generate(scope(t), question("Hello"))
		if media.CodeOf(err) != want || media.Retryable(err) {
			t.Errorf("fault %s: got %s, retryable %v: %v", fault, media.CodeOf(err), media.Retryable(err), err)
		}
	}
	for fault, want := range map[Fault]media.Code{FaultServer: media.CodeUnavailable, FaultHTML: media.CodeUnavailable, FaultRateLimit: media.CodeRateLimited} {
		s.Service.Fail(fault, fault, fault, fault, fault, fault)
		_, err := s.Model.Generate(scope(t), question("Hello"))
		if media.CodeOf(err) != want {
			t.Errorf("fault %s for ever: got %s: %v", fault, media.CodeOf(err), err)
		}
		s.Service.ClearFaults()
	}
	s.Service.Fail(FaultHalfBody)
	before := len(s.Service.Requests())
	if _, err := s.Model.Generate(scope(t), question("Hello")); err == nil || media.Retryable(err) {
		t.Errorf("half a body: got %v", err)
	}
	if n := len(s.Service.Requests()) - before; n != 1 {
		t.Errorf("half a body was billed, and asked for %d times", n)
	}
}

func repeats(t *testing.T, s Subject) {
	t.Helper()
	s.Service.Answer = func(Request) string { return "third time" }
	s.Service.Fail(FaultRateLimit, FaultServer)
	res, err := s.Model.Generate(scope(t), question("Hello"))
	if err != nil || res.Text != "third time" {
		t.Fatalf("got %q, %v", res.Text, err)
	}
	if n := len(s.Service.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func cancels(t *testing.T, s Subject) {
	t.Helper()
	s.Service.Fail(FaultHang)
	ctx, cancel := context.WithTimeout(scope(t), 50*time.Millisecond)
	defer cancel()
	_, err := s.Model.Generate(ctx, question("Hello"))
	if c := media.CodeOf(err); c != media.CodeDeadline && c != media.CodeCancelled {
		t.Errorf("got %s: %v", c, err)
	}
}

func errorsHoldNoMedia(t *testing.T, s Subject) {
	t.Helper()
	b, o := picture(t, s.Codec)
	s.Service.Fail(FaultEcho)
	_, err := s.Model.Generate(scope(t), withPicture(o))
	if err == nil {
		t.Fatal("no error")
	}
	text := base64.StdEncoding.EncodeToString(b)
	for i := 0; i+48 <= 4000; i += 16 {
		if strings.Contains(err.Error(), text[i:i+48]) {
			t.Fatalf("the error shows base64 from offset %d: %.300s", i, err)
		}
	}
}

func concurrent(t *testing.T, s Subject) {
	t.Helper()
	_, o := picture(t, s.Codec)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.Model.Generate(scope(t), withPicture(o)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func replacesTokens(t *testing.T, s Subject) {
	t.Helper()
	_, o := picture(t, s.Codec)
	token := s.Codec.Token("tree-1", o.Blob, wire.VariantStd)
	s.Service.Answer = func(Request) string { return "look: " + token }
	res, err := s.Model.Generate(scope(t), question("Hello"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "look: " + o.Ref.Placeholder(); res.Text != want {
		t.Errorf("got %q, want %q", res.Text, want)
	}
}

func prices(t *testing.T, s Subject) {
	t.Helper()
	res, err := s.Model.Generate(scope(t), question("Hello"))
	if err != nil {
		t.Fatal(err)
	}
	p := s.Model.Profile()
	if known := p.InputUSD != "" && p.OutputUSD != ""; known != (res.CostUSD != nil) {
		t.Errorf("prices %q and %q, cost %v", p.InputUSD, p.OutputUSD, res.CostUSD)
	}
}
