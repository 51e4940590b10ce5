package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier/action/mediaset"
	"atelier/agent"
	"atelier/chat"
	"atelier/media"
)

// longReport returns an HTML report of about the given size with a picture at both ends.
func longReport(bytes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<h1>Report</h1><img src="${media:%s}">`, refOf(1))
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "<p>Paragraph %d says something of weight. Größe.</p>\n", i)
	}
	fmt.Fprintf(&b, `<img src="${media:%s}"><p>The end.</p>`, refOf(2))
	return b.String()
}

// TestLargeReportOfASubAgent: 2 MB of HTML are never in a prompt; the parent reads them by Offset and Limit, and
// includes them by ref.
func TestLargeReportOfASubAgent(t *testing.T) {
	t.Parallel()
	report := longReport(2 << 20)
	runes := []rune(report)
	doc := string(media.RefOf(media.ModalityDocument, media.DigestOf([]byte(report))))
	view := func(offset, limit int) string {
		return fmt.Sprintf(`{"actions":[{"name":"View Agent Media","params":{"RefId":"%s","Offset":%d,"Limit":%d}}]}`, doc, offset, limit)
	}
	w := build(t, setup{
		agents:  map[string]string{"painter": "agents: [writer]\n", "writer": painter},
		actions: mediaset.Actions(),
		answers: map[string][]any{
			"painter": {
				`{"agents":[{"name":"writer","task":"write"}]}`, view(1500, 20_000), view(len(runes)-50, 20_000),
				`{"message":"Here it is.","payload":{"report_html":"${media:` + doc + `}"},"done":true}`,
			},
			"writer": {paintStep(1, 2), func(chat.Request) string {
				return `{"payload":{"report_html":` + quoted(report) + `,"title":"Weight"},"done":true}`
			}},
		},
	})
	res, err := w.run(t, "x")
	if err != nil {
		t.Fatal(err)
	}
	if got := payloadText(t, res, "report_html"); got != report {
		t.Errorf("the report came back with %d of %d bytes", len(got), len(report))
	}
	if got := refs(res.Outputs); len(got) != 2 || len(res.AlsoMade) != 0 {
		t.Errorf("outputs %v, also made %v", got, refs(res.AlsoMade))
	}
	var asked []chat.Request
	for _, r := range w.script.allRequests() {
		if size(r) > 60_000 {
			t.Errorf("a prompt of %d characters", size(r))
		}
		if slugOf(r.System) == "painter" {
			asked = append(asked, r)
		}
	}
	for i, want := range map[int][]string{
		1: {`"refId":"` + doc + `"`, `"mimeType":"text/html"`, fmt.Sprintf(`"characters":%d`, len(runes)), "Paragraph 1 says", `"title":"Weight"`},
		2: {plainText(runes[1500:1600]), `"nextOffset":21500`},
		3: {"The end.", fmt.Sprintf(`"totalCharacters":%d`, len(runes))},
	} {
		for _, part := range want {
			if message := lastMessage(asked[i]); !strings.Contains(message, part) {
				t.Errorf("answer %d lacks %q: %.300s", i, part, message)
			}
		}
	}
	o, ok := res.Find(media.Ref(doc))
	if !ok || o.ID == "" || o.Modality != media.ModalityDocument || o.Origin.AgentPath != "painter/writer" {
		t.Errorf("the document is %+v", o)
	}
}

// plainText returns text as written inside a JSON string.
func plainText(r []rune) string { return strings.ReplaceAll(string(r), "\n", `\n`) }

// TestWhatBecomesADocument: only a large report-like text becomes a document; the payload that the parent gets is
// complete in any case.
func TestWhatBecomesADocument(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat("Some words of a finding. ", 600)
	for name, tt := range map[string]struct {
		key, text, yaml string
		document        bool
	}{
		"html by key":         {"report_html", prose, "", true},
		"markdown by key":     {"summary_markdown", prose, "", true},
		"html by its looks":   {"page", "<article>" + prose, "", true},
		"markdown by looks":   {"chapter", "# Chapter\n\n" + prose, "", true},
		"report by name":      {"short_report", prose, "", true},
		"findings stay text":  {"findings", prose, "", false},
		"small html":          {"report_html", "<p>" + prose[:9000], "", false},
		"threshold of agents": {"report_html", "<p>" + prose[:9000], "interception_threshold: 5000\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, setup{
				agents: map[string]string{"painter": "agents: [{slug: writer, payload_key: '.'}]\n", "writer": painter + tt.yaml},
				answers: map[string][]any{
					"painter": {`{"agents":[{"name":"writer","task":"write"}]}`, `{"message":"ok","done":true}`},
					"writer":  {`{"payload":{"` + tt.key + `":` + quoted(tt.text) + `},"done":true}`},
				},
			})
			res, err := w.run(t, "x")
			if err != nil || payloadText(t, res, tt.key) != tt.text {
				t.Fatalf("%v, the payload lost text", err)
			}
			message := lastMessage(lastRequest(w))
			if got := strings.Contains(message, `"refId":"doc-`); got != tt.document || len(message) > 6000 {
				t.Errorf("a document: %v; %.400s", got, message)
			}
			if len(res.AlsoMade)+len(res.Outputs) != 0 {
				t.Errorf("the copy is shown beside the answer: %v", refs(res.AlsoMade))
			}
		})
	}
}

