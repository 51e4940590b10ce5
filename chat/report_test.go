package chat_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier/chat"
	"atelier/chat/bedrock"
	"atelier/chat/chattest"
	"atelier/media"
	"atelier/media/wire"
)

// serviceBench is one service of the table with its simulator and its own clock.
type serviceBench struct {
	t       *testing.T
	service chattest.Service
	sim     *chattest.Simulator
	codec   *wire.Codec
	chat    *chat.Registry
	mu      sync.Mutex // guards waits
	waits   []time.Duration
}

func newServiceBench(t *testing.T, s chattest.Service) *serviceBench {
	t.Helper()
	b := &serviceBench{t: t, service: s, sim: &chattest.Simulator{Picture: pngOf(t, noise(20, 10, 4))}}
	server := httptest.NewServer(b.sim)
	t.Cleanup(server.Close)
	provider, _, _ := strings.Cut(s.Model, "/")
	b.chat = newRegistry(t, func(c *config) {
		c.Keys[provider], c.BaseURLs[provider], b.codec = "sk-test", server.URL+s.Path, c.Codec
		c.Openers = map[string]chat.Opener{"bedrock": bedrock.Opener(bedrock.Config{Region: "us-east-1", AccessKeyID: "a", SecretAccessKey: "b", BaseURL: server.URL, Codec: c.Codec})}
		c.Now = func() time.Time { return time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC) }
		c.Retry.Now = func() time.Time { return c.Now().Add(b.slept()) }
		c.Retry.Sleep = func(_ context.Context, d time.Duration) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.waits = append(b.waits, d)
			return nil
		}
		var err error
		if c.Profiles, err = chat.LoadProfiles(strings.NewReader("models:\n  - {provider: openai, id: seeing, supports_vision: true}\n  - {provider: openai, id: painting, supports_vision: true, image_output: true}\n")); err != nil {
			t.Fatal(err)
		}
	})
	return b
}

func (b *serviceBench) slept() (sum time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.waits {
		sum += d
	}
	return sum
}

// ask calls a model, with a picture if o is not nil.
func (b *serviceBench) ask(model string, o *media.Output) (chat.Response, error) {
	b.t.Helper()
	m := chat.Message{Role: chat.RoleUser, Parts: []chat.Part{{Text: strings.Repeat("what is this? ", 20)}}}
	if o != nil {
		m.Parts = append(m.Parts, chat.Part{Media: o})
	}
	r := chat.Request{System: "Answer in JSON.", Messages: []chat.Message{m}}
	if b.service.Streams {
		r.OnText = func(string) {}
	}
	return named(b.t, b.chat, model).Generate(scoped(b.t), r)
}

// rows are those of the table. Each plays a service and returns the number of shapes it played, or the reason for none.
var rows = []struct {
	name string
	play func(t *testing.T, s chattest.Service) (shapes int, absent string)
}{
	{"text", playText},
	{"picture in", playPictureIn},
	{"picture out", playPictureOut},
	{"refusal", failing(chattest.SituationRefusal, checkRefusal)},
	{"rate limit per minute", failing(chattest.SituationMinute, checkMinute)},
	{"rate limit per day", failing(chattest.SituationDay, checkDay)},
	{"context length", failing(chattest.SituationContext, checkOnce(media.CodeContextLength))},
	{"credit", failing(chattest.SituationCredit, checkOnce(media.CodeQuotaExceeded))},
	{"overload", failing(chattest.SituationOverload, checkOverload)},
	{"error in 200", failing(chattest.SituationErrorIn200, func(t *testing.T, b *serviceBench, s chattest.Shape) {
		t.Helper()
		checkOnce(media.Code(s.Code))(t, b, s)
	})},
	{"unknown id of a known family", playUnknown},
}

func playText(t *testing.T, s chattest.Service) (int, string) {
	t.Helper()
	b := newServiceBench(t, s)
	b.sim.Answer = func(chattest.Request) string { return `{"say":"yes"}` }
	res, err := b.ask(s.Model, nil)
	if err != nil || res.Text != `{"say":"yes"}` || res.Usage.OutputTokens == 0 || res.FinishReason != "stop" {
		t.Errorf("%+v, %v", res, err)
	}
	return 1, ""
}

func playPictureIn(t *testing.T, s chattest.Service) (int, string) {
	t.Helper()
	b := newServiceBench(t, s)
	checkShown(t, b, s.Model)
	return 1, ""
}

