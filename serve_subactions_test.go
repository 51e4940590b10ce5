package atelier_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelier/internal/sim"

	"atelier"
	"atelier/api"
	"atelier/generate/generatetest/leonardosim"
	"atelier/generate/generatetest/midjourneysim"
	"atelier/run/runtest"
)

// imageServer is a server with simulators of Midjourney and Leonardo.
type imageServer struct {
	*testServer
	midjourney *midjourneysim.Simulator
	leonardo   *leonardosim.Simulator
	config     atelier.Config
}

func newImageServer(t *testing.T, leonardo leonardosim.Config) *imageServer {
	t.Helper()
	w := &imageServer{midjourney: midjourneysim.New(midjourneysim.Config{Quick: true, Side: 64}), leonardo: leonardosim.New(leonardo)}
	mj, leo := httptest.NewServer(w.midjourney), httptest.NewServer(w.leonardo)
	t.Cleanup(mj.Close)
	t.Cleanup(leo.Close)
	dir := runtest.Folder(t)
	file := filepath.Join(dir, "catalogue.yaml")
	rows := "provider: leonardo\nmodels:\n  - {api_model: de7d3faf-762f-48e0-b3b7-9d0ac3a3fcf3, poll_seconds: 1}\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	w.config = atelier.Config{
		Dir: dir, Catalogue: file, Keys: map[string]string{"midjourney": w.midjourney.Key(), "leonardo": w.leonardo.Key()},
		BaseURLs: map[string]string{"midjourney": mj.URL, "leonardo": leo.URL},
	}
	w.testServer = serve(t, w.config)
	return w
}

// submissions returns the number of requests that started a task.
func submissions(all []sim.Captured) (n int) {
	for _, c := range all {
		if c.Method == http.MethodPost && strings.Contains(c.Path, "/generations") {
			n++
		}
	}
	return n
}

