// Package step defines the names and contents of durable steps as types. Journals, saved states and people see the text
// of a name; only this package writes and parses it. The contents are the JSON of these types, by kind:
//
//	given                [Given]
//	guardrail            [Verdict]
//	images               [Admission]
//	budget               a string: the budget that ends the run, empty for none
//	summary, model       [ModelCall]; with the tail media [Pictures], with the tail again {}
//	action               [Act]; with the tail approval or ask a [Reply]
//	ask, question        [Reply], also for code-ask
//	view, show, answer   [Fitted]
//	code                 what the code of the stage returned
//	sleep                the end in milliseconds since 1970, or true in a transcript
//	attempt, poll        [ProviderCall]
//
// Values of packages that this one must not import, such as the answer of a chat model, are type parameters.
//
// It may import only media and the standard library.
package step

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a step. Its text is part of the name.
type Kind string

// The kinds of steps and parts. A part is the journal of a sub-agent or a generation.
const (
	KindOther Kind = "" // not a name of this program: Label contains its text

	// Before the first turn of an agent.
	KindGiven     Kind = "given"     // the media given to the run are recorded
	KindGuardrail Kind = "guardrail" // the message is checked
	KindImages    Kind = "images"    // the pictures of the task are fitted

	// In a turn: Turn counts from 1.
	KindSummary  Kind = "summary" // the result Index of turn Made is summarized
	KindBudget   Kind = "budget"  // whether a budget ends the run with this turn; in turn 0, before it begins
	KindModel    Kind = "model"   // the model is called
	KindAction   Kind = "action"  // the act Index
	KindAgent    Kind = "agent"   // part: the act Index asks the sub-agent Label
	KindQuestion Kind = "ask"     // the agent asks a person
	KindView     Kind = "view"    // the item Label is fitted, because the model requested it
	KindShow     Kind = "show"    // the same, because the vision policy shows it
	KindAnswer   Kind = "answer"  // the same, because it came with an answer

	// In a stage of Go code: Turn is the stage's number, Index counts everything in it, including sub-agents.
	KindCode     Kind = "code"     // a part of the code itself
	KindStageAsk Kind = "question" // the code asks a person

	// By number alone.
	KindCodeQuestion Kind = "code-ask" // Go code asks a person for the Index-th time
	KindSleep        Kind = "sleep"    // the Index-th sleep

	// Of a generation: Label is the operation's key.
	KindGenerate Kind = "generate" // part
	KindResume   Kind = "resume"   // part
	KindRetry    Kind = "retry"    // part: the round whose first call is Index
	KindFound    Kind = "found"    // part: the same, for calls found at the provider
	KindAttempt  Kind = "attempt"  // the attempt Index of the call Call
	KindPoll     Kind = "poll"     // the poll Index of the call Call
)

// TailKind is the kind of a step that accompanies another step and is named after it.
type TailKind string

// The kinds of tails.
const (
	TailApproval TailKind = "approval" // waits until a person approves the step
	TailMedia    TailKind = "media"    // records the pictures that a model made in the step
	TailShort    TailKind = "short"    // the model call with a context shortened Number times
	TailSeeing   TailKind = "seeing"   // the model call repeated Number times without lost pictures
	TailAgain    TailKind = "again"    // records that a call without an answer is repeated
	TailCall     TailKind = "call"     // the Number-th equal act of the step's code; Key is its hash
	TailAsk      TailKind = "ask"      // the Number-th question of the step's code
)

// Name is the name of a step within its agent. The kind determines which fields are used; [Name.String] and [Parse] are
// inverse functions.
type Name struct {
	Kind Kind
	// Turn, Index and Made count from 1; Call is the number of a provider call.
	Turn, Index, Made, Call int
	// Label is a slug, a ref or a key.
	Label string
	Tail  []Tail
}

// Tail is a suffix of a name.
type Tail struct {
	Kind   TailKind
	Number int
	Key    string
}

// In returns the name of a step of a turn.
func In(turn int, kind Kind) Name { return Name{Kind: kind, Turn: turn} }

// Action returns the name of an act of a turn.
func Action(turn, index int) Name { return Name{Kind: KindAction, Turn: turn, Index: index} }

// Shown returns the name of the fitting of an item in a turn.
func Shown(turn int, kind Kind, ref string) Name { return Name{Kind: kind, Turn: turn, Label: ref} }

// With returns the name of a step that accompanies this one.
func (n Name) With(kind TailKind) Name { return n.with(Tail{Kind: kind}) }

// Numbered is [Name.With] for counted kinds.
func (n Name) Numbered(kind TailKind, number int) Name {
	return n.with(Tail{Kind: kind, Number: number})
}

// Called returns the name of an act of this step's code.
func (n Name) Called(key string, number int) Name {
	return n.with(Tail{Kind: TailCall, Key: key, Number: number})
}

func (n Name) with(t Tail) Name {
	n.Tail = append(n.Tail[:len(n.Tail):len(n.Tail)], t)
	return n
}

// Asked reports whether a model's answer requested the step: an act, a sub-agent, a question to a person, or a step
// that accompanies them.
func (n Name) Asked() bool {
	return n.Kind == KindAction || n.Kind == KindAgent || n.Kind == KindQuestion
}

// Acts reports whether the step is an act itself, not a question that accompanies it.
func (n Name) Acts() bool {
	return n.Kind == KindAction && !n.Ends(TailApproval) && !n.Ends(TailAsk)
}

