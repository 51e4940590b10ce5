package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier/chat/chattest"
	"atelier/ledger"
)

// shownConversation is what conversations show --json prints.
type shownConversation struct {
	Conversation ledger.Conversation `json:"conversation"`
	Items        []messageView       `json:"items"`
	Next         string              `json:"next"`
}

// runInConversation runs Sage in a conversation.
func (p *testEnv) runInConversation(conversation, message string) answer {
	p.t.Helper()
	ans := read[answer](p, "run", "sage", message, "--conversation", conversation, "--json")
	if ans.Status != "succeeded" || ans.Conversation == "" {
		p.t.Fatalf("%s: %+v", message, ans)
	}
	return ans
}

// onlyOutput returns the one picture of an answer.
func (a answer) onlyOutput(t *testing.T) outputView {
	t.Helper()
	if len(a.Outputs) != 1 || len(a.AlsoMade) != 0 {
		t.Fatalf("outputs %+v, also made %+v", a.Outputs, a.AlsoMade)
	}
	return a.Outputs[0]
}

// TestAPictureOfAnEarlierMessageIsEdited: message 1 draws a picture; messages 2 and 3 edit the latest one by its ref.
func TestAPictureOfAnEarlierMessageIsEdited(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"offline", "over the wire"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			p, s := newTestEnv(t), (*providers)(nil)
			if provider != "offline" {
				var url string
				s, url = serve(t)
				p.withOpenAI(s, url)
			}
			first := p.runInConversation("new", "Draw a lighthouse at the sea, 128x128")
			drawn := first.onlyOutput(t)
			second := p.runInConversation(first.Conversation, "Make that picture bluer")
			bluer := second.onlyOutput(t)
			third := p.runInConversation(first.Conversation, "Now put a boat into it")
			boat := third.onlyOutput(t)
			if drawn.Ref == bluer.Ref || bluer.Ref == boat.Ref || third.Conversation != first.Conversation {
				t.Errorf("%s, %s, %s", drawn.Ref, bluer.Ref, boat.Ref)
			}
			for _, c := range []struct{ run, made, of string }{
				{second.RunID, string(bluer.Ref), string(drawn.Ref)}, {third.RunID, string(boat.Ref), string(bluer.Ref)},
			} {
				if shown := p.must("media", "show", c.made, "--run", c.run).stdout; !strings.Contains(shown, "from "+c.of+" as input") {
					t.Errorf("lineage of %s: %s", c.made, shown)
				}
			}
			// The run that edited the picture finds it as the same item.
			if rec := read[itemView](p, "media", "show", string(drawn.Ref), "--run", second.RunID, "--json"); rec.Origin.Direction != "output" || rec.Tree != first.RunID {
				t.Errorf("record: %+v", rec)
			}
			p.must("media", "verify")
			got := read[shownConversation](p, "conversations", "show", first.Conversation, "--json")
			var said []string
			for _, m := range got.Items {
				names := []string{}
				for _, a := range m.Attachments {
					names = append(names, string(a.Ref))
				}
				said = append(said, fmt.Sprint(m.Role, names))
			}
			want := []string{"user[]", fmt.Sprintf("assistant[%s]", drawn.Ref), "user[]", fmt.Sprintf("assistant[%s]", bluer.Ref), "user[]", fmt.Sprintf("assistant[%s]", boat.Ref)}
			if !slices.Equal(said, want) {
				t.Errorf("said %q, want %q", said, want)
			}
			if s != nil {
				checkSentPictures(t, s, first, second)
			}
		})
	}
}

