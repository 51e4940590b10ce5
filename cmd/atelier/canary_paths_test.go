package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"atelier/chat/chattest"
)

// newCanaries returns a small and a big canary that only this test uses.
func newCanaries(t *testing.T, seed byte) (small, big canary) {
	t.Helper()
	return newCanary(t, 1, seed), newCanary(t, 130, seed+1)
}

func sendJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may have gone; another test covers that.
	_, _ = io.WriteString(w, body)
}

// TestCanaryFromOpenAI: no canary leaks from the declared field or from an undeclared one.
func TestCanaryFromOpenAI(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 10)
	p, s := connected(t)
	s.answer = func(w http.ResponseWriter, _ string) bool {
		sendJSON(w, http.StatusOK, fmt.Sprintf(
			`{"created":1,"preview":%q,"data":[{"b64_json":%q,"revised_prompt":%q}],"debug":{"thumb":%q,"again":%q}}`,
			big.base64(), small.base64(), "a fox, see "+small.url()+" and "+big.url(), big.url(), small.url()))
		return true
	}
	found := sinks{}
	found.add(p.must("generate", "a fox", "-m", "gpt-image-2", "--json"))
	found.add(p.must("generate", "a fox", "-m", "gpt-image-2"))
	found.add(p.must("run", "sage", "Draw a picture of a fox, 128x128.", "--json"))
	found.gather(p)
	found.prompts(s)
	found.search(t, small, big)
	checkStored(t, p, small)
}

// TestCanaryFromGemini: no canary leaks from inlineData or from the text beside it.
func TestCanaryFromGemini(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 20)
	p := newTestEnv(t)
	s, url := serve(t)
	p.withGemini(s, url)
	s.answer = func(w http.ResponseWriter, _ string) bool {
		sendJSON(w, http.StatusOK, fmt.Sprintf(
			`{"candidates":[{"content":{"role":"model","parts":[{"text":%q},{"inlineData":{"mimeType":"image/png","data":%q}}]},"finishReason":"STOP","finishMessage":%q}],"modelVersion":%q}`,
			"see "+big.url(), small.base64(), small.url(), small.base64()))
		return true
	}
	found := sinks{}
	found.add(p.must("generate", "a fox", "-m", "Nano Banana Pro", "--json"))
	found.add(p.must("run", "sage", "Draw a picture of a fox, 128x128.", "--json"))
	found.gather(p)
	found.prompts(s)
	found.search(t, small, big)
	checkStored(t, p, small)
}

// TestCanaryInProviderErrors: no canary leaks from the text of errors, in which services echo what they could not read.
func TestCanaryInProviderErrors(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 30)
	for name, answer := range map[string]func(http.ResponseWriter){
		"JSON error": func(w http.ResponseWriter) {
			sendJSON(w, http.StatusBadRequest, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":%q,"code":%q}}`,
				"cannot read "+small.url()+" nor "+big.url(), small.base64(), small.base64()))
		},
		"text": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "upstream: "+small.base64()+" "+big.base64())
		},
		"not JSON": func(w http.ResponseWriter) { sendJSON(w, http.StatusOK, "{]"+small.base64()+big.base64()) },
		"raw bytes": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write(append(append([]byte{}, small.raw...), big.raw...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			s.answer = func(w http.ResponseWriter, _ string) bool { answer(w); return true }
			found := sinks{}
			o := p.atelier("generate", "a fox", "-m", "gpt-image-2", "--json")
			if o.code != exitProvider && o.code != exitInput {
				t.Errorf("exit %d: %s", o.code, o.stderr)
			}
			found.add(o)
			found.add(p.atelier("generate", "a fox", "-m", "gpt-image-2"))
			found.add(p.atelier("run", "sage", "Draw a picture of a fox, 128x128.", "--json"))
			found.gather(p)
			found.prompts(s)
			found.search(t, small, big)
		})
	}
}