// seedWorkflow returns a workflow with the unchanged module and display schema of the example in workflow/testdata.
func seedWorkflow(t *testing.T) string {
	t.Helper()
	read := func(name string) map[string]json.RawMessage {
		b, err := os.ReadFile(filepath.Join("workflow", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		var o map[string]json.RawMessage
		if err := json.Unmarshal(b, &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	module, example := read("module.json"), read("interaction.json")
	var data struct {
		Prompts json.RawMessage `json:"prompts"`
	}
	if err := json.Unmarshal(example["display_data"], &data); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"definition":{"id":"seed","title":"Media","steps":[{"id":"generate","module_id":%s,"inputs":%s,"config":{
		"media_generation_schema":%s,
		"midjourney_param_schema":{"type":"object","properties":{"aspect_ratio":{"type":"string"},"speed":{"type":"string","enum":["relax","fast","turbo"]}}},
		"leonardo_param_schema":{"type":"object","properties":{"width":{"type":"integer"},"height":{"type":"integer"},"num_images":{"type":"integer","minimum":1,"maximum":4}}}}}]},
		"state":{"prompts":%s}}`, module["module_id"], module["inputs"], example["display_schema"], data.Prompts)
}

// plainEvent is what a client of the plain protocol reads from a stream: only the data lines.
type plainEvent struct {
	Type string `json:"type"`
	Data struct {
		ElapsedMS  *int64   `json:"elapsed_ms"`
		Message    string   `json:"message"`
		URLs       []string `json:"urls"`
		ContentIDs []string `json:"content_ids"`
		MetadataID string   `json:"metadata_id"`
		Code       string   `json:"code"`
	} `json:"data"`
}

// generate acts as a client that knows only the request body and the stream.
func (s *testServer) generate(run, body string) (all []plainEvent, err error) {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/workflow/"+run+"/sub-action/stream", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		return nil, fmt.Errorf("status %d, %s", res.StatusCode, kind)
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var one plainEvent
		if err := json.Unmarshal([]byte(data), &one); err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

// TestAClientOfThePlainProtocol: the example works for a client that sends interaction_id, action_type, provider,
// prompt_id, operation, params and source_data, reads progress, complete and error, and answers with its choice:
// structured prompts for Midjourney and texts for Leonardo, several at a time.
func TestAClientOfThePlainProtocol(t *testing.T) {
	t.Parallel()
	w := newImageServer(t, leonardosim.Config{Pending: 1})
	r := w.startWorkflow(seedWorkflow(t))
	body := func(provider, key, source string) string {
		return `{"interaction_id":"` + r.InteractionID + `","action_type":"media.` + provider + `.txt2img","provider":"` + provider + `","prompt_id":"` + key +
			`","operation":"txt2img","params":{},"source_data":` + source + `}`
	}
	clicks := map[string]string{
		"midjourney": body("midjourney", "prompt_a", `{ "subject": "...", "environment": "..." }`),
		"leonardo":   body("leonardo", "phoenix_1_0", `"Primary subject: ..."`),
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	streams := map[string][]plainEvent{}
	for provider, click := range clicks {
		wg.Go(func() {
			all, err := w.generate(r.ID, click)
			mu.Lock()
			defer mu.Unlock()
			if streams[provider] = all; err != nil {
				t.Errorf("%s: %v", provider, err)
			}
		})
	}
	wg.Wait()
	chosen := ""
	for provider, all := range streams {
		end := all[len(all)-1]
		progressed := false
		for _, e := range all {
			progressed = progressed || e.Type == "progress" && e.Data.ElapsedMS != nil && e.Data.Message != ""
		}
		if all[0].Type != "accepted" || !progressed || end.Type != "complete" || len(end.Data.URLs) == 0 || len(end.Data.URLs) != len(end.Data.ContentIDs) {
			t.Fatalf("%s: %+v", provider, all)
		}
		if got := w.do(http.MethodGet, end.Data.URLs[0], nil); got.status != http.StatusOK || len(got.body) == 0 {
			t.Errorf("%s: %s is %d", provider, end.Data.URLs[0], got.status)
		}
		chosen = end.Data.ContentIDs[0]
	}
	if n := len(streams["midjourney"][len(streams["midjourney"])-1].Data.URLs); n != 4 {
		t.Errorf("%d pictures by Midjourney, want the four of its grid", n)
	}
	i := w.interaction(r.InteractionID)
	if !strings.Contains(string(i.DisplayData), `"generations":{`) || !strings.Contains(string(i.DisplayData), chosen) {
		t.Errorf("%s", i.DisplayData)
	}
	as[api.Started](w.testServer, http.StatusAccepted, w.do(http.MethodPost, "/api/interactions/"+r.InteractionID+"/answer", `{"selected_content_id":"`+chosen+`"}`))
	if r = w.workflowRun(r.ID); r.Status != "succeeded" || !strings.Contains(compact(t, r.State), `"selected_image":"`+chosen+`"`) {
		t.Errorf("%s %s %+v", r.Status, r.State, r.Error)
	}
}

// TestClicksThatAreRefused: each invalid click has its status, and nothing is started or stored.
func TestClicksThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newImageServer(t, leonardosim.Config{})
	r, other := w.startWorkflow(seedWorkflow(t)), w.startWorkflow(seedWorkflow(t))
	const good = `"action_type":"media.leonardo.txt2img","provider":"leonardo","prompt_id":"phoenix_1_0"`
	for name, c := range map[string]struct {
		run, body string
		status    int
		code      string
	}{
		"an action that is not declared":     {r.ID, `{"interaction_id":"IN","action_type":"media.leonardo.edit","prompt_id":"phoenix_1_0"}`, 404, "not_found"},
		"another operation":                  {r.ID, `{"interaction_id":"IN",` + good + `,"operation":"upscale"}`, 404, "not_found"},
		"several that match":                 {r.ID, `{"interaction_id":"IN","action_type":"media.leonardo.txt2img"}`, 409, "conflict"},
		"no interaction":                     {r.ID, `{` + good + `}`, 404, "not_found"},
		"the interaction of another run":     {other.ID, `{"interaction_id":"IN",` + good + `}`, 404, "not_found"},
		"a run that there is not":            {"0198a000-0000-7000-8000-000000000000", `{"interaction_id":"IN",` + good + `}`, 404, "not_found"},
		"other source data":                  {r.ID, `{"interaction_id":"IN",` + good + `,"source_data":"Another"}`, 409, "stale_data"},
		"a parameter that there is not":      {r.ID, `{"interaction_id":"IN",` + good + `,"params":{"widht":512}}`, 422, "invalid"},
		"a parameter of another type":        {r.ID, `{"interaction_id":"IN",` + good + `,"params":{"num_images":"4"}}`, 422, "invalid"},
		"a parameter beyond its bounds":      {r.ID, `{"interaction_id":"IN",` + good + `,"params":{"num_images":40}}`, 422, "invalid"},
		"a parameter by the name of objects": {r.ID, `{"interaction_id":"IN",` + good + `,"params":{"__proto__":{"width":1}}}`, 400, "invalid"},
		"a target of the client's":           {r.ID, `{"interaction_id":"IN",` + good + `,"result_target":"prompts.leonardo"}`, 422, "invalid"},
		"an identity that is no key":         {r.ID, `{"interaction_id":"IN",` + good + `,"request_id":"` + strings.Repeat("x", 3000) + `"}`, 422, "invalid"},
		"no JSON":                            {r.ID, `{"interaction_id":`, 400, "invalid"},
	} {
		got := w.do(http.MethodPost, "/workflow/"+c.run+"/sub-action/stream", strings.Replace(c.body, "IN", r.InteractionID, 1))
		var p struct {
			Code string `json:"code"`
		}
		if err := json.Unmarshal(got.body, &p); err != nil || got.status != c.status || p.Code != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := w.do(http.MethodPost, "/workflow/"+r.ID+"/sub-action/stream", "x=1", "Content-Type", "application/x-www-form-urlencoded"); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("a form: %d %s", got.status, got.body)
	}
	list := as[api.List[api.SubAction]](w.testServer, http.StatusOK, w.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil))
	if n := len(w.leonardo.Captured()); len(list.Items) != 0 || n != 0 {
		t.Errorf("%d rows and %d requests of refused clicks", len(list.Items), n)
	}
}

// TestAProviderFailsInOneCard: a moderated prompt fails only its own card; the other card has its results; a new click
// requests the failed one again, the same click does not.
func TestAProviderFailsInOneCard(t *testing.T) {
	t.Parallel()
	w := newImageServer(t, leonardosim.Config{Pending: 1})
	w.leonardo.Inject(sim.Injection{Fault: sim.FaultModerated})
	r := w.startWorkflow(seedWorkflow(t))
	body := func(key, id string) string {
		return `{"interaction_id":"` + r.InteractionID + `","path":"/prompts/` + key + `","sub_action_id":"generate","request_id":"` + id + `"}`
	}
	bad, err := w.generate(r.ID, body("leonardo/phoenix_1_0", "a"))
	if err != nil || bad[len(bad)-1].Type != "error" || bad[len(bad)-1].Data.Code != "moderated" {
		t.Fatalf("%+v %v", bad, err)
	}
	good, err := w.generate(r.ID, body("midjourney/prompt_b", "b"))
	if err != nil || good[len(good)-1].Type != "complete" {
		t.Fatalf("%+v %v", good, err)
	}
	again, err := w.generate(r.ID, body("leonardo/phoenix_1_0", "a"))
	if err != nil || again[len(again)-1].Type != "error" {
		t.Errorf("the same click again asks again: %+v %v", again, err)
	}
	if n := submissions(w.leonardo.Captured()); n != 1 {
		t.Errorf("Leonardo was asked %d times", n)
	}
	more, err := w.generate(r.ID, body("leonardo/phoenix_1_0", "c"))
	if err != nil || more[len(more)-1].Type != "complete" {
		t.Errorf("a new click: %+v %v", more, err)
	}
}

// TestSubActionsOutliveTheirServer: two sub-actions are in progress when the server stops; the next one finishes them,
// requests nothing again, and adds each result to the interaction once.
func TestSubActionsOutliveTheirServer(t *testing.T) {
	t.Parallel()
	w := newImageServer(t, leonardosim.Config{Pending: 6})
	r := w.startWorkflow(seedWorkflow(t))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for _, id := range []string{"a", "b"} {
		click := `{"interaction_id":"` + r.InteractionID + `","path":"/prompts/leonardo/phoenix_1_0","sub_action_id":"generate","request_id":"` + id + `"}`
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/workflow/"+r.ID+"/sub-action/stream", strings.NewReader(click))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
	}
	w.waitUntil("two tasks", func() bool { return submissions(w.leonardo.Captured()) == 2 })
	leave() // the reader disconnects before its server stops
	w.stop()
	s := serve(t, w.config)
	var list api.List[api.SubAction]
	s.waitUntil("both are finished", func() bool {
		list = as[api.List[api.SubAction]](s, http.StatusOK, s.do(http.MethodGet, "/api/workflow-runs/"+r.ID+"/sub-actions", nil))
		return len(list.Items) == 2 && list.Items[0].Status == "succeeded" && list.Items[1].Status == "succeeded"
	})
	if n := submissions(w.leonardo.Captured()); n != 2 {
		t.Errorf("Leonardo was asked %d times for 2", n)
	}
	i := s.interaction(r.InteractionID)
	for _, row := range list.Items {
		if len(row.Contents) != 1 || strings.Count(string(i.DisplayData), row.Contents[0].ID) != 1 {
			t.Errorf("%+v in %s", row.Contents, i.DisplayData)
		}
	}
}
