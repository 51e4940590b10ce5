package durable

import (
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"atelier/journal/step"
	"atelier/media"
)

// Step is a finished step of work.
type Step struct {
	// Name is the full name: the names of its parts and its own, joined by slashes.
	Name string
	// Result is its result.
	Result []byte
	// FinishedAt is when it ended, UTC.
	FinishedAt time.Time
}

// Steps lists the finished steps of work in the order in which they began. Unknown work has none.
func (e *Engine) Steps(id string) ([]Step, error) {
	rows, err := dbos.GetWorkflowSteps(e.root, id, dbos.WithStepsLoadOutput(true))
	if err != nil {
		return nil, media.Errorf(media.CodeUnavailable, "read the steps of work %s: %w", id, legible(err))
	}
	var out []Step
	at := map[string]int{}
	for _, r := range rows {
		s, ok := r.Output.(string)
		if !ok || !strings.HasPrefix(s, markResult) {
			continue
		}
		step := Step{Name: r.StepName, Result: []byte(s[len(markResult):]), FinishedAt: r.CompletedAt.UTC()}
		if i, again := at[r.StepName]; again { // begun in an earlier process, and finished in this one
			out[i] = step
			continue
		}
		at[r.StepName] = len(out)
		out = append(out, step)
	}
	return out, nil
}

// Knows reports whether an earlier process finished a step.
func (s *steps) Knows(name step.Name) bool {
	_, ok := s.flow.known[s.place.Full(name)]
	return ok
}

// Recalled names the steps of this part that earlier processes finished.
func (s *steps) Recalled() []step.Name {
	var names []step.Name
	for full := range s.flow.known {
		if own, ok := s.place.Own(full); ok {
			names = append(names, own)
		}
	}
	return names
}
