package atelier

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelier/agent"
	"atelier/api"
	"atelier/generate"
	"atelier/journal"
	"atelier/ledger"
	"atelier/media"
	"atelier/run/runtest"
)

// opened opens an Atelier without a server.
func opened(t *testing.T, c Config) *Atelier {
	t.Helper()
	c.Dir = runtest.Folder(t)
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestCostsReachTheMetricsAndTheProgram: a program that receives charges does not disable the metric of costs.
func TestCostsReachTheMetricsAndTheProgram(t *testing.T) {
	t.Parallel()
	var charged atomic.Int64
	c := Config{}
	c.Budget.OnSettle = func(generate.Charge) { charged.Add(1) }
	a := opened(t, c)
	usd := "1.5"
	if err := a.budget.Settle(a.Scoped(t.Context(), "t"), generate.Charge{ID: "c", USD: &usd}); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(a.counts.samples(), func(s api.Sample) bool { return s.Name == "atelier_cost_usd_total" })
	if got := a.counts.samples()[i].Value; got != 1.5 || charged.Load() != 1 {
		t.Errorf("the metric is %v, the program got %d charges", got, charged.Load())
	}
}

// failing is a ledger whose media records cannot be read.
type failing struct{ Ledger }

func (failing) MediaRecord(context.Context, string, string) (ledger.Record, error) {
	return ledger.Record{}, media.Errorf(media.CodeUnavailable, "the database is gone")
}

// TestLongListsAreComplete: the files of a conversation and the media of a run are complete beyond the first page of
// the ledger; a file that cannot be read is an error.
func TestLongListsAreComplete(t *testing.T) {
	t.Parallel()
	a := opened(t, Config{})
	s := servedRuns{&server{Atelier: a}}
	const tree, conversation, message = "0198a000-0000-7000-8000-000000000001", "0198a000-0000-7000-8000-000000000002", "0198a000-0000-7000-8000-000000000003"
	ctx := a.Scoped(t.Context(), tree)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(a.Ledger.CreateRun(ctx, ledger.Run{ID: tree, Tree: tree, Owner: "local", Agent: "sage", Status: ledger.StatusRunning, StartedAt: now()}))
	must(a.Ledger.CreateConversation(ctx, ledger.Conversation{ID: conversation, Owner: "local", Title: "t"}))
	must(a.Ledger.SaveMessage(ctx, "local", ledger.Message{ID: message, ConversationID: conversation, Role: ledger.RoleUser, Text: "t", RunID: tree}))
	stored, err := a.Codec.Store(ctx, strings.NewReader("a,b\n1,2\n"), "text/csv")
	must(err)
	var items []media.Output
	must(a.Ledger.InTransaction(ctx, func(ctx context.Context) error {
		items = nil
		for i := range ledger.MaxLimit + 1 {
			b := stored
			b.Digest = media.DigestOf(binary.BigEndian.AppendUint64(nil, uint64(i)))
			o := media.NewOutput(b, media.Meta{FileName: "t.csv"})
			o.Origin = media.Origin{Direction: "input", Source: "upload"}
			o, err := a.Ledger.Record(ctx, o)
			if err != nil {
				return err
			}
			items = append(items, o)
		}
		return nil
	}))
	if warnings, err := a.Ledger.Attach(ctx, "local", message, items); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if files, err := s.earlierFiles(ctx, conversation); err != nil || len(files) != len(items) {
		t.Errorf("%d files of %d, %v", len(files), len(items), err)
	}
	if r, err := s.Run(ctx, tree); err != nil || len(r.Media) != len(items) {
		t.Errorf("%d items of %d, %v", len(r.Media), len(items), err)
	}
	a.Ledger = failing{a.Ledger}
	if files, err := s.earlierFiles(ctx, conversation); media.CodeOf(err) != media.CodeUnavailable {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// TestAConfiguredDatabaseMakesItsAgentReady: an agent is ready if the sources of the configuration, which every run can
// read, are those that it requires.
func TestAConfiguredDatabaseMakesItsAgentReady(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"", "sales.db"} {
		all, err := servedCatalog{&Atelier{Stores: &Stores{Config: Config{Sources: Sources{Database: database}}}}}.Agents(t.Context())
		i := slices.IndexFunc(all, func(a api.Agent) bool { return a.Slug == "database-research-agent" })
		if err != nil || i < 0 || all[i].Ready != (database != "") {
			t.Errorf("with %q: %+v, %v", database, all, err)
		}
	}
}

// unattached is a ledger that saves no attachments.
type unattached struct{ Ledger }

func (unattached) Attach(context.Context, string, string, []media.Output) ([]string, error) {
	return nil, media.Errorf(media.CodeUnavailable, "the database is gone")
}

// TestAFailedForkLeavesNoConversation: a fork that fails halfway leaves no incomplete conversation.
func TestAFailedForkLeavesNoConversation(t *testing.T) {
	t.Parallel()
	a := opened(t, Config{})
	ctx, s := t.Context(), servedConversations{a}
	id, message := newID(), newID()
	if err := a.Ledger.CreateConversation(ctx, ledger.Conversation{ID: id, Owner: "local", Title: "t"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Ledger.SaveMessage(ctx, "local", ledger.Message{ID: message, ConversationID: id, Role: ledger.RoleUser, Text: "t", RunID: newID()}); err != nil {
		t.Fatal(err)
	}
	a.Ledger = unattached{a.Ledger}
	if _, err := s.ForkConversation(ctx, id, api.ForkConversation{After: message}); media.CodeOf(err) != media.CodeUnavailable {
		t.Error(err)
	}
	if l, err := s.ListConversations(ctx, api.ConversationQuery{}); err != nil || len(l.Items) != 1 {
		t.Errorf("%+v, %v", l.Items, err)
	}
}

// unclear is a ledger in which the existence of a run cannot be read.
type unclear struct{ Ledger }

func (unclear) HasRun(context.Context, string) (bool, error) {
	return false, media.Errorf(media.CodeUnavailable, "the database is gone")
}

// TestAnUnclearOwnerIsNotForeign: while the owner of a run cannot be read, the run is not taken for another owner's,
// which the streams would remember; an unknown run is.
func TestAnUnclearOwnerIsNotForeign(t *testing.T) {
	t.Parallel()
	a := opened(t, Config{})
	s := servedEvents{Atelier: a, streamOwner: "ada", multiTenant: true}
	if _, err := s.ConversationOf(t.Context(), newID()); media.CodeOf(err) != media.CodeNotFound {
		t.Error(err)
	}
	a.Ledger = unclear{a.Ledger}
	if _, err := s.ConversationOf(t.Context(), newID()); media.CodeOf(err) != media.CodeUnavailable {
		t.Error(err)
	}
}

// TestAProviderIsReadyIfItsModelsAre: a provider is ready if its chat models or its media models are, whichever
// variables they need.
func TestAProviderIsReadyIfItsModelsAre(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		c    Config
		want bool
	}{
		{Config{}, false},
		{Config{Keys: map[string]string{"midjourney": "s"}}, false},
		{Config{BaseURLs: map[string]string{"midjourney": "http://127.0.0.1:1"}}, true},
	} {
		s := servedCatalog{opened(t, row.c)}
		all, err := s.Providers(t.Context())
		i := slices.IndexFunc(all, func(p api.Provider) bool { return p.Name == "midjourney" })
		models, failed := s.Models(t.Context())
		j := slices.IndexFunc(models, func(m api.Model) bool { return m.Provider == "midjourney" })
		if err != nil || failed != nil || all[i].Ready != models[j].Ready || all[i].Ready != row.want {
			t.Errorf("%v: %+v, %+v", row.c.Keys, all[i], models[j])
		}
		if h, err := s.Health(t.Context()); err != nil || h.Offline == row.want {
			t.Errorf("%v: %+v, %v", row.c.Keys, h, err)
		}
	}
}

// TestModelNamesAreTrimmed: spaces and line ends around the models in the environment do not count, as in the other
// variables.
func TestModelNamesAreTrimmed(t *testing.T) {
	t.Parallel()
	c, err := ConfigFromEnv(func(name string) string {
		return map[string]string{"ATELIER_DATA": "data", "ATELIER_IMAGE_MODEL": "GPT Image 2\r", "ATELIER_CHAT_MODEL": " "}[name]
	})
	if err != nil || c.ImageModel != "GPT Image 2" || c.ChatModel != "" {
		t.Errorf("%q, %q, %v", c.ImageModel, c.ChatModel, err)
	}
}

// TestAStoppedServerHasNoConnections: when Serve returns, a request that outlasted the grace period has no connection
// any more.
func TestAStoppedServerHasNoConnections(t *testing.T) {
	t.Parallel()
	a := opened(t, Config{Adopt: true})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, ServeConfig{Listener: l, Grace: 200 * time.Millisecond}) }()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "POST /api/media HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, err := c.Read(b); err != nil || !strings.HasPrefix(string(b[:n]), "HTTP/1.1 100") { // the upload is being read
		t.Fatalf("%q, %v", b[:n], err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection is still open")
	}
}

// TestAStoppingServerSaysSo: what a request can no longer start because the server stops can be sent again.
func TestAStoppingServerSaysSo(t *testing.T) {
	t.Parallel()
	a := opened(t, Config{Adopt: true})
	service, err := a.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	work, leave := context.WithCancelCause(t.Context())
	s := newServer(a, service)
	c := s.api(work, ServeConfig{}, &hubs{server: s, ctx: t.Context(), all: map[string]*api.Hub{}})
	leave(journal.HandOver(0))
	a.runs.handOver(t.Context())
	_, generation := c.Generations.StartGeneration(t.Context(), newID(), api.NewGeneration{Prompt: "a boat"})
	_, run := c.Runs.StartRun(t.Context(), newID(), api.NewRun{Agent: "sage", Message: "Hello"})
	_, cancelled := c.Runs.CancelRun(t.Context(), newID())
	for _, err := range []error{generation, run, cancelled} {
		if media.CodeOf(err) != media.CodeUnavailable || !media.Retryable(err) || !strings.Contains(err.Error(), "the server is stopping") {
			t.Errorf("%v", err)
		}
	}
}

// TestAStoppingServerDoesNotBlock: while running steps may continue, new calls are refused at once.
func TestAStoppingServerDoesNotBlock(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	stuck := func(context.Context, *agent.Context) (agent.Answer, error) {
		close(started)
		<-release
		return agent.Answer{}, nil
	}
	a := opened(t, Config{Adopt: true, GoAgents: map[string]agent.GoAgent{"stuck": stuck}})
	if _, err := a.Start(t.Context(), Request{Request: agent.Request{Agent: "stuck", Message: "Wait."}}); err != nil {
		t.Fatal(err)
	}
	<-started
	handedOver, refused := make(chan struct{}), make(chan error, 1)
	go func() {
		a.runs.handOver(t.Context())
		close(handedOver)
	}()
	go func() {
		for {
			if _, err := a.Runs(t.Context()); err != nil {
				refused <- err
				return
			}
		}
	}()
	select {
	case err := <-refused:
		if media.CodeOf(err) != media.CodeUnavailable {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("a call waits for the running step")
	}
	close(release)
	<-handedOver
}

// TestAttemptsAtOnceStartOneRun: of several attempts to start a run with one id, as after the death of a process, each
// gets the run, and the person's message is saved once.
func TestAttemptsAtOnceStartOneRun(t *testing.T) {
	t.Parallel()
	c := services(t)
	ctx := t.Context()
	for range 5 {
		id := newID()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if r, err := c.Runs.StartRun(ctx, id, api.NewRun{Agent: "sage", Message: "Draw a boat, 64x64", ConversationID: "new"}); err != nil || r.ID != id {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		all.Wait()
	}
	if list, err := c.Conversations.ListConversations(ctx, api.ConversationQuery{}); err != nil || len(list.Items) != 5 {
		t.Errorf("%d conversations, %v", len(list.Items), err)
	}
}
