package transcript_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/agent/definition"
	"atelier/agent/transcript"
	"atelier/chat"
	"atelier/media"
)

// item adds a picture to a set.
func item(t *testing.T, set *media.Set, name string) media.Output {
	t.Helper()
	o, err := set.Add(media.NewOutput(media.Blob{Digest: media.DigestOf([]byte(name)), SizeBytes: 100, Facts: media.Facts{MIMEType: "image/png", Width: 4, Height: 4}}, media.Meta{Label: name}))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func sight(o media.Output) transcript.Sight {
	return transcript.Sight{Ref: o.Ref, Shown: o, Turns: 1}
}

// text returns all text that the model reads.
func text(h *transcript.History) string {
	var b strings.Builder
	for _, m := range h.Messages() {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}

// pictures returns the refs of the pictures that the model sees.
func pictures(h *transcript.History) (refs []media.Ref) {
	for _, m := range h.Messages() {
		for _, p := range m.Parts {
			if p.Media != nil {
				refs = append(refs, p.Media.Ref)
			}
		}
	}
	return refs
}

// result returns the outcome of an action that produced a text and items.
func result(name, text string, made ...media.Output) action.Outcome {
	return action.Outcome{Name: name, Success: true, Code: action.Success, Message: "done", Outputs: map[string]any{"text": text}, Media: made}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	var h transcript.History
	h.Recall([]chat.Message{chat.Text(chat.RoleUser, "Hello"), chat.Text(chat.RoleAssistant, "A <b>word</b>")})
	h.Begin(transcript.Opening{Task: "The task", Input: map[string]any{"k": "v"}})
	h.AddAnswer(1, `{"actions":[]}`)
	h.AddResults(1, transcript.Results{Warnings: []string{"careful"}})
	var got []string
	for _, m := range h.Messages() {
		got = append(got, string(m.Role)+": "+m.Text())
	}
	want := []string{
		"user: Hello",
		`assistant: {"done":true,"message":"A <b>word</b>"}`,
		"user: The task\n\n```json\n{\"context\":{\"input\":{\"k\":\"v\"}}}\n```",
		`assistant: {"actions":[]}`,
		"user: ```json\n{\"results\":{\"warnings\":[\"careful\"]}}\n```",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNotice: a notice of the run is in the last message that the model reads, whatever that is.
func TestNotice(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]func(*transcript.History){
		"task":    func(h *transcript.History) { h.Begin(transcript.Opening{Task: "x"}) },
		"results": func(h *transcript.History) { h.AddResults(1, transcript.Results{}) },
		"answer":  func(h *transcript.History) { h.AddAnswer(1, "prose") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var h transcript.History
			h.Begin(transcript.Opening{Task: "first"})
			last(&h)
			h.Notice("This is your last turn.")
			messages := h.Messages()
			for i, m := range messages {
				if got := strings.Contains(m.Text(), "This is your last turn."); got != (i == len(messages)-1) {
					t.Errorf("message %d: %v: %q", i, got, m.Text())
				}
			}
		})
	}
}

func TestBounded(t *testing.T) {
	t.Parallel()
	list := func(n int, of func(i int) any) []any {
		var out []any
		for i := range n {
			out = append(out, of(i))
		}
		return out
	}
	items := func(i int) any { return map[string]any{"refId": fmt.Sprint(i)} }
	mixed := func(i int) any {
		if i%10 == 0 {
			return map[string]any{"error": fmt.Sprint("no ", i)}
		}
		return items(i)
	}
	for name, c := range map[string]struct {
		value any
		size  int // of the resulting list
	}{
		"as many as are shown": {list(50, items), 50},
		"one more":             {list(51, items), 26},
		"many, some failed":    {list(500, mixed), 26},
		"other things":         {list(500, func(i int) any { return i }), 500},
		"objects":              {list(500, func(i int) any { return map[string]any{"x": i} }), 500},
		"nothing":              {[]any{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := string(mustJSON(t, c.value))
			got, _ := transcript.Bounded(map[string]any{"deep": []any{c.value}}).(map[string]any)
			inner := got["deep"].([]any)[0].([]any)
			if len(inner) != c.size {
				t.Fatalf("%d of the list, want %d", len(inner), c.size)
			}
			if string(mustJSON(t, c.value)) != before {
				t.Error("the value changed")
			}
		})
	}
	gap, _ := transcript.BoundedList(list(500, mixed))[20].(map[string]any)
	if gap["leftOut"] != 475 || gap["count"] != 500 || gap["failed"] != 48 || gap["firstError"] != "no 20" {
		t.Errorf("in the place of the middle: %v", gap)
	}
	for _, v := range []any{nil, "text", 3.5} {
		if got := transcript.Bounded(v); got != v {
			t.Errorf("%v became %v", v, got)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBoundOfResults: it holds in bytes, also for characters of several bytes.
func TestBoundOfResults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("語", 2<<20)
	r := transcript.Results{
		Actions: []action.Outcome{{Name: "Act", Outputs: map[string]any{"text": long}}},
		Agents:  []transcript.Agent{{Name: "Writer", Message: long, Payload: map[string]any{"text": long}}},
	}
	r.Bound(&media.Set{})
	if n := len(transcript.Fenced(r)); n < 1<<19 || n > 1<<20+2000 {
		t.Errorf("%d bytes", n)
	}
}

func TestCutMiddle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text        string
		n           int
		first, last string // of the cut text; empty if it remains whole
	}{
		"empty":             {"", 0, "", ""},
		"short":             {"abc", 3, "", ""},
		"not worth cutting": {strings.Repeat("a", 500), 300, "", ""},
		"long":              {strings.Repeat("a", 300) + strings.Repeat("b", 300), 300, strings.Repeat("a", 200) + "\n", "\n" + strings.Repeat("b", 100)},
		"characters":        {strings.Repeat("ä", 300) + strings.Repeat("😀", 300), 300, strings.Repeat("ä", 200) + "\n", "\n" + strings.Repeat("😀", 100)},
		"to nothing":        {strings.Repeat("a", 300), 0, "\n[… 300 characters", "…]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := transcript.CutMiddle(c.text, c.n)
			if c.first == "" {
				if got != c.text {
					t.Errorf("it was cut: %q", got)
				}
				return
			}
			if !strings.HasPrefix(got, c.first) || !strings.HasSuffix(got, c.last) || !utf8.ValidString(got) {
				t.Errorf("%q", got)
			}
			if left := fmt.Sprintf("%d characters left out", utf8.RuneCountInString(c.text)-c.n); !strings.Contains(got, left) {
				t.Errorf("%q does not say %q", got, left)
			}
		})
	}
}

// TestExpire: an expired result is shortened once, as its action's entry says; its refs remain.
func TestExpire(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 200)
	for name, c := range map[string]struct {
		use  definition.ActionUse
		ok   bool
		turn int
		want string // of the outputs; empty means the whole text
		due  int
	}{
		"no entry":         {definition.ActionUse{}, false, 9, "", 0},
		"never":            {definition.ActionUse{}, true, 9, "", 0},
		"not yet":          {definition.ActionUse{ExpirationTurns: 2}, true, 3, "", 0},
		"removed":          {definition.ActionUse{ExpirationTurns: 2}, true, 4, `"shortened":"[left out`, 0},
		"kept":             {definition.ActionUse{ExpirationTurns: 2, ExpirationMode: definition.ExpireNone}, true, 4, "", 0},
		"cut":              {definition.ActionUse{ExpirationTurns: 2, ExpirationMode: definition.ExpireCompact, CompactLength: 20}, true, 4, `"shortened":"{\"text\":\"word word w… [left out`, 0},
		"short already":    {definition.ActionUse{ExpirationTurns: 2, ExpirationMode: definition.ExpireCompact, CompactLength: 2000}, true, 4, "", 0},
		"to be summarised": {definition.ActionUse{ExpirationTurns: 2, ExpirationMode: definition.ExpireCompact, CompactMode: definition.CompactSummarize, CompactLength: 20}, true, 4, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := &media.Set{}
			o := item(t, set, "cat")
			var h transcript.History
			h.Begin(transcript.Opening{Task: "x"})
			h.AddResults(1, transcript.Results{Actions: []action.Outcome{result("Read", long+string(o.Ref))}})
			uses := func(name string) (definition.ActionUse, bool) { return c.use, c.ok && name == "Read" }
			due := h.Expire(c.turn, set, uses)
			got := text(&h)
			if len(due) != c.due {
				t.Fatalf("%d are due, want %d", len(due), c.due)
			}
			if whole := strings.Contains(got, long); whole != (c.want == "") || !strings.Contains(got, c.want) || !strings.Contains(got, string(o.Ref)) {
				t.Errorf("the model reads %s", got)
			}
			if again := h.Expire(c.turn+1, set, uses); c.due == 0 && c.want != "" && (len(again) > 0 || text(&h) != got) {
				t.Errorf("it became shorter twice: %s", text(&h))
			}
			if c.due == 0 {
				return
			}
			s := due[0]
			if s.Made() != 1 || s.Outcome().Name != "Read" || !strings.Contains(s.Text, long) {
				t.Errorf("due is %+v of turn %d", s.Outcome(), s.Made())
			}
			if s.Summarised("", set); !strings.Contains(text(&h), `"shortened":"{\"text\":\"word word w… `) {
				t.Errorf("without a summary the model reads %s", text(&h))
			}
			s.Summarised("short", set)
			if got := text(&h); strings.Contains(got, long) || !strings.Contains(got, `"summary":"short"`) || !strings.Contains(got, string(o.Ref)) {
				t.Errorf("after the summary the model reads %s", got)
			}
			if again := h.Expire(c.turn+1, set, uses); len(again) > 0 {
				t.Error("it is to be summarised twice")
			}
		})
	}
}

