package conversation

import (
	"fmt"
	"strings"
	"testing"

	"atelier/chat"
	"atelier/ledger"
	"atelier/media"
)

const ref = media.Ref("img-7k3m9q2x")

// TestLongMessagesAreCut: a text is cut at its limit, never within a placeholder; text that only resembles one is not
// cut earlier.
func TestLongMessagesAreCut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, want string }{
		"prose":                  {strings.Repeat("a", messageBytes-10), strings.Repeat("b", 20), strings.Repeat("b", 10)},
		"within a placeholder":   {strings.Repeat("a", messageBytes-10), "${media:img-7k3m9q2x}", ""},
		"within its first signs": {strings.Repeat("a", messageBytes-2), "${media:img-7k3m9q2x}", ""},
		"behind a placeholder":   {strings.Repeat("a", messageBytes-30), "${media:img-7k3m9q2x} and so on, for long", "${media:img-7k3m9q2x} and so o"},
		"a price long before":    {"It costs $5, or ${10}. ", strings.Repeat("a", messageBytes), strings.Repeat("a", messageBytes-23)},
		"within a character":     {strings.Repeat("a", messageBytes-1), "éé", ""},
	} {
		if got, want := cut(c.before+c.after), c.before+c.want+" [shortened here]"; got != want {
			t.Errorf("%s: %d bytes, want %d: …%q", name, len(got), len(want), got[max(0, len(got)-60):])
		}
	}
	if whole := strings.Repeat("a", messageBytes); cut(whole) != whole {
		t.Error("a text of the limit is cut")
	}
}

// said returns an exchange, newest first as the ledger lists it.
func said(run, question, answer string) []ledger.Message {
	return []ledger.Message{
		{ID: "a" + run, RunID: run, Role: ledger.RoleAssistant, Text: answer, Status: ledger.StatusSucceeded},
		{ID: "q" + run, RunID: run, Role: ledger.RoleUser, Text: question},
	}
}

// TestHistoryKeepsWholeExchanges: the oldest exchanges that do not fit are omitted entirely, and a notice informs the model.
func TestHistoryKeepsWholeExchanges(t *testing.T) {
	t.Parallel()
	var list ledger.List[ledger.Message]
	for _, run := range []string{"4", "3", "2", "1"} {
		list.Items = append(list.Items, said(run, "question "+run, strings.Repeat("x", messageBytes)+run)...)
	}
	list.Items = append(list.Items, said("0", strings.Repeat("y", messageBytes), strings.Repeat("z", messageBytes))...)
	got := history(list, nil)
	if len(got) != 8 || !strings.HasPrefix(got[0].Text(), leftOut+"question 1") || got[7].Role != chat.RoleAssistant {
		t.Fatalf("%d messages, the first one %.80q", len(got), got[0].Text())
	}
	if whole := history(ledger.List[ledger.Message]{Items: list.Items[:4]}, nil); len(whole) != 4 || whole[0].Text() != "question 3" {
		t.Errorf("%d messages, the first one %.80q", len(whole), whole[0].Text())
	}
	if more := history(ledger.List[ledger.Message]{Items: list.Items[:2], Next: "older"}, nil); !strings.HasPrefix(more[0].Text(), leftOut) {
		t.Errorf("older messages are not mentioned: %q", more[0].Text())
	}
}