// checkShown shows a picture to a model and checks what arrived.
func checkShown(t *testing.T, b *serviceBench, model string) {
	t.Helper()
	o := store(t, b.codec, pngOf(t, noise(30, 20, 1)))
	if _, err := b.ask(model, &o); err != nil {
		t.Fatal(err)
	}
	got := b.sim.Requests()
	last := got[len(got)-1].Messages
	if images := last[len(last)-1].Images; len(images) != 1 || images[0].SHA256 != o.Digest.Hex() {
		t.Errorf("%s was shown %+v", model, images)
	}
}

func playPictureOut(t *testing.T, s chattest.Service) (int, string) {
	t.Helper()
	if s.Paints == "" {
		return 0, s.NoPaint
	}
	b := newServiceBench(t, s)
	res, err := b.ask(s.Paints, nil)
	if err != nil || len(res.Media) != 1 || res.Media[0].Width != 20 {
		t.Errorf("%+v, %v", res, err)
	}
	// If no figure includes the picture's price, the cost is incomplete or unknown.
	if !res.CostReported && res.CostUSD != nil && !res.CostIncomplete && res.Usage.ImageTokens == 0 {
		t.Errorf("the picture is said to cost %s, and that to be all", *res.CostUSD)
	}
	return 1, ""
}

// failing plays every shape of a situation on its own bench.
func failing(of chattest.Situation, check func(*testing.T, *serviceBench, chattest.Shape)) func(*testing.T, chattest.Service) (int, string) {
	return func(t *testing.T, s chattest.Service) (int, string) {
		t.Helper()
		shapes := s.Shapes[of]
		if (len(shapes) == 0) != (s.Absent[of] != "") {
			t.Errorf("%d shapes, and the reason for none is %q", len(shapes), s.Absent[of])
		}
		for i, shape := range shapes {
			t.Run(fmt.Sprint(i+1), func(t *testing.T) { check(t, newServiceBench(t, s), shape) })
		}
		return len(shapes), s.Absent[of]
	}
}

// checkWholeMessage checks that the provider's message reaches the person unchanged.
func checkWholeMessage(t *testing.T, err error, s chattest.Shape) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), s.Says) || media.ErrorText(err.Error()) != err.Error() {
		t.Errorf("%q is not in %v", s.Says, err)
	}
}

func checkOnce(code media.Code) func(*testing.T, *serviceBench, chattest.Shape) {
	return func(t *testing.T, b *serviceBench, s chattest.Shape) {
		t.Helper()
		b.sim.Play(s, s, s, s)
		res, err := b.ask(b.service.Model, nil)
		if n := len(b.sim.Requests()); media.CodeOf(err) != code || media.Retryable(err) || n != 1 || len(b.waits) > 0 {
			t.Errorf("%d calls, %s, retryable %t, want one and %s: %v", n, media.CodeOf(err), media.Retryable(err), code, err)
		}
		if s.Billed && res.Usage.OutputTokens != 9 {
			t.Errorf("the refusal was billed, and counts as %+v", res.Usage)
		}
		checkWholeMessage(t, err, s)
	}
}

func checkRefusal(t *testing.T, b *serviceBench, s chattest.Shape) {
	t.Helper()
	checkOnce(media.CodeModerated)(t, b, s)
}

// checkMinute: the call waits as long as the answer requests, and is then repeated.
func checkMinute(t *testing.T, b *serviceBench, s chattest.Shape) {
	t.Helper()
	b.sim.Play(s)
	if _, err := b.ask(b.service.Model, nil); err != nil || len(b.sim.Requests()) != 2 {
		t.Fatalf("%d calls, %v", len(b.sim.Requests()), err)
	}
	if s.Wait != "" {
		want, err := time.ParseDuration(s.Wait)
		if got := b.slept(); err != nil || got < want || got > want+time.Second {
			t.Errorf("waited %s, asked for %s", got, s.Wait)
		}
	}
	again := newServiceBench(t, b.service)
	again.sim.Play(s, s, s, s)
	_, err := again.ask(b.service.Model, nil)
	if n := len(again.sim.Requests()); media.CodeOf(err) != media.CodeRateLimited || n != 4 {
		t.Errorf("for ever: %d calls, %v", n, err)
	}
	checkWholeMessage(t, err, s)
}

// checkDay: the requested wait is observed at most once; after that the quota is exhausted for the run.
func checkDay(t *testing.T, b *serviceBench, s chattest.Shape) {
	t.Helper()
	b.sim.Play(s, s, s, s)
	_, err := b.ask(b.service.Model, nil)
	calls := 1
	if s.Wait != "" {
		calls = 2
		if want, _ := time.ParseDuration(s.Wait); b.slept() < want { // a constant of the table
			t.Errorf("waited %s, asked for %s", b.slept(), s.Wait)
		}
	}
	if n := len(b.sim.Requests()); media.CodeOf(err) != media.CodeQuotaExceeded || media.Retryable(err) || n != calls {
		t.Errorf("%d calls, want %d: %s: %v", n, calls, media.CodeOf(err), err)
	}
	checkWholeMessage(t, err, s)
}

