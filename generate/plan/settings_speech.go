package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// voice works out who speaks.
func (n *negotiation) voice() {
	asked, voices := n.req.Voice, n.model.Voices
	i := slices.IndexFunc(voices, func(v string) bool { return strings.EqualFold(v, asked) })
	switch {
	case asked == "":
	case len(voices) == 0:
		n.dropped("voice", asked, n.model.Name+" has no voices")
	case i >= 0:
		n.task.Voice = voices[i]
		n.applied("voice", voices[i])
	default:
		n.task.Voice = voices[0]
		n.adapted("voice", asked, voices[0], fmt.Sprintf("%s has the voices %s", n.model.Name, strings.Join(voices, ", ")))
	}
}

// speed works out how fast.
func (n *negotiation) speed() {
	asked := strconv.FormatFloat(n.req.Speed, 'g', -1, 64)
	switch {
	case n.req.Speed == 0:
	case n.supports("speed"):
		n.task.Speed = n.req.Speed
		n.applied("speed", asked)
	default:
		n.dropped("speed", asked, n.model.Name+" has no speed setting")
	}
}