// checkSentPictures checks what was sent: the prompt of the third message, and the calls for pictures.
func checkSentPictures(t *testing.T, s *providers, first, second answer) {
	t.Helper()
	var third []chattest.Message
	for _, r := range s.chat.Requests() {
		if m := r.Messages; m[len(m)-1].Role == "user" && strings.HasPrefix(m[len(m)-1].Text, "Now put a boat") {
			third = m
		}
	}
	if len(third) != 6 {
		t.Fatalf("the third prompt has %d messages", len(third))
	}
	for i, want := range []string{"system", "user", "assistant", "user", "assistant", "user"} {
		if third[i].Role != want || len(third[i].Images) != 0 {
			t.Errorf("message %d is of %s with %d pictures", i, third[i].Role, len(third[i].Images))
		}
	}
	drawn, bluer := first.Outputs[0], second.Outputs[0]
	for i, want := range map[int]string{1: "Draw a lighthouse at the sea, 128x128", 2: "${media:" + string(drawn.Ref) + "}", 3: "Make that picture bluer", 4: "${media:" + string(bluer.Ref) + "}"} {
		if !strings.Contains(third[i].Text, want) {
			t.Errorf("message %d does not say %q: %s", i, want, third[i].Text)
		}
	}
	var block struct {
		Context struct {
			Media []struct{ RefID, Label string } `json:"media"`
		} `json:"context"`
	}
	_, fenced, _ := strings.Cut(third[5].Text, "```json\n")
	fenced, _, _ = strings.Cut(fenced, "\n```")
	if err := json.Unmarshal([]byte(fenced), &block); err != nil {
		t.Fatal(err)
	}
	granted := block.Context.Media
	if len(granted) != 2 || granted[0].RefID != string(drawn.Ref) || granted[1].RefID != string(bluer.Ref) || granted[1].Label != bluer.Label {
		t.Errorf("granted %+v", granted)
	}
	var paths []string
	for _, c := range s.images.Captured() {
		paths = append(paths, c.Path)
	}
	if want := []string{"/v1/images/generations", "/v1/images/edits", "/v1/images/edits"}; !slices.Equal(paths, want) {
		t.Errorf("called %q, want %q", paths, want)
	}
}

// TestViewAndForeignRefs: a picture of the conversation can be viewed; a ref of another conversation is unknown.
func TestViewAndForeignRefs(t *testing.T) {
	t.Parallel()
	p, s := connected(t)
	first := p.runInConversation("new", "Draw a lighthouse, 128x128")
	mine, foreign := first.onlyOutput(t), p.runInConversation("new", "Draw a lighthouse, 128x128").onlyOutput(t)
	asked := len(s.chat.Requests())
	s.chat.Answer = answersInOrder(
		act(t, "View Agent Media", map[string]any{"RefId": mine.Ref}, "Edit Image", map[string]any{"Prompt": "bluer", "Images": foreign.Ref}),
		done(t, "I see ${media:"+string(mine.Ref)+"}."))
	ans := p.runInConversation(first.Conversation, "What is in it?")
	after := s.chat.Requests()[asked:]
	sent := after[len(after)-1].Messages
	last := sent[len(sent)-1]
	if len(after) != 2 || len(last.Images) != 1 || "sha256-"+last.Images[0].SHA256 != mine.Digest.String() {
		t.Errorf("%d requests, pictures %+v", len(after), last.Images)
	}
	if !strings.Contains(last.Text, `"unknown_ref"`) || !strings.Contains(last.Text, "valid refs are "+string(mine.Ref)) {
		t.Errorf("the message is %s", last.Text)
	}
	// A picture that is shown again is attached again, and does not count as made by this run.
	got := read[shownConversation](p, "conversations", "show", first.Conversation, "--json").Items
	if a := got[len(got)-1].Attachments; len(a) != 1 || a[0].Ref != mine.Ref || ans.Usage.Images != 0 {
		t.Errorf("attached %+v, %d images made", a, ans.Usage.Images)
	}
	if n := len(s.images.Captured()); n != 2 {
		t.Errorf("%d calls for pictures, want 2", n)
	}
}

func TestConversationsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	o := p.must("run", "sage", "Draw a lighthouse, 128x128", "--conversation", "new")
	list := read[ledger.List[ledger.Conversation]](p, "conversations", "list", "--json")
	if len(list.Items) != 1 || !strings.Contains(o.stderr, "continue with --conversation "+list.Items[0].ID) || list.Items[0].Title != "Draw a lighthouse, 128x128" {
		t.Fatalf("%+v\n%s", list, o.stderr)
	}
	id := list.Items[0].ID
	shown := p.must("conversations", "show", id).stdout
	if !strings.Contains(shown, "Draw a lighthouse, 128x128") || !strings.Contains(shown, "[a lighthouse img-") || strings.Contains(shown, "${media:") {
		t.Errorf("shown: %s", shown)
	}
	page := read[shownConversation](p, "conversations", "show", id, "--limit", "1", "--json")
	rest := read[shownConversation](p, "conversations", "show", id, "--after", page.Next, "--json")
	if len(page.Items) != 1 || len(rest.Items) != 1 || rest.Next != "" || rest.Items[0].Role != ledger.RoleAssistant || rest.Items[0].Attachments[0].Digest.IsZero() {
		t.Errorf("pages %+v and %+v", page, rest)
	}
	p.must("run", "sage", "hello", "--conversation", "new")
	if o := p.must("conversations", "list", "--limit", "1"); strings.Contains(o.stdout, id) || !strings.Contains(o.stderr, "more: --after") {
		t.Errorf("first page: %s%s", o.stdout, o.stderr)
	}
	for says, args := range map[string][]string{
		"atelier conversations list": {"run", "sage", "x", "--conversation", "nothing"},
		"is empty":                   {"run", "sage", "x", "--conversation", " "},
		"there is no agent":          {"run", "nobody", "x", "--conversation", "new"},
		"there is no conversation":   {"conversations", "show", "01a1fcae-54c5-7a48-a751-be5140439267"},
		"not a cursor":               {"conversations", "list", "--after", "x"},
		"at least 1":                 {"conversations", "show", id, "--limit", "0"},
	} {
		p.atelier(args...).checkRefused(t, exitInput, says)
	}
	if n := len(read[ledger.List[ledger.Conversation]](p, "conversations", "list", "--json").Items); n != 2 {
		t.Errorf("%d conversations, want 2: what was refused began one", n)
	}
}