// Calls reports whether the step calls a model, or accompanies such a call.
func (n Name) Calls() bool { return n.Kind == KindModel || n.Kind == KindSummary }

// Has reports whether the name contains a tail of a kind.
func (n Name) Has(kind TailKind) bool {
	return slices.ContainsFunc(n.Tail, func(t Tail) bool { return t.Kind == kind })
}

// Ends reports whether the name ends with a tail of a kind.
func (n Name) Ends(kind TailKind) bool {
	return len(n.Tail) > 0 && n.Tail[len(n.Tail)-1].Kind == kind
}

// Compare compares names by their texts; it returns 0 for equal names.
func (n Name) Compare(other Name) int { return strings.Compare(n.String(), other.String()) }

// String returns the text of the name.
func (n Name) String() string {
	s := n.head()
	for _, t := range n.Tail {
		s += t.text()
	}
	return s
}

func (n Name) head() string {
	switch n.Kind {
	case KindOther:
		return n.Label
	case KindGiven, KindGuardrail, KindImages:
		return string(n.Kind)
	case KindSummary:
		return fmt.Sprintf("turn-%d-summary-%d-%d", n.Turn, n.Made, n.Index)
	case KindBudget, KindModel, KindQuestion:
		return "turn-" + strconv.Itoa(n.Turn) + "-" + string(n.Kind)
	case KindAction, KindCode, KindStageAsk:
		return "turn-" + strconv.Itoa(n.Turn) + "-" + string(n.Kind) + "-" + strconv.Itoa(n.Index)
	case KindAgent:
		return fmt.Sprintf("turn-%d-agent-%d-%s", n.Turn, n.Index, n.Label)
	case KindView, KindShow, KindAnswer:
		return fmt.Sprintf("turn-%d-%s-%s", n.Turn, n.Kind, n.Label)
	case KindCodeQuestion:
		return "ask-" + strconv.Itoa(n.Index)
	case KindSleep:
		return "sleep-" + strconv.Itoa(n.Index)
	case KindGenerate, KindResume:
		return string(n.Kind) + "-" + n.Label
	case KindRetry, KindFound:
		return fmt.Sprintf("%s-%s-%d", n.Kind, n.Label, n.Index)
	case KindAttempt, KindPoll:
		return fmt.Sprintf("call-%d-%s-%d", n.Call, n.Kind, n.Index)
	}
	return string(n.Kind)
}

func (t Tail) text() string {
	s := "-" + string(t.Kind)
	if t.Kind == TailCall {
		s += "-" + t.Key
	}
	if t.Kind != TailApproval && t.Kind != TailMedia {
		s += "-" + strconv.Itoa(t.Number)
	}
	return s
}

// Parse parses a name. A text that is not a name of this program has [KindOther].
func Parse(text string) Name {
	if n, ok := parse(strings.Split(text, "-")); ok && n.String() == text {
		return n
	}
	return Name{Label: text}
}

// nameReader are the unread words of a name.
type nameReader struct {
	unread []string
	bad    bool
}

func (w *nameReader) next() string {
	if len(w.unread) == 0 {
		w.bad = true
		return ""
	}
	s := w.unread[0]
	w.unread = w.unread[1:]
	return s
}

func (w *nameReader) number() int {
	n, err := strconv.Atoi(w.next())
	w.bad = w.bad || err != nil || n < 0
	return n
}

// rest reads all unread words except the last ones.
func (w *nameReader) rest(without int) string {
	if len(w.unread) <= without {
		w.bad = true
		return ""
	}
	s := strings.Join(w.unread[:len(w.unread)-without], "-")
	w.unread = w.unread[len(w.unread)-without:]
	return s
}

func parse(list []string) (n Name, ok bool) {
	w := &nameReader{unread: list}
	switch first := w.next(); Kind(first) {
	case KindGiven, KindGuardrail, KindImages:
		n.Kind = Kind(first)
	case KindQuestion:
		n.Kind, n.Index = KindCodeQuestion, w.number()
	case KindSleep:
		n.Kind, n.Index = KindSleep, w.number()
	case KindGenerate, KindResume:
		n.Kind, n.Label = Kind(first), w.rest(0)
	case KindRetry, KindFound:
		n.Kind, n.Label, n.Index = Kind(first), w.rest(1), w.number()
	case "call":
		n.Call, n.Kind, n.Index = w.number(), Kind(w.next()), w.number()
		w.bad = w.bad || n.Kind != KindAttempt && n.Kind != KindPoll
	case "turn":
		n.Turn = w.number()
		n.ofTurn(w)
	default:
		return n, false
	}
	for len(w.unread) > 0 && !w.bad {
		t := Tail{Kind: TailKind(w.next())}
		switch t.Kind {
		case TailApproval, TailMedia:
		case TailCall:
			t.Key, t.Number = w.next(), w.number()
		case TailShort, TailSeeing, TailAgain, TailAsk:
			t.Number = w.number()
		default:
			w.bad = true
		}
		n.Tail = append(n.Tail, t)
	}
	return n, !w.bad
}

func (n *Name) ofTurn(w *nameReader) {
	switch n.Kind = Kind(w.next()); n.Kind {
	case KindSummary:
		n.Made, n.Index = w.number(), w.number()
	case KindAction, KindCode, KindStageAsk:
		n.Index = w.number()
	case KindAgent:
		n.Index, n.Label = w.number(), w.rest(0)
	case KindView, KindShow, KindAnswer:
		n.Label = w.rest(0)
	case KindBudget, KindModel, KindQuestion:
	default:
		w.bad = true
	}
}