// TestStages: the stages shorten a long conversation more and more, and every ref remains named. Once everything is
// short, they report that nothing changed.
func TestStages(t *testing.T) {
	t.Parallel()
	set := &media.Set{}
	var h transcript.History
	var refs []media.Ref
	word := func(name string) string {
		o := item(t, set, name)
		refs = append(refs, o.Ref)
		return strings.Repeat(name+" ", 1500) + o.Ref.Placeholder() + strings.Repeat(" "+name, 1500)
	}
	h.Recall([]chat.Message{chat.Text(chat.RoleUser, "before "+strings.Repeat("x", 5000))})
	shown := item(t, set, "shown")
	refs = append(refs, shown.Ref)
	h.Begin(transcript.Opening{Task: word("task"), Input: map[string]any{"given": word("input")}, Images: []transcript.Sight{sight(shown)}})
	for turn := 1; turn <= 6; turn++ {
		h.AddAnswer(turn, `{"message":"`+word(fmt.Sprint("answer", turn))+`"}`)
		h.AddResults(turn, transcript.Results{
			Actions: []action.Outcome{result(fmt.Sprint("Act", turn), word(fmt.Sprint("result", turn)))},
			Agents:  []transcript.Agent{{Name: "Writer", Success: true, Message: "written", Payload: map[string]any{"report": word(fmt.Sprint("report", turn))}}},
		})
	}
	payload := map[string]any{"chapter": "ä<"}
	weight := func() int { return len(text(&h)) + 1000*len(pictures(&h)) }
	size := weight()
	for i, s := range transcript.Stages() {
		if !s.Shrink(&h, set, payload) {
			t.Errorf("stage %d (%s) changed nothing", i, s.Description)
		}
		now := text(&h)
		if weight() >= size {
			t.Errorf("stage %d (%s) made %d of %d bytes", i, s.Description, weight(), size)
		}
		size = weight()
		for _, ref := range refs {
			if !strings.Contains(now, string(ref)) {
				t.Fatalf("stage %d (%s) lost %s", i, s.Description, ref)
			}
		}
	}
	last := text(&h)
	if size > 20_000 || strings.Contains(last, "before") || len(pictures(&h)) > 0 || !strings.Contains(last, `"payloadCharacters":{"chapter":4}`) || !strings.Contains(last, "turn 4: Act4: SUCCESS done") {
		t.Errorf("%d bytes, pictures %v: %s", size, pictures(&h), last)
	}
	var short transcript.History
	short.Begin(transcript.Opening{Task: "x"})
	for i, s := range transcript.Stages() {
		if s.Shrink(&short, set, nil) {
			t.Errorf("stage %d (%s) found something in a task of one letter: %s", i, s.Description, text(&short))
		}
	}
	var long transcript.History
	long.Begin(transcript.Opening{Task: strings.Repeat("x", 10_000)})
	for _, s := range transcript.Stages() {
		s.Shrink(&long, set, nil)
	}
	if got := text(&long); len(got) > 2000 || strings.Contains(got, "messagesLeftOut") {
		t.Errorf("of a long task without refs, no message was left out: %s", got)
	}
}