// TestProcessesShareAConversation: three processes continue a conversation at once, and it contains all their messages.
func TestProcessesShareAConversation(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	id := p.runInConversation("new", "Draw a lighthouse, 128x128").Conversation
	var all []*process
	for _, what := range []string{"bluer", "darker", "warmer"} {
		all = append(all, p.start("run", "sage", "Make it "+what, "--conversation", id, "--json"))
	}
	for _, s := range all {
		o := s.wait()
		ans := decode[answer](t, o)
		if o.code != exitOK || ans.Conversation != id || strings.Contains(strings.Join(ans.Warnings, " "), "saved") {
			t.Errorf("exit %d: %+v\n%s", o.code, ans, o.stderr)
		}
		ans.onlyOutput(t)
	}
	got := read[shownConversation](p, "conversations", "show", id, "--json")
	pictures := 0
	for _, m := range got.Items {
		pictures += len(m.Attachments)
	}
	if len(got.Items) != 8 || pictures != 4 {
		t.Errorf("%d messages, %d pictures", len(got.Items), pictures)
	}
}

// TestReportsContinue: an agent that writes reports continues a conversation as well.
func TestReportsContinue(t *testing.T) {
	t.Parallel()
	p := newTestEnv(t)
	files := p.folder()
	first := read[answer](p, "run", "research-agent", "How did the north do?", "--files", files, "--conversation", "new", "--json")
	second := read[answer](p, "run", "research-agent", "And the south?", "--files", files, "--conversation", first.Conversation, "--out", filepath.Join(p.dir, "out"), "--json")
	if second.Status != "succeeded" || second.Report == "" {
		t.Fatalf("%+v", second)
	}
	if page := mustRead(t, second.Report); !strings.Contains(page, "south") || strings.Contains(page, "How did the north do?") {
		t.Errorf("the report answers %.300s", page)
	}
}

// TestCanaryThroughConversations: no canary in a message, in the model's answer or in what it makes leaks into a later
// message.
func TestCanaryThroughConversations(t *testing.T) {
	t.Parallel()
	small, big := newCanaries(t, 90)
	p, s := connected(t)
	both := "see " + small.url() + " and " + big.url() + " " + big.base64()
	s.chat.Answer = answersInOrder(step(t, map[string]any{
		"reasoning": both, "message": both, "done": true,
		"promote": []any{map[string]any{"ref": big.base64(), "label": both, "description": both}},
	}))
	found := sinks{}
	say := func(conversation string) string {
		o := p.must("run", "sage", "What is this? "+both, "--conversation", conversation, "--json")
		o.args = []string{"run"}
		found.add(o)
		return decode[answer](t, o).Conversation
	}
	id := say("new")
	say(id)
	o := p.must("run", "sage", big.url(), "--conversation", id)
	o.args = []string{"run"}
	found.add(o)
	found.add(p.must("conversations", "show", id))
	for _, bad := range []string{small.base64(), big.url()} {
		o := p.atelier("run", "sage", "x", "--conversation", bad)
		o.args = []string{"run"}
		found.add(o)
	}
	found.gather(p)
	for _, r := range s.chat.Requests() {
		found["prompts"] = append(found["prompts"], plainPrompt(t, r)...)
	}
	found.search(t, small, big)
	checkStored(t, p, big)
	got := read[shownConversation](p, "conversations", "show", id, "--json")
	if len(got.Items) != 6 || len(got.Items[0].Attachments) == 0 || !strings.Contains(got.Items[0].Text, "${media:img-") {
		t.Errorf("%+v", got)
	}
}