// TestCanaryFromChatModel: no canary leaks from any string of a step, or from an invalid step.
func TestCanaryFromChatModel(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 40)
	p, s := connected(t)
	both := "see " + small.url() + " and " + big.url()
	s.chat.Answer = answersInOrder(
		act(t, "Generate Image", map[string]any{"Prompt": both, "Size": small.base64(), "Model": big.url()},
			"No "+small.base64(), map[string]any{big.base64(): small.url()},
			"Create SVG Chart", map[string]any{"Title": both, "Data": []any{small.base64(), big.base64()}}),
		"I would rather talk: "+both,
		`{"reasoning": "broken `+small.base64()+big.base64(),
		step(t, map[string]any{"reasoning": both, "done": 1, "message": both, small.base64(): big.base64()}),
		step(t, map[string]any{
			"reasoning": both, "message": both, "done": true,
			"promote": []any{map[string]any{"ref": small.base64(), "label": both}, map[string]any{"ref": big.base64(), "description": small.url()}},
			"payload": map[string]any{
				"report_html": `<h1>Report</h1><img src="` + small.url() + `" alt="a"><img src="` + big.url() + `" alt="b">`,
				"nested":      map[string]any{"deep": []any{small.base64(), big.base64(), map[string]any{small.base64(): big.url()}}},
			},
		}))
	found := sinks{}
	o := p.atelier("run", "sage", "Talk to me.", "--json", "--out", filepath.Join(p.dir, "out"))
	found.add(o)
	if o.code != exitOK {
		t.Errorf("exit %d: %.1000s%.1000s", o.code, o.stdout, o.stderr)
	}
	found.add(p.atelier("run", "sage", "Talk to me again."))
	found.gather(p)
	found.prompts(s)
	found.search(t, small, big)
	checkStored(t, p, big)
}

// TestCanaryFromUser: no canary leaks from the message or the prompt that a person gives, or from the name of an agent,
// a model or a file.
func TestCanaryFromUser(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 50)
	p, s := connected(t)
	found := sinks{}
	add := func(want int, args ...string) {
		t.Helper()
		o := p.atelier(args...)
		if o.code != want {
			t.Errorf("atelier %.60s: exit %d, want %d: %.300s", args, o.code, want, o.stderr)
		}
		o.args = []string{args[0]}
		found.add(o)
	}
	add(exitOK, "run", "sage", "What is this? "+small.url()+" And this: "+big.url(), "--json")
	add(exitOK, "run", "sage", big.base64())
	add(exitOK, "generate", "like "+small.url(), "-m", "offline", "--size", "64x64", "--json")
	add(exitInput, "generate", "like "+big.url(), "-m", "offline", "--json")
	add(exitInput, "run", small.base64(), "hello")
	add(exitInput, "run", "sage", "hello", "--model", small.base64())
	add(exitInput, "run", "sage", "hello", "--files", small.base64())
	add(exitInput, "generate", "a fox", "-m", small.base64())
	add(exitInput, "generate", "a fox", "--size", small.base64())
	add(exitOK, "generate", "a fox", "-m", "offline", "--size", "64x64", "--style", small.url())
	add(exitInput, "generate", "a fox", "-m", "offline", "--quality", small.base64(), "--option", "openai."+small.base64()+"=1")
	add(exitInput, "media", "show", small.base64())
	add(exitInput, "runs", "show", small.base64())
	add(exitInput, "--"+small.base64())
	found.gather(p)
	found.prompts(s)
	found.search(t, small, big)
	checkStored(t, p, big)
}

// TestCanaryFromFiles: no canary leaks from the files that research reads and that actions and sub-agents return.
func TestCanaryFromFiles(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 60)
	folder := func(p *testEnv) string {
		p.folder()
		p.write("files/page.html", `<p>The harbour grew in 2024.</p><img src="`+small.url()+`"><img src="`+big.url()+`">`)
		p.write("files/read.md", "The harbour grew.\n\n![a]("+small.url()+")\n\n![b]("+big.url()+")\n")
		p.write("files/list.csv", "name,picture\nfirst,"+small.base64()+"\nsecond,"+big.base64()+"\n")
		p.write("files/data.json", fmt.Sprintf(`[{"name":"first","thumb":%q},{"name":"second","thumb":%q}]`, small.base64(), big.url()))
		p.write("files/raw.txt", "text "+small.base64()+"\n"+big.base64())
		p.write("files/picture.png", string(big.raw))
		p.write("files/lying.txt", string(small.raw)+string(big.raw))
		return filepath.Join(p.dir, "files")
	}
	for _, model := range []string{"offline", "wire"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			p, s := connected(t)
			if model == "offline" {
				p.env["ATELIER_CHAT_MODEL"] = "offline"
			}
			found := sinks{}
			found.add(p.must("run", "research-agent", "How did the harbour grow?", "--files", folder(p), "--out", filepath.Join(p.dir, "out"), "--json"))
			found.add(p.must("run", "file-research-agent", "How did the harbour grow?", "--files", folder(p)))
			found.gather(p)
			found.prompts(s)
			found.search(t, small, big)
			for _, m := range p.mediaList().Items {
				if m.Type == "image/png" && m.Size < 10_000 {
					t.Errorf("%s of %d bytes was cut out of a file: half a picture is none", m.Ref, m.Size)
				}
			}
		})
	}
}

