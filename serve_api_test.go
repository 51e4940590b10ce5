package atelier_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier"
	"atelier/agent"
	"atelier/api"
	"atelier/media"
	"atelier/run/runtest"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

// TestAFileBecomesAReport: an uploaded file becomes a report over HTTP alone; a second question in the conversation
// uses the file without sending it again.
func TestAFileBecomesAReport(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	table := s.upload("co2 concentration.csv", read(t, filepath.Join("examples", "energy", "co2-concentration.csv")))
	if table.Modality != "document" || table.MIMEType != "text/csv" || table.URL != "/media/"+table.ID {
		t.Errorf("stored as %+v", table)
	}
	began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{
		Agent: "research-agent", Message: "How much did the mean CO2 rise from 1959 to 2019?", ConversationID: "new", Files: []api.RunFile{{MediaID: table.ID}},
	}))
	if list := s.do(http.MethodGet, "/api/runs", nil); list.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", list.header)
	}
	if began.Status != "running" || began.ConversationID == "" {
		t.Fatalf("%+v", began)
	}
	all := s.follow("/api/runs/"+began.ID+"/events?after=0", endsRun(began.ID))
	first, last := all[0], all[len(all)-1]
	if first.kind != "run-started" || last.kind != "run-succeeded" || first.data["conversation_id"] != began.ConversationID || first.data["at"] == nil {
		t.Errorf("from %v to %v", first, last)
	}
	r := s.waitForRun(began.ID)
	if !strings.Contains(r.Answer, "95.51") || !r.Report || r.ConversationID != began.ConversationID || r.EndedAt == nil || len(r.Media) == 0 || r.Tokens.ModelCalls == 0 {
		t.Errorf("%+v", r)
	}
	page := s.do(http.MethodGet, "/api/runs/"+began.ID+"/report", nil)
	if !strings.Contains(string(page.body), "95.51") || !strings.HasPrefix(page.header.Get("Content-Security-Policy"), "sandbox allow-popups allow-popups-to-escape-sandbox;") || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Errorf("report: %d %v", page.status, page.header)
	}
	c := as[api.Conversation](s, http.StatusOK, s.do(http.MethodGet, "/api/conversations/"+began.ConversationID, nil))
	if len(c.Messages) != 2 || len(c.Messages[0].Attachments) != 1 || c.Messages[0].Attachments[0].ID != table.ID || !c.Messages[1].Report || c.RunCount != 1 {
		t.Errorf("%+v", c)
	}
	again := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{
		Agent: "research-agent", Message: "What was the mean CO2 in 1980?", ConversationID: began.ConversationID,
	}))
	if r := s.waitForRun(again.ID); !strings.Contains(r.Answer, "338") {
		t.Errorf("the second answer does not know the file: %s", r.Answer)
	}
}

// TestPicturesOfAConversation: a drawn picture is listed by conversation and run, has its origin, and is in the report
// by its URL; an edit by its ref makes a child of it.
func TestPicturesOfAConversation(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a lighthouse, 128x128", ConversationID: "new"}))
	r := s.waitForRun(began.ID)
	i := slices.IndexFunc(r.Media, func(m api.Media) bool { return m.Modality == "image" })
	if r.Status != "succeeded" || i < 0 {
		t.Fatalf("%+v", r)
	}
	m := r.Media[i]
	d := as[api.MediaDetails](s, http.StatusOK, s.do(http.MethodGet, "/api/media/"+m.ID, nil))
	if d.Origin.PromptSent == "" || d.Origin.Model == "" || d.Origin.Cost == nil || d.ConversationID != began.ConversationID || d.Origin.RunID != began.ID {
		t.Errorf("%+v", d)
	}
	if page := s.do(http.MethodGet, "/api/runs/"+began.ID+"/report", nil); !strings.Contains(string(page.body), `src="/media/`+m.ID+`"`) {
		t.Errorf("the page does not show /media/%s", m.ID)
	}
	for path, want := range map[string]string{"?conversation=" + began.ConversationID: m.ID, "?run=" + began.ID: m.ID, "?q=lighthouse": "", "?modality=audio": ""} {
		list := as[api.List[api.Media]](s, http.StatusOK, s.do(http.MethodGet, "/api/media"+path, nil))
		if want != "" && (len(list.Items) == 0 || list.Items[0].ID != want) || want == "" && path == "?modality=audio" && len(list.Items) != 0 {
			t.Errorf("%s: %+v", path, list)
		}
	}
	ref := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Make it bluer", ConversationID: began.ConversationID, Images: []api.RunImage{{Ref: m.Ref}}}))
	if r := s.waitForRun(ref.ID); r.Status != "succeeded" {
		t.Errorf("by ref: %+v", r.Error)
	}
	d = as[api.MediaDetails](s, http.StatusOK, s.do(http.MethodGet, "/api/media/"+m.ID, nil))
	if len(d.Children) == 0 {
		t.Errorf("nothing was made of %s: %+v", m.ID, d)
	}
}