// TestHistoryPairsAnswers: an answer follows its own question even if two runs overlapped. A question without an
// answer, a failed run and an empty answer are marked as such; an answer without its question is omitted.
func TestHistoryPairsAnswers(t *testing.T) {
	t.Parallel()
	newest := []ledger.Message{
		{ID: "a5", RunID: "5", Role: ledger.RoleAssistant},
		{ID: "q5", RunID: "5", Role: ledger.RoleUser, Text: "five"},
		{ID: "a2", RunID: "2", Role: ledger.RoleAssistant, Text: "two!"},
		{ID: "a1", RunID: "1", Role: ledger.RoleAssistant, Status: ledger.StatusFailed, Failure: ledger.Failure{Message: "no key"}},
		{ID: "q3", RunID: "3", Role: ledger.RoleUser, Text: "three"},
		{ID: "q2", RunID: "2", Role: ledger.RoleUser, Text: "two"},
		{ID: "q1", RunID: "1", Role: ledger.RoleUser, Text: "one"},
		{ID: "a0", RunID: "0", Role: ledger.RoleAssistant, Text: "to a question that is too old"},
	}
	var got []string
	for _, m := range history(ledger.List[ledger.Message]{Items: newest}, nil) {
		got = append(got, string(m.Role)+" "+m.Text())
	}
	want := []string{
		"user one", "assistant [The run ended as failed: no key]", "user two", "assistant two!",
		"user three", "assistant [There is no answer to this message yet.]", "user five", "assistant [The answer has no text.]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestHistoryNamesAttachments: attachments that a text does not name follow it, oldest first, with short names.
func TestHistoryNamesAttachments(t *testing.T) {
	t.Parallel()
	newest := ledger.List[ledger.Message]{Items: said("1", "like ${media:"+string(ref)+"}?", "yes")}
	attached := []ledger.Attachment{
		{MessageID: "q1", Ref: "img-00000002", Name: strings.Repeat("long ", 40)},
		{MessageID: "q1", Ref: "img-00000001", Name: "a\nhouse"},
		{MessageID: "q1", Ref: ref, Name: "named in the text"},
		{MessageID: "another", Ref: "img-00000003"},
	}
	got := history(newest, attached)
	want := "like ${media:img-7k3m9q2x}?\n\n[Attached: img-00000001 (a house), img-00000002 (" + strings.Repeat("long ", 15) + "long )]"
	if got[0].Text() != want || got[1].Text() != "yes" {
		t.Errorf("%q\n%q", got[0].Text(), got[1].Text())
	}
}

// TestTitle: a conversation's title is the beginning of its first message, in one line, with refs for placeholders.
func TestTitle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ö", titleLength+1)
	for text, want := range map[string]string{
		" Paint\n\ta house ":                "Paint a house",
		"edit ${media:img-7k3m9q2x} please": "edit img-7k3m9q2x please",
		strings.Repeat("ö", titleLength):    strings.Repeat("ö", titleLength),
		long:                                strings.Repeat("ö", titleLength-1) + "…",
		"":                                  "",
	} {
		if got := title(text); got != want {
			t.Errorf("%q is called %q", text, got)
		}
	}
}

// TestManyAttachmentsLeaveTheConversation: an exchange with more attachments than a run is granted names the newest of
// them, so that the conversation still fits.
func TestManyAttachmentsLeaveTheConversation(t *testing.T) {
	t.Parallel()
	newest := ledger.List[ledger.Message]{Items: said("1", "look", "I made them")}
	var attached []ledger.Attachment // newest first
	for n := 499; n >= 0; n-- {
		attached = append(attached, ledger.Attachment{MessageID: "a1", Ref: media.Ref(fmt.Sprintf("img-00000%03d", n)), Name: strings.Repeat("long ", 16)})
	}
	got := history(newest, attached)
	if len(got) != 2 || !strings.Contains(got[1].Text(), "img-00000499") || strings.Contains(got[1].Text(), "img-00000100") || !strings.Contains(got[1].Text(), "400 more") {
		t.Fatalf("%d messages: %.300q", len(got), got)
	}
}

// TestStoppedMessagesStayUnseen: a message that a guardrail stopped before a model saw it is not shown to the model of
// the next run either.
func TestStoppedMessagesStayUnseen(t *testing.T) {
	t.Parallel()
	list := said("1", "tell the secret", "")
	list[0].Status, list[0].Failure = ledger.StatusFailed, ledger.Failure{Code: string(media.CodeModerated), Message: "the message was stopped before a model saw it: blocked terms in it: 1"}
	got := history(ledger.List[ledger.Message]{Items: list}, []ledger.Attachment{{MessageID: "q1", Ref: ref, Name: "a house"}})
	if len(got) != 2 || strings.Contains(got[0].Text(), "secret") || !strings.Contains(got[0].Text(), string(ref)) || !strings.Contains(got[1].Text(), "stopped") {
		t.Errorf("the model is told %q", got)
	}
}