// TestCanaryFromSubAgent: no canary leaks from a sub-agent's answer or from the task that it is given.
func TestCanaryFromSubAgent(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 70)
	p, s := connected(t)
	both := "see " + small.url() + " and " + big.url()
	down := step(t, map[string]any{
		"reasoning": "ask", "done": false,
		"agents": []any{
			map[string]any{"name": "file-research-agent", "task": both, "media": []any{small.base64(), big.base64()}},
			map[string]any{"name": small.base64(), "task": "nothing"},
		},
	})
	up := step(t, map[string]any{
		"reasoning": both, "done": true, "message": both,
		"payload": map[string]any{"findings": []any{map[string]any{"text": both, "thumb": big.base64(), "icon": small.base64()}}},
	})
	end := step(t, map[string]any{"done": true, "message": "It is done.", "payload": map[string]any{"report_markdown": "# Done"}})
	rootTurns := 0
	s.chat.Answer = func(r chattest.Request) string {
		if !strings.Contains(r.System(), `"research-report-writer"`) {
			return up
		}
		if rootTurns++; rootTurns == 1 {
			return down
		}
		return end
	}
	found := sinks{}
	found.add(p.must("run", "research-agent", "How did sales go?", "--files", p.folder(), "--json"))
	found.gather(p)
	found.prompts(s)
	found.search(t, small, big)
	checkStored(t, p, big)
	if rootTurns != 2 || !strings.Contains(string(found["prompts"]), "${media:") {
		t.Errorf("the canary of the sub-agent did not reach the root as a ref (%d turns)", rootTurns)
	}
}

// TestCanaryOfEmbedders: the ledger keeps a picture in a payload only as a placeholder, while the exported report
// contains the picture itself.
func TestCanaryOfEmbedders(t *testing.T) {
	t.Parallel()
	small, _ := newCanaries(t, 80)
	p, s := connected(t)
	s.answer = func(w http.ResponseWriter, _ string) bool {
		sendJSON(w, http.StatusOK, fmt.Sprintf(`{"created":1,"data":[{"b64_json":%q}]}`, small.base64()))
		return true
	}
	s.chat.Answer = func(r chattest.Request) string {
		last := r.Messages[len(r.Messages)-1].Text
		_, after, made := strings.Cut(last, `"refId":"`)
		if !made {
			return act(t, "Generate Image", map[string]any{"Prompt": "a fox", "Model": "gpt-image-2"})
		}
		ref, _, _ := strings.Cut(after, `"`)
		return step(t, map[string]any{"done": true, "message": "Here.", "payload": map[string]any{
			"report_html": `<h1>Fox</h1><img src="${media:` + ref + `}" alt="a fox">`,
		}})
	}
	out := filepath.Join(p.dir, "out")
	found := sinks{}
	found.add(p.must("run", "sage", "Make a page about a fox.", "--out", out, "--json"))
	found.gather(p)
	found.prompts(s)
	found.search(t, small)
	page := mustRead(t, filepath.Join(out, "report.html"))
	if !strings.Contains(page, small.base64()) {
		t.Error("the exported report does not hold the picture")
	}
	if small.leaks([]byte(page)) == nil {
		t.Error("the searcher does not see the picture in the report, so it proves nothing elsewhere")
	}
	kept := read[struct {
		Run struct {
			Payload json.RawMessage `json:"payload"`
		} `json:"run"`
	}](p, "runs", "show", decode[answer](t, p.must("run", "sage", "Once more.", "--json")).RunID, "--json")
	if !strings.Contains(string(kept.Run.Payload), "${media:img-") {
		t.Errorf("the ledger's payload has no placeholder: %s", kept.Run.Payload)
	}
}