func checkOverload(t *testing.T, b *serviceBench, s chattest.Shape) {
	t.Helper()
	b.sim.Play(s)
	if _, err := b.ask(b.service.Model, nil); err != nil || len(b.sim.Requests()) != 2 {
		t.Errorf("%d calls, %v", len(b.sim.Requests()), err)
	}
	again := newServiceBench(t, b.service)
	again.sim.Play(s, s, s, s)
	_, err := again.ask(b.service.Model, nil)
	if n := len(again.sim.Requests()); media.CodeOf(err) != media.CodeUnavailable || n != 4 {
		t.Errorf("for ever: %d calls, %v", n, err)
	}
	checkWholeMessage(t, err, s)
}

// playUnknown: an id that no row names receives a picture, and the choice says how the id is treated.
func playUnknown(t *testing.T, s chattest.Service) (int, string) {
	t.Helper()
	if s.New == "" {
		return 0, "its models are of no family that is known"
	}
	b := newServiceBench(t, s)
	checkShown(t, b, s.New)
	c, err := b.chat.Choose(t.Context(), []string{s.New})
	if err != nil || len(c.Changes) != 1 || !strings.Contains(c.Changes[0].Reason, "of the family") {
		t.Errorf("%+v, %v", c.Changes, err)
	}
	return 1, ""
}

// chatHeading starts the part of docs/conformance.md that this test writes.
const chatHeading = "\n## Chat providers\n"

// TestChatReport plays every service in every situation, and checks that the table of chat providers in
// docs/conformance.md matches what passed. go test ./chat -run ChatReport -update writes the table.
func TestChatReport(t *testing.T) { //nolint:tparallel // the subtests' results are counted
	t.Parallel()
	services := chattest.Services()
	var reasons []string
	var b strings.Builder
	b.WriteString(chatHeading + `
What ` + "`TestChatReport`" + ` in package ` + "`chat`" + ` requires of chat models, tested with a simulator that answers as each service does
(` + "`chattest.Services`" + `). A tick with a number means that this many forms passed; a number in brackets is a reason below. A refusal, an exceeded
context length, used-up credit, and an error in an answer with status 200 end the call without a retry. A requested wait is observed; for a daily
quota, at most once. Each form is tested as one answer and, where it has status 200, also as server-sent events of its protocol.
` + "`make generate`" + ` does not write this table; ` + "`go test ./chat -run ChatReport -update`" + ` writes it.

| `)
	for _, s := range services {
		b.WriteString(" | " + s.Name)
	}
	b.WriteString(" |\n| ---" + strings.Repeat(" | :-:", len(services)) + " |\n")
	for _, row := range rows {
		b.WriteString("| " + row.name)
		played := 0
		for _, s := range services {
			shapes, absent := 0, ""
			passed := t.Run(row.name+"/"+s.Name, func(t *testing.T) { shapes, absent = row.play(t, s) })
			s.Streams = true
			passed = t.Run(row.name+"/"+s.Name+", streamed", func(t *testing.T) { row.play(t, s) }) && passed
			if !passed {
				shapes, absent = 0, "it failed"
			}
			played += shapes
			b.WriteString(" | " + chatCell(shapes, absent, &reasons))
		}
		b.WriteString(" |\n")
		if played == 0 {
			t.Errorf("no service plays %q", row.name)
		}
	}
	b.WriteString("\n")
	for i, r := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, r)
	}
	checkChatReport(t, b.String())
}

func chatCell(shapes int, absent string, reasons *[]string) string {
	switch {
	case shapes == 1:
		return "✓"
	case shapes > 1:
		return fmt.Sprintf("✓ %d", shapes)
	}
	if !slices.Contains(*reasons, absent) {
		*reasons = append(*reasons, absent)
	}
	return fmt.Sprintf("[%d]", 1+slices.Index(*reasons, absent))
}

func checkChatReport(t *testing.T, want string) {
	t.Helper()
	const file = "../docs/conformance.md"
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, now, _ := strings.Cut(string(have), chatHeading)
	if *update && !t.Failed() {
		now = strings.TrimPrefix(want, chatHeading)
		if err := os.WriteFile(file, []byte(strings.TrimRight(before, "\n")+"\n"+want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if chatHeading+now != want {
		t.Errorf("the table of chat providers in docs/conformance.md is not what was played: go test ./chat -run ChatReport -update")
	}
}