func TestPicturesInSight(t *testing.T) {
	t.Parallel()
	set := &media.Set{}
	a, b, c, d := item(t, set, "a"), item(t, set, "b"), item(t, set, "c"), item(t, set, "d")
	build := func() *transcript.History {
		var h transcript.History
		h.Begin(transcript.Opening{Task: "x", Images: []transcript.Sight{sight(a)}})
		given, shown := sight(b), sight(c)
		given.Given, given.Turns = true, 5
		shown.Policy, shown.Turns = true, 5
		h.AddResults(1, transcript.Results{Views: []transcript.Sight{given, shown, sight(d)}})
		return &h
	}
	none := func(string) (definition.ActionUse, bool) { return definition.ActionUse{}, false }
	for name, e := range map[string]struct {
		do    func(h *transcript.History)
		want  []media.Ref
		given int
		told  string
	}{
		"all":             {func(*transcript.History) {}, []media.Ref{a.Ref, b.Ref, c.Ref, d.Ref}, 2, ""},
		"in time":         {func(h *transcript.History) { h.Expire(2, set, none) }, []media.Ref{a.Ref, b.Ref, c.Ref, d.Ref}, 2, ""},
		"after its turns": {func(h *transcript.History) { h.Expire(3, set, none) }, []media.Ref{a.Ref, b.Ref, c.Ref}, 2, ""},
		"replaced":        {func(h *transcript.History) { h.ReplaceGiven() }, []media.Ref{c.Ref, d.Ref}, 0, string(a.Ref) + " is not shown any more: the person gave other pictures."},
		"room for it": {func(h *transcript.History) {
			h.Withdraw(1, definition.VisionContextPolicy{MaxImages: 2, MaxTotalBytes: 1000}, 1, 100)
		}, []media.Ref{a.Ref, b.Ref, c.Ref, d.Ref}, 2, ""},
		"newer ones, number": {func(h *transcript.History) {
			h.Withdraw(1, definition.VisionContextPolicy{MaxImages: 1, MaxTotalBytes: 1000}, 1, 100)
		}, []media.Ref{a.Ref, b.Ref, d.Ref}, 2, ""},
		"newer ones, bytes": {func(h *transcript.History) {
			h.Withdraw(1, definition.VisionContextPolicy{MaxImages: 9, MaxTotalBytes: 150}, 1, 100)
		}, []media.Ref{a.Ref, b.Ref, d.Ref}, 2, ""},
		"lost, of the task": {func(h *transcript.History) {
			if refs := h.RemovePicture(a.Digest, "its bytes are missing"); !slices.Equal(refs, []media.Ref{a.Ref}) {
				t.Errorf("lost %v", refs)
			}
		}, []media.Ref{b.Ref, c.Ref, d.Ref}, 1, "You cannot see " + string(a.Ref) + " any more: its bytes are missing."},
		"lost, of results": {func(h *transcript.History) { h.RemovePicture(d.Digest, "its bytes are damaged") }, []media.Ref{a.Ref, b.Ref, c.Ref}, 2, "You cannot see " + string(d.Ref) + " any more: its bytes are damaged."},
		"lost, not there": {func(h *transcript.History) {
			if refs := h.RemovePicture(media.DigestOf([]byte("other")), "x"); len(refs) > 0 {
				t.Errorf("lost %v", refs)
			}
		}, []media.Ref{a.Ref, b.Ref, c.Ref, d.Ref}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build()
			e.do(h)
			if got := pictures(h); !slices.Equal(got, e.want) || h.Given() != e.given {
				t.Errorf("in sight are %v, %d of them given; want %v, %d", got, h.Given(), e.want, e.given)
			}
			if !strings.Contains(text(h), e.told) {
				t.Errorf("the model reads %s", text(h))
			}
		})
	}
}

func TestProblem(t *testing.T) {
	t.Parallel()
	many := media.Errorf(media.CodeUnknownRef, "unknown")
	for i := range 60 {
		many.Valid = append(many.Valid, fmt.Sprint(i))
	}
	if p := transcript.Problem(fmt.Errorf("look: %w", many)); p.Code != media.CodeUnknownRef || len(p.Valid) != 50 || len(many.Valid) != 60 {
		t.Errorf("%+v", p)
	}
	if p := transcript.Problem(errors.New(strings.Repeat("long ", 1000))); p.Code != media.CodeInternal || len(p.Message) > 1010 || p.Valid != nil {
		t.Errorf("%s, %d bytes, %v", p.Code, len(p.Message), p.Valid)
	}
}