// testPNG returns a PNG.
func testPNG(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	img.Set(0, 0, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBytesOfMedia: ranges, conditional requests, file names, thumbnails and policies of media bytes.
func TestBytesOfMedia(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	b := testPNG(t, 900, 300)
	m := s.upload(`C:\photos\Größe "1".png`, b)
	if m.FileName != `Größe "1".png` || m.Width != 900 || m.Height != 300 {
		t.Errorf("%+v", m)
	}
	whole := s.do(http.MethodGet, m.URL, nil)
	tag := whole.header.Get("ETag")
	if whole.status != http.StatusOK || !bytes.Equal(whole.body, b) || tag != `"`+m.Digest+`"` || whole.header.Get("Content-Type") != "image/png" ||
		whole.header.Get("Cache-Control") != "private, max-age=31536000, immutable" || whole.header.Get("X-Content-Type-Options") != "nosniff" ||
		whole.header.Get("Content-Disposition") != `inline; filename*=utf-8''Gr%C3%B6%C3%9Fe%20%221%22.png` {
		t.Errorf("%d %v", whole.status, whole.header)
	}
	for _, row := range []struct {
		name    string
		method  string
		headers []string
		status  int
		body    []byte
	}{
		{"part", "GET", []string{"Range", "bytes=10-19"}, 206, b[10:20]},
		{"end", "GET", []string{"Range", "bytes=-5"}, 206, b[len(b)-5:]},
		{"rest", "GET", []string{"Range", fmt.Sprintf("bytes=%d-", len(b)-3)}, 206, b[len(b)-3:]},
		{"past the end", "GET", []string{"Range", "bytes=99999999-"}, 416, nil},
		{"backwards", "GET", []string{"Range", "bytes=5-2"}, 416, nil},
		{"no range", "GET", []string{"Range", "lines=1-2"}, 416, nil},
		{"known", "GET", []string{"If-None-Match", tag}, 304, []byte{}},
		{"another", "GET", []string{"If-None-Match", `"x"`}, 200, b},
		{"if it is the same", "GET", []string{"Range", "bytes=0-3", "If-Range", tag}, 206, b[:4]},
		{"if it is another", "GET", []string{"Range", "bytes=0-3", "If-Range", `"x"`}, 200, b},
		{"head", "HEAD", nil, 200, []byte{}},
	} {
		r := s.do(row.method, m.URL, nil, row.headers...)
		if r.status != row.status || row.body != nil && !bytes.Equal(r.body, row.body) {
			t.Errorf("%s: %d with %d bytes, want %d with %d", row.name, r.status, len(r.body), row.status, len(row.body))
		}
		if row.method == "HEAD" && r.header.Get("Content-Length") != strconv.Itoa(len(b)) {
			t.Errorf("head: %v", r.header)
		}
	}
	small := s.do(http.MethodGet, m.URL+"?w=160", nil)
	if cfg, _, err := image.DecodeConfig(bytes.NewReader(small.body)); err != nil || cfg.Width != 160 || small.header.Get("ETag") == tag {
		t.Errorf("thumbnail: %v %v %v", cfg, err, small.header)
	}
	if again := s.do(http.MethodGet, m.URL+"?w=160", nil); again.header.Get("ETag") != small.header.Get("ETag") {
		t.Error("a second thumbnail has other bytes")
	}
	cut := s.upload("cut.png", b[:len(b)-20])
	s.checkRefused("a thumbnail of a damaged picture", s.do(http.MethodGet, cut.URL+"?w=160", nil), http.StatusUnprocessableEntity, media.CodeUnsupported)
	svg := s.upload("x.png", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>`))
	drawn := s.do(http.MethodGet, svg.URL, nil)
	if svg.MIMEType != "image/svg+xml" || !strings.HasPrefix(drawn.header.Get("Content-Security-Policy"), "sandbox; default-src 'none'") {
		t.Errorf("%s %v", svg.MIMEType, drawn.header)
	}
	if r := s.do(http.MethodGet, m.URL+"?download=1", nil); !strings.HasPrefix(r.header.Get("Content-Disposition"), "attachment;") {
		t.Errorf("%v", r.header)
	}
}

// TestMediaAreChanged: an item is labelled, found by its label, deleted and restored.
func TestMediaAreChanged(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	m := s.upload("a.png", testPNG(t, 20, 20))
	path := "/api/media/" + m.ID
	if got := as[api.Media](s, http.StatusOK, s.do(http.MethodPatch, path, api.MediaChange{Label: new("A 100% box_")})); got.Label != "A 100% box_" {
		t.Errorf("%+v", got)
	}
	for q, want := range map[string]int{"0%25%20BOX_": 1, "%25x": 0, "a_p": 0, "a.png": 1} {
		if list := as[api.List[api.Media]](s, http.StatusOK, s.do(http.MethodGet, "/api/media?q="+q, nil)); len(list.Items) != want {
			t.Errorf("%s: %d items, want %d", q, len(list.Items), want)
		}
	}
	if d := as[api.Deleted](s, http.StatusOK, s.do(http.MethodDelete, path, nil)); time.Until(d.UndoUntil) < time.Hour {
		t.Errorf("%+v", d)
	}
	for _, gone := range []string{path, m.URL} {
		if r := s.do(http.MethodGet, gone, nil); r.status != http.StatusNotFound {
			t.Errorf("%s: %d", gone, r.status)
		}
	}
	if list := as[api.List[api.Media]](s, http.StatusOK, s.do(http.MethodGet, "/api/media?deleted=true", nil)); len(list.Items) != 1 {
		t.Errorf("%+v", list)
	}
	if back := as[api.Media](s, http.StatusOK, s.do(http.MethodPost, path+"/restore", nil)); back.Label != "A 100% box_" {
		t.Errorf("%+v", back)
	}
}

// TestMediaOfAnotherProcess: an item that another process deletes or restores is so here after a moment.
func TestMediaOfAnotherProcess(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	m := s.upload("a.png", testPNG(t, 20, 20))
	answers := func(status int) {
		t.Helper()
		s.waitUntil("the other state", func() bool { return s.do(http.MethodGet, m.URL, nil).status == status })
	}
	answers(http.StatusOK)
	before := time.Now().Add(-time.Minute)
	if err := s.Ledger.DeleteMedia(t.Context(), "local", m.ID); err != nil { // bypasses the server
		t.Fatal(err)
	}
	answers(http.StatusNotFound)
	if err := s.Ledger.RestoreMedia(t.Context(), "local", m.ID, before); err != nil {
		t.Fatal(err)
	}
	answers(http.StatusOK)
}

// TestPagesOfMedia: a list is read page by page; a cursor is valid only for its query.
func TestPagesOfMedia(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	var want []string
	for i := range 5 {
		want = append([]string{s.upload(fmt.Sprintf("%d.png", i), testPNG(t, 10+i, 10)).ID}, want...)
	}
	var got []string
	next := ""
	for {
		list := as[api.List[api.Media]](s, http.StatusOK, s.do(http.MethodGet, "/api/media?modality=image&limit=2&after="+next, nil))
		for _, m := range list.Items {
			got = append(got, m.ID)
		}
		if list.Next == "" {
			break
		}
		next = list.Next
		for _, other := range []string{"/api/media?after=", "/api/media?modality=video&after=", "/api/media?modality=image&deleted=true&after=", "/api/runs?after="} {
			s.checkRefused("a cursor at "+other, s.do(http.MethodGet, other+next, nil), http.StatusBadRequest, media.CodeInvalid)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestConversationsAreChanged: a conversation is renamed, found, deleted and restored.
func TestConversationsAreChanged(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	began := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128", ConversationID: "new"}))
	s.waitForRun(began.ID)
	path := "/api/conversations/" + began.ConversationID
	if h := as[api.ConversationHead](s, http.StatusOK, s.do(http.MethodPatch, path, api.Rename{Title: "  The   harbour "})); h.Title != "The harbour" || h.RunCount != 1 {
		t.Errorf("%+v", h)
	}
	for q, want := range map[string]int{"HARBOUR": 1, "boat": 1, "lighthouse": 0} {
		if list := as[api.List[api.ConversationHead]](s, http.StatusOK, s.do(http.MethodGet, "/api/conversations?q="+q, nil)); len(list.Items) != want {
			t.Errorf("%s: %+v", q, list)
		}
	}
	as[api.Deleted](s, http.StatusOK, s.do(http.MethodDelete, path, nil))
	if r := s.do(http.MethodGet, path, nil); r.status != http.StatusNotFound {
		t.Errorf("deleted: %d", r.status)
	}
	as[api.ConversationHead](s, http.StatusOK, s.do(http.MethodPost, path+"/restore", nil))
	if c := as[api.Conversation](s, http.StatusOK, s.do(http.MethodGet, path, nil)); len(c.Messages) != 2 || len(c.Messages[1].Attachments) != 1 {
		t.Errorf("%+v", c)
	}
}

// TestAQuestionIsAnswered: a paused run is answered over HTTP; another one is cancelled and retried.
func TestAQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	guard, err := agent.BlockedTerms(agent.DecisionPause, "boat")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, atelier.Config{Guardrail: guard})
	begin := func() string {
		id := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128"})).ID
		r := s.waitForRun(id)
		if r.Status != "paused" || r.Question == nil || !r.Question.Approval || len(r.Question.Schema) == 0 {
			t.Fatalf("%+v", r)
		}
		return id
	}
	id := begin()
	yes := true
	for body, code := range map[*api.Answer]int{{}: http.StatusBadRequest, {Approve: &yes, Answer: json.RawMessage(`1`)}: http.StatusBadRequest, {Answer: json.RawMessage(`{"approve":7}`)}: http.StatusUnprocessableEntity} {
		if r := s.do(http.MethodPost, "/api/runs/"+id+"/answer", body); r.status != code {
			t.Errorf("%+v: %d %s", body, r.status, r.body)
		}
	}
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs/"+id+"/answer", api.Answer{Approve: &yes}))
	if r := s.waitForRun(id); r.Status != "succeeded" {
		t.Errorf("answered: %+v", r)
	}
	if r := s.do(http.MethodPost, "/api/runs/"+id+"/answer", api.Answer{Approve: &yes}); r.status != http.StatusConflict {
		t.Errorf("answered twice: %d %s", r.status, r.body)
	}
	id = begin()
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs/"+id+"/cancel", nil))
	if r := s.waitForRun(id); r.Status != "cancelled" {
		t.Errorf("cancelled: %+v", r)
	}
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs/"+id+"/retry", nil))
	s.waitForRun(id)
	if list := as[api.List[api.Run]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs?status=succeeded", nil)); len(list.Items) != 1 {
		t.Errorf("%+v", list)
	}
}

// TestOneKeyOneRun: equal requests with one key are one run, even at once; another body is a conflict; the key outlives
// the process.
func TestOneKeyOneRun(t *testing.T) {
	t.Parallel()
	dir := runtest.Folder(t)
	s := serve(t, atelier.Config{Dir: dir})
	ask := api.NewRun{Agent: "sage", Message: "Draw a boat, 128x128"}
	var mu sync.Mutex
	got := map[string]bool{}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			r := as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", ask, "Idempotency-Key", "k"))
			mu.Lock()
			defer mu.Unlock()
			got[r.ID] = true
		})
	}
	all.Wait()
	if len(got) != 1 {
		t.Errorf("%d runs", len(got))
	}
	for id := range got {
		s.waitForRun(id)
	}
	if r := s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: "Draw a tree, 128x128"}, "Idempotency-Key", "k"); r.status != http.StatusConflict || strings.Contains(string(r.body), "Reload it") {
		t.Errorf("another body: %d %s", r.status, r.body)
	}
	if r := s.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "nobody", Message: "x"}, "Idempotency-Key", "refused"); r.status == http.StatusAccepted {
		t.Errorf("an unknown agent: %d", r.status)
	}
	as[api.Started](s, http.StatusAccepted, s.do(http.MethodPost, "/api/runs", ask, "Idempotency-Key", "refused"))
	s.stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := serve(t, atelier.Config{Dir: dir})
	if r := as[api.Started](next, http.StatusAccepted, next.do(http.MethodPost, "/api/runs", ask, "Idempotency-Key", "k")); !got[r.ID] {
		t.Errorf("after a restart: %+v", r)
	}
}

// TestEventsAreResumed: no event of any process is missing or repeated: after a restart, from the middle, and from
// another process.
func TestEventsAreResumed(t *testing.T) {
	t.Parallel()
	dir := runtest.Folder(t)
	s := serve(t, atelier.Config{Dir: dir})
	var live []receivedEvent
	draw := func(at *testServer, what string) string {
		return as[api.Started](at, http.StatusAccepted, at.do(http.MethodPost, "/api/runs", api.NewRun{Agent: "sage", Message: what, ConversationID: "new"})).ID
	}
	var id string
	live = s.following("/api/events", func() { id = draw(s, "Draw a boat, 128x128") }, func(e receivedEvent) bool { return e.kind == "run-succeeded" })
	again := s.follow("/api/events?after=0", endsRun(id))
	if got, want := ids(again), ids(live); !slices.Equal(got[len(got)-len(want):], want) || !slices.IsSorted(got) {
		t.Errorf("live %v, replayed %v", want, got)
	}
	all := ids(again)
	s.stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := serve(t, atelier.Config{Dir: dir})
	middle := all[len(all)/2]
	rest := next.follow("/api/events?after=1", endsRun(id), "Last-Event-ID", strconv.FormatInt(middle, 10))
	if !slices.Equal(ids(rest), all[len(all)/2+1:]) {
		t.Errorf("resumed behind %d: %v of %v", middle, ids(rest), all)
	}
	other := open(t, atelier.Config{Dir: dir, WithoutEngine: true})
	foreign := make(chan string, 1)
	go func() {
		for e, err := range other.Run(t.Context(), atelier.Request{Request: agent.Request{Agent: "sage", Message: "Draw a tree, 128x128", RunID: "other-process"}}) {
			if err != nil || e.Result != nil {
				foreign <- "other-process"
				return
			}
		}
	}()
	seen := next.follow("/api/events?after="+strconv.FormatInt(all[len(all)-1], 10), endsRun("other-process"))
	<-foreign
	if got := ids(seen); len(got) < 5 || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("of another process: %v", got)
	}
	if r := next.do(http.MethodGet, "/api/runs/nobody/events", nil); r.status != http.StatusNotFound {
		t.Errorf("an unknown run: %d", r.status)
	}
	ahead := next.follow("/api/runs/"+id+"/events", func(receivedEvent) bool { return true }, "Last-Event-ID", "0")
	if len(ahead) != 1 || ahead[0].kind != "run-started" {
		t.Errorf("%v", ahead)
	}
}

// TestRefusals: each bad request has its status and code, and nothing of it is stored.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	m := s.upload("a.png", testPNG(t, 20, 20))
	table := s.upload("a.csv", []byte("a,b\n1,2\n"))
	kind, whole := form(t, "x.png", testPNG(t, 300, 300))
	run := func(rest string) string { return `{"agent":"sage","message":"x"` + rest + `}` }
	for _, row := range []struct {
		name, method, path string
		body               any
		headers            []string
		status             int
		code               media.Code
	}{
		{"no JSON", "POST", "/api/runs", `{`, nil, 400, media.CodeInvalid},
		{"two documents", "POST", "/api/runs", run("") + "{}", nil, 400, media.CodeInvalid},
		{"an unknown field", "POST", "/api/runs", run(`,"owner":"bob"`), nil, 422, media.CodeInvalid},
		{"a path", "POST", "/api/runs", run(`,"images":[{"path":"/etc/passwd"}]`), nil, 422, media.CodeInvalid},
		{"a grant", "POST", "/api/runs", run(`,"granted":[]`), nil, 422, media.CodeInvalid},
		{"sources", "POST", "/api/runs", run(`,"sources":{"Files":"/"}`), nil, 422, media.CodeInvalid},
		{"bytes", "POST", "/api/runs", run(`,"images":[{"data":"aGVsbG8="}]`), nil, 422, media.CodeInvalid},
		{"another type", "POST", "/api/runs", "agent=sage", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, media.CodeUnsupported},
		{"no agent", "POST", "/api/runs", `{"message":"x"}`, nil, 422, media.CodeInvalid},
		{"no body", "POST", "/api/runs", nil, nil, 400, media.CodeInvalid},
		{"nothing to do", "POST", "/api/runs", `{"agent":"sage"}`, nil, 400, media.CodeInvalid},
		{"an unknown agent", "POST", "/api/runs", `{"agent":"nobody","message":"x"}`, nil, 404, media.CodeNotFound},
		{"an unknown model", "POST", "/api/runs", run(`,"model":"nothing-1"`), nil, 404, media.CodeNotFound},
		{"a model without its key", "POST", "/api/runs", run(`,"model":"gpt-5.4"`), nil, 424, media.CodeMissingKey},
		{"an unknown conversation", "POST", "/api/runs", run(`,"conversation_id":"0198a000-0000-7000-8000-000000000000"`), nil, 404, media.CodeNotFound},
		{"an unknown picture", "POST", "/api/runs", run(`,"images":[{"media_id":"0198a000-0000-7000-8000-000000000000"}]`), nil, 404, media.CodeNotFound},
		{"an unknown ref", "POST", "/api/runs", run(`,"images":[{"ref":"img-00000000"}]`), nil, 404, media.CodeUnknownRef},
		{"two names of one picture", "POST", "/api/runs", run(`,"images":[{"ref":"img-00000000","media_id":"x"}]`), nil, 400, media.CodeInvalid},
		{"a table as a picture", "POST", "/api/runs", run(`,"images":[{"media_id":"` + table.ID + `"}]`), nil, 400, media.CodeInvalid},
		{"limits that are none", "POST", "/api/runs", run(`,"limits":{"max_cost":"cheap"}`), nil, 400, media.CodeInvalid},
		{"a megabyte of JSON", "POST", "/api/runs", run(`,"model":"` + strings.Repeat("x", 2<<20) + `"`), nil, 413, media.CodeTooLarge},
		{"an unknown run", "GET", "/api/runs/nobody", nil, nil, 404, media.CodeNotFound},
		{"its report", "GET", "/api/runs/nobody/report", nil, nil, 404, media.CodeNotFound},
		{"its cancel", "POST", "/api/runs/nobody/cancel", nil, nil, 404, media.CodeNotFound},
		{"an unknown status", "GET", "/api/runs?status=lost", nil, nil, 422, media.CodeInvalid},
		{"an unknown parameter", "GET", "/api/runs?owner=bob", nil, nil, 422, media.CodeInvalid},
		{"no limit", "GET", "/api/media?limit=0", nil, nil, 422, media.CodeInvalid},
		{"a cursor of nobody", "GET", "/api/media?after=abc", nil, nil, 400, media.CodeInvalid},
		{"an unknown width", "GET", m.URL + "?w=161", nil, nil, 400, media.CodeInvalid},
		{"a width that is another's spelling", "GET", m.URL + "?w=0160", nil, nil, 400, media.CodeInvalid},
		{"a thumbnail of a table", "GET", table.URL + "?w=160", nil, nil, 422, media.CodeUnsupported},
		{"unknown bytes", "GET", "/media/nobody", nil, nil, 404, media.CodeNotFound},
		{"a range past the end", "GET", m.URL, nil, []string{"Range", "bytes=99999999-"}, 416, media.CodeInvalid},
		{"a range that is no number", "GET", m.URL, nil, []string{"Range", "bytes=a-b"}, 416, media.CodeInvalid},
		{"a range of no number that there is", "GET", m.URL, nil, []string{"Range", "bytes=0-99999999999999999999"}, 416, media.CodeInvalid},
		{"a negative range", "GET", m.URL, nil, []string{"Range", "bytes=--5"}, 416, media.CodeInvalid},
		{"ranges, one past the end and one of none", "GET", m.URL, nil, []string{"Range", "bytes=99999999-,x"}, 416, media.CodeInvalid},
		{"nothing to change", "PATCH", "/api/media/" + m.ID, `{}`, nil, 400, media.CodeInvalid},
		{"a form without its end", "POST", "/api/media", whole[:len(whole)-100], []string{"Content-Type", kind}, 400, media.CodeInvalid},
		{"a form without a file", "POST", "/api/media", "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n", []string{"Content-Type", "multipart/form-data; boundary=x"}, 400, media.CodeInvalid},
		{"an empty file", "POST", "/api/media", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n\r\n--x--\r\n", []string{"Content-Type", "multipart/form-data; boundary=x"}, 400, media.CodeInvalid},
		{"a file as the body", "POST", "/api/media", testPNG(t, 2, 2), []string{"Content-Type", "image/png"}, 415, media.CodeUnsupported},
		{"an address of this machine", "POST", "/api/media", map[string]string{"url": s.url + m.URL}, nil, 422, media.CodeBlockedAddress},
		{"an address of a file", "POST", "/api/media", `{"url":"file:///etc/passwd"}`, nil, 400, media.CodeInvalid},
		{"an address with more", "POST", "/api/media", `{"url":"https://example.com/","owner":"x"}`, nil, 400, media.CodeInvalid},
		{"an id of no event", "GET", "/api/events?after=yesterday", nil, nil, 400, media.CodeInvalid},
		{"a Last-Event-ID of no event", "GET", "/api/events", nil, []string{"Last-Event-ID", "-1"}, 400, media.CodeInvalid},
		{"a Last-Event-ID that is none", "GET", "/api/events", nil, []string{"Last-Event-ID", "0198a000-0000-7000-8000-000000000000"}, 400, media.CodeInvalid},
		{"events of an unknown run", "GET", "/api/runs/nobody/events", nil, []string{"Last-Event-ID", "1"}, 404, media.CodeNotFound},
		{"too much text", "POST", "/api/runs", `{"agent":"sage","message":"` + strings.Repeat("x", 400_001) + `"}`, nil, 422, media.CodeInvalid},
		{"a form of no type", "POST", "/api/media", whole, []string{"Content-Type", "multipart/form-data"}, 415, media.CodeUnsupported},
		{"another name of the server", "GET", "/api/runs", nil, []string{"Host", "evil.example"}, 403, media.CodeForbidden},
		{"its bytes", "GET", m.URL, nil, []string{"Host", "127.0.0.1.evil.example:80"}, 403, media.CodeForbidden},
		{"a page of another origin", "POST", "/api/runs", run(""), []string{"Origin", "https://evil.example"}, 403, media.CodeForbidden},
		{"a page without an origin", "POST", "/api/runs", run(""), []string{"Origin", "null"}, 403, media.CodeForbidden},
		{"another port", "POST", "/api/runs", run(""), []string{"Origin", "http://127.0.0.1:1"}, 403, media.CodeForbidden},
		{"what a browser says", "GET", "/api/runs", nil, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403, media.CodeForbidden},
		{"a form of another site", "POST", "/api/media", whole, []string{"Content-Type", kind, "Sec-Fetch-Site", "same-site"}, 403, media.CodeForbidden},
		{"another method", "PUT", "/api/runs", nil, nil, 405, media.CodeInvalid},
		{"nothing", "GET", "/api/nothing", nil, nil, 404, media.CodeNotFound},
	} {
		s.checkRefused(row.name, s.do(row.method, row.path, row.body, row.headers...), row.status, row.code)
	}
	if list := as[api.List[api.Run]](s, http.StatusOK, s.do(http.MethodGet, "/api/runs", nil)); len(list.Items) != 0 {
		t.Errorf("%d runs began", len(list.Items))
	}
	if list := as[api.List[api.Media]](s, http.StatusOK, s.do(http.MethodGet, "/api/media", nil)); len(list.Items) != 2 {
		t.Errorf("%d items are kept", len(list.Items))
	}
}

// TestWhatIsAllowed: requests that resemble the refused ones are accepted.
func TestWhatIsAllowed(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	m := s.upload("a.png", testPNG(t, 20, 20))
	host := strings.TrimPrefix(s.url, "http://")
	_, port, _ := net.SplitHostPort(host)
	for name, r := range map[string]reply{
		"its own page":          s.do(http.MethodGet, "/api/runs", nil, "Origin", s.url, "Sec-Fetch-Site", "same-origin"),
		"localhost":             s.do(http.MethodGet, "/api/runs", nil, "Host", "localhost:"+port, "Origin", "http://localhost:"+port),
		"IPv6":                  s.do(http.MethodGet, "/api/runs", nil, "Host", "[::1]:"+port),
		"a link to it":          s.do(http.MethodGet, "/api/runs", nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"),
		"a picture in a report": s.do(http.MethodGet, m.URL, nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"),
		"a program":             s.do(http.MethodGet, "/api/runs", nil),
	} {
		if r.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
}

// TestEveryOperationAnswers: each operation of the document answers requests for unknown objects as documented, and the
// document equals docs/openapi.json.
func TestEveryOperationAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, atelier.Config{})
	doc := s.do(http.MethodGet, "/openapi.json", nil)
	kept := filepath.Join("docs", "openapi.json")
	if *update {
		if err := os.WriteFile(kept, doc.body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(read(t, kept), doc.body) {
		t.Errorf("%s is out of date: go test . -run TestEveryOperationAnswers -update", kept)
	}
	var spec struct {
		Paths map[string]map[string]struct {
			OperationID string                     `json:"operationId"`
			Responses   map[string]json.RawMessage `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(doc.body, &spec); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for path, methods := range spec.Paths {
		for method, op := range methods {
			if op.OperationID == "" || seen[op.OperationID] || op.Responses["default"] == nil {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			seen[op.OperationID] = true
			if path == "/api/events" {
				continue // an endless stream
			}
			r := s.do(strings.ToUpper(method), strings.ReplaceAll(path, "{id}", "0198a000-0000-7000-8000-000000000000"), map[string]any{})
			_, documented := op.Responses[strconv.Itoa(r.status)]
			var p api.Problem
			problem := r.header.Get("Content-Type") == "application/problem+json" && json.Unmarshal(r.body, &p) == nil && p.Code != ""
			if r.status >= 500 || r.status == http.StatusMethodNotAllowed || !documented && !problem {
				t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
			}
			if strings.Contains(path, "{id}") && r.status != http.StatusNotFound && r.status != http.StatusUnprocessableEntity && r.status != http.StatusBadRequest {
				t.Errorf("%s %s of nothing: %d", method, path, r.status)
			}
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d operations", len(seen))
	}
}
