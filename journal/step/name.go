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
	"cmp"
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

// forms has the words of the names of each kind. K stands for the kind, T, I, M and C for Turn, Index, Made and Call, and
// L for Label, which may contain dashes. Only names without L have tails.
var forms = map[Kind]string{
	KindGiven: "K", KindGuardrail: "K", KindImages: "K",
	KindSummary: "turn-T-K-M-I",
	KindBudget:  "turn-T-K", KindModel: "turn-T-K", KindQuestion: "turn-T-K",
	KindAction: "turn-T-K-I", KindCode: "turn-T-K-I", KindStageAsk: "turn-T-K-I",
	KindAgent: "turn-T-K-I-L",
	KindView:  "turn-T-K-L", KindShow: "turn-T-K-L", KindAnswer: "turn-T-K-L",
	KindCodeQuestion: "ask-I", KindSleep: "K-I",
	KindGenerate: "K-L", KindResume: "K-L",
	KindRetry: "K-L-I", KindFound: "K-L-I",
	KindAttempt: "call-C-K-I", KindPoll: "call-C-K-I",
}

// number returns the field for which a word of a form stands; nil if it is not a number.
func (n *Name) number(word string) *int {
	switch word {
	case "T":
		return &n.Turn
	case "I":
		return &n.Index
	case "M":
		return &n.Made
	case "C":
		return &n.Call
	}
	return nil
}

// String returns the text of the name.
func (n Name) String() string {
	b := make([]byte, 0, 40)
	for word := range strings.SplitSeq(cmp.Or(forms[n.Kind], "L"), "-") {
		if len(b) > 0 {
			b = append(b, '-')
		}
		switch field := n.number(word); {
		case field != nil:
			b = strconv.AppendInt(b, int64(*field), 10)
		case word == "K":
			b = append(b, n.Kind...)
		case word == "L":
			b = append(b, n.Label...)
		default:
			b = append(b, word...)
		}
	}
	for _, t := range n.Tail {
		b = append(append(b, '-'), t.Kind...)
		if t.Kind == TailCall {
			b = append(append(b, '-'), t.Key...)
		}
		if t.Kind != TailApproval && t.Kind != TailMedia {
			b = strconv.AppendInt(append(b, '-'), int64(t.Number), 10)
		}
	}
	return string(b)
}

// Parse parses a name. A text that is not a name of this program has [KindOther].
func Parse(text string) Name {
	words := strings.Split(text, "-")
	n := Name{Kind: Kind(words[0])}
	switch {
	case n.Kind == KindQuestion:
		n.Kind = KindCodeQuestion
	case len(words) > 2 && (words[0] == "turn" || words[0] == "call"):
		n.Kind = Kind(words[2])
	}
	if n.read(words) && n.String() == text {
		return n
	}
	return Name{Label: text}
}

// read reads the fields of a name whose kind is known. It ignores what [Name.String] would not repeat.
func (n *Name) read(words []string) bool {
	text, known := forms[n.Kind]
	form := strings.Split(text, "-")
	if !known || len(words) < len(form) {
		return false
	}
	for i, word := range form {
		size := 1
		if word == "L" {
			size = len(words) - len(form[i+1:])
			n.Label = strings.Join(words[:size], "-")
		} else if field := n.number(word); field != nil {
			*field, _ = strconv.Atoi(words[0])
		}
		words = words[size:]
	}
	for len(words) > 0 {
		t := Tail{Kind: TailKind(words[0])}
		words = words[1:]
		if t.Kind == TailCall && len(words) > 0 {
			t.Key, words = words[0], words[1:]
		}
		switch t.Kind {
		case TailApproval, TailMedia:
		case TailCall, TailShort, TailSeeing, TailAgain, TailAsk:
			if len(words) == 0 {
				return false
			}
			t.Number, _ = strconv.Atoi(words[0])
			words = words[1:]
		default:
			return false
		}
		n.Tail = append(n.Tail, t)
	}
	return true
}