// TestUnusedDocumentIsListed: a document that is not in the answer is listed as made.
func TestUnusedDocumentIsListed(t *testing.T) {
	t.Parallel()
	w := build(t, setup{
		agents: map[string]string{"painter": "agents: [writer]\n", "writer": painter},
		answers: map[string][]any{
			"painter": {`{"agents":[{"name":"writer","task":"write"}]}`, `{"message":"ok","done":true}`},
			"writer":  {`{"payload":{"report_html":` + quoted(longReport(20_000)) + `},"done":true}`},
		},
	})
	res, err := w.run(t, "x")
	if err != nil || len(res.AlsoMade) != 1 || res.AlsoMade[0].MIMEType != "text/html" {
		t.Errorf("%v, also made %v", err, refs(res.AlsoMade))
	}
}

// TestTakeOverOfOtherThings: only a text document can replace a report's text.
func TestTakeOverOfOtherThings(t *testing.T) {
	t.Parallel()
	w := build(t, setup{agents: map[string]string{"painter": painter}, answers: map[string][]any{"painter": {
		paintStep(1), `{"payload":{"report_html":"${media:` + refOf(1) + `}","note":"` + refOf(1) + `"},"done":true}`,
	}}})
	res, err := w.run(t, "x")
	if err != nil || payloadText(t, res, "report_html") != "${media:"+refOf(1)+"}" || payloadText(t, res, "note") != refOf(1) {
		t.Errorf("%v, %s", err, res.Payload)
	}
}

// TestTakeOverLeavesDataBehind: a document that a person attached may hold pictures as data; the payload holds their
// refs.
func TestTakeOverLeavesDataBehind(t *testing.T) {
	t.Parallel()
	page := `<h1>Page</h1><img src="data:image/png;base64,` + base64Of(picture(3)) + `">`
	w := build(t, setup{agents: map[string]string{"painter": painter}})
	b, err := w.store.Store(t.Context(), strings.NewReader(page), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	doc := media.NewOutput(b, media.Meta{Label: "Attached"})
	w.script.answers = map[string][]any{"painter": {`{"payload":{"report_html":"` + string(doc.Ref) + `"},"done":true}`}}
	res, err := w.runner.Run(t.Context(), agent.Request{Agent: "painter", Message: "x", Granted: []media.Output{doc}})
	if err != nil {
		t.Fatal(err)
	}
	if got := payloadText(t, res, "report_html"); got != `<h1>Page</h1><img src="${media:`+refOf(3)+`}">` {
		t.Errorf("the payload is %s", got)
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// payloadText returns a text of a run's payload.
func payloadText(t *testing.T, res *agent.Result, key string) string {
	t.Helper()
	var p map[string]any
	if err := json.Unmarshal(res.Payload, &p); err != nil {
		t.Fatal(err)
	}
	s, _ := p[key].(string)
	return s
}
