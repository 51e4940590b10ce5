package conversation

import (
	"fmt"
	"slices"
	"strings"

	"atelier/chat"
	"atelier/ledger"
	"atelier/media"
)

// The budget of a conversation in a prompt: a run receives the newest exchanges that fit. Exchanges
// that do not fit are omitted whole, oldest first.
const (
	// historyMessages is the maximum number of messages.
	historyMessages = 40
	// historyBytes is the maximum length of all their texts.
	historyBytes = 24_000
	// messageBytes is the maximum length of one text; a longer one is shortened.
	messageBytes = 4_000
	// labelRunes is the maximum number of characters shown of an attachment's name.
	labelRunes = 80
)

// leftOut precedes the first message of a longer conversation.
const leftOut = "[Earlier messages of this conversation are left out.]\n\n"

// exchange is a message and its answer.
type exchange struct{ asked, answered *ledger.Message }

// history returns the chat history of a conversation from its newest messages and attachments, both newest first.
// Messages of concurrent runs are paired with their own answers.
func history(newest ledger.List[ledger.Message], attached []ledger.Attachment) []chat.Message {
	of := map[string][]ledger.Attachment{}
	for _, a := range slices.Backward(attached) {
		of[a.MessageID] = append(of[a.MessageID], a)
	}
	var exchanges []exchange // oldest first, without answers whose messages are left out
	byRun := map[string]int{}
	for i := range slices.Backward(newest.Items) {
		m := &newest.Items[i]
		if m.Role == ledger.RoleUser {
			byRun[m.RunID] = len(exchanges)
			exchanges = append(exchanges, exchange{asked: m})
		} else if at, ok := byRun[m.RunID]; ok {
			exchanges[at].answered = m
		}
	}
	more := newest.Next != ""
	var out []chat.Message
	room := historyBytes
	for _, x := range slices.Backward(exchanges) {
		text := x.asked.Text
		if x.answered != nil && x.answered.Failure.Code == string(media.CodeModerated) { // no model sees it later either
			text = "[This message was refused.]"
		}
		asked, answered := cut(text)+attachedText(text, of[x.asked.ID]), "[There is no answer to this message yet.]"
		if x.answered != nil {
			answered = answerText(*x.answered, of[x.answered.ID])
		}
		if room -= len(asked) + len(answered); room < 0 {
			more = true
			break
		}
		out = append(out, chat.Text(chat.RoleAssistant, answered), chat.Text(chat.RoleUser, asked))
	}
	slices.Reverse(out)
	if more && len(out) > 0 {
		out[0] = chat.Text(chat.RoleUser, leftOut+out[0].Text())
	}
	return out
}

func answerText(m ledger.Message, attached []ledger.Attachment) string {
	parts := []string{}
	if m.Text != "" {
		parts = append(parts, cut(m.Text))
	}
	if m.Failure.Message != "" {
		parts = append(parts, fmt.Sprintf("[The run ended as %s: %s]", m.Status, cut(m.Failure.Message)))
	}
	if len(parts) == 0 {
		parts = append(parts, "[The answer has no text.]")
	}
	return strings.Join(parts, "\n\n") + attachedText(m.Text, attached)
}

// attachedText names the attachments of a message that its text does not name; of too many, the newest ones.
func attachedText(text string, attached []ledger.Attachment) string {
	var names []string
	shown := media.Refs(cut(text))
	for _, a := range attached {
		if slices.Contains(shown, a.Ref) {
			continue
		}
		name := []rune(strings.Join(strings.Fields(a.Name), " "))
		names = append(names, fmt.Sprintf("%s (%s)", a.Ref, string(name[:min(len(name), labelRunes)])))
	}
	if len(names) == 0 {
		return ""
	}
	if more := len(names) - grantedItems; more > 0 {
		names = append([]string{fmt.Sprintf("%d more", more)}, names[more:]...)
	}
	return "\n\n[Attached: " + strings.Join(names, ", ") + "]"
}

// cut shortens a long text, never within a placeholder.
func cut(text string) string {
	if len(text) <= messageBytes {
		return text
	}
	short := strings.ToValidUTF8(text[:messageBytes], "")
	if at := strings.LastIndex(short, "$"); at >= 0 {
		const start = "${media:"
		if end := short[at:]; strings.HasPrefix(start, end) || strings.HasPrefix(end, start) && !strings.ContainsAny(end, "} \n") {
			short = short[:at]
		}
	}
	return short + " [shortened here]"
}
