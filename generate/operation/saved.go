package operation

import (
	"fmt"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
)

// Status returns the operation's status. FinishedAt takes precedence over the saved status.
func (s *Saved) Status() generate.Status {
	switch ended := !s.Operation.FinishedAt.IsZero(); {
	case ended == s.Operation.Status.Finished():
		return s.Operation.Status
	case ended:
		return generate.StatusFailed
	}
	return generate.StatusRunning
}

// Finished reports whether the operation has ended.
func (s *Saved) Finished() bool { return s.Status().Finished() }

// Ended returns the result of a finished operation that an event does not change; nil for any other.
func (s *Saved) Ended(e Event) (*generate.Result, error) {
	if e == EventRejoin && len(s.CutOff()) == 0 {
		e = EventResume // there is nothing to continue
	}
	next, err := Advance(SubjectOperation, s.Status(), e)
	switch {
	case err != nil:
		return nil, TooLate(e, s.Operation.ID, s.Status())
	case !s.Finished() || !next.Finished():
		return nil, nil
	}
	return s.Result(), nil
}

// TooLate returns the error for an event that cannot happen to a finished operation.
func TooLate(e Event, id string, s generate.Status) error {
	return media.Errorf(media.CodeConflict, "operation %s is over (%s): there is nothing to %s", id, s, e)
}

// Transient reports whether an error's code means that the same may succeed later.
func Transient(c media.Code) bool {
	return c == media.CodeUnavailable || c == media.CodeCorrupt || c == media.CodeDeadline || c == media.CodeDiskFull
}

// CallWithoutTask returns the call with a key whose task is unknown: it is in progress, or ended as possibly billed.
func (s *Saved) CallWithoutTask(provider, key string) (Attempt, bool) {
	if res, _ := s.Ended(EventNotify); res != nil {
		return Attempt{}, false
	}
	lost := s.GivenUp()
	for _, a := range s.Attempts {
		if a.Status == generate.StatusSubmitted && a.Task == (driver.Handle{}) && !s.Finished() {
			lost = append(lost, a)
		}
	}
	i := slices.IndexFunc(lost, func(a Attempt) bool { return a.Provider == provider && a.Key == key })
	if i < 0 {
		return Attempt{}, false
	}
	return lost[i], true
}

// CutOff returns the slots that can be continued after their caller's context ended.
func (s *Saved) CutOff() (slots []int) {
	if !s.Finished() {
		return nil
	}
	for _, slot := range s.Slots {
		if slot.Output == nil && slot.Error != nil && GaveUp(slot.Error.Code) && s.isContinuable(slot.Index) {
			slots = append(slots, slot.Index)
		}
	}
	return slots
}

// GaveUp reports whether an error's code means that the caller did not wait for the end.
func GaveUp(c media.Code) bool {
	return c == media.CodeCancelled || c == media.CodeDeadline || c == media.CodeOverBudget
}

// isContinuable reports whether a slot can be filled without repeating a call that may have been paid for.
func (s *Saved) isContinuable(index int) bool {
	last := s.Last(index)
	switch {
	case last.ID == "":
		return true // no provider was called
	case last.Task != (driver.Handle{}):
		return last.FinishedAt.IsZero() || last.Error != nil && GaveUp(last.Error.Code)
	default:
		return last.Error != nil && last.Error.Retryable && !last.Billed()
	}
}

// Last returns the newest attempt at a slot.
func (s *Saved) Last(index int) (last Attempt) {
	for _, a := range s.Attempts {
		if slices.Contains(a.Slots, index) && (a.Call > last.Call || a.Call == last.Call && a.Number >= last.Number) {
			last = a
		}
	}
	return last
}

// Tasks returns the newest attempts at slots that have a task.
func (s *Saved) Tasks(slots []int) (all []Attempt) {
	for _, index := range slots {
		a := s.Last(index)
		if a.Task != (driver.Handle{}) && !slices.ContainsFunc(all, func(b Attempt) bool { return a.ID == b.ID }) {
			all = append(all, a)
		}
	}
	return all
}

// Result returns the saved state of the operation as a result.
func (s *Saved) Result() *generate.Result {
	op := s.Operation
	r := &generate.Result{
		Operation: op.ID, Status: op.Status, Model: op.Model, Provider: op.Provider, Slots: slices.Clone(s.Slots),
		Dispositions: op.Dispositions, Usage: op.Usage, Cost: op.Cost, Warnings: op.Warnings, Metadata: op.Metadata,
	}
	slices.SortFunc(r.Slots, func(a, b generate.Slot) int { return a.Index - b.Index })
	return r
}

// Unfetched returns the tasks that ended without results, but not because their provider refused or failed: the
// provider may still have the results.
func (s *Saved) Unfetched() []Attempt {
	return slices.DeleteFunc(slices.Clone(s.Attempts), func(a Attempt) bool {
		return a.Task == (driver.Handle{}) || len(a.Slots) == 0 || a.Error == nil || a.Usage.Images == 0 && !GaveUp(a.Error.Code) || !Transient(a.Error.Code) && !GaveUp(a.Error.Code) ||
			len(s.Unanswered(a)) == 0
	})
}

// GivenUp returns the calls, of any model, that may have been billed, and whose results are all missing and were not
// requested since.
func (s *Saved) GivenUp() []Attempt {
	return slices.DeleteFunc(slices.Clone(s.Attempts), func(a Attempt) bool {
		return len(a.Slots) == 0 || a.Usage.Unsettled == 0 || a.Task != (driver.Handle{}) || len(s.Unanswered(a)) < len(a.Slots)
	})
}

// Unanswered returns the slots of a call that have no result and were not requested since.
func (s *Saved) Unanswered(a Attempt) []int {
	return slices.DeleteFunc(slices.Clone(a.Slots), func(index int) bool {
		return slices.ContainsFunc(s.Slots, func(o generate.Slot) bool { return o.Index == index && o.Output != nil }) ||
			slices.ContainsFunc(s.Attempts, func(o Attempt) bool { return o.Call > a.Call && slices.Contains(o.Slots, index) })
	})
}

// Calls returns the highest call number so far, at least the number of calls planned at first.
func (s *Saved) Calls(planned int) int {
	most := planned
	for _, a := range s.Attempts {
		most = max(most, a.Call)
	}
	return most
}

// Missing returns the slots that may be requested again, among the given ones or all; with all, also those that were
// moderated or may have been billed. The error says why there are none although results are missing.
func (s *Saved) Missing(all bool, only []int) ([]int, error) {
	var slots []int
	var why []string
	for index := 1; index <= s.Operation.N; index++ {
		slot := generate.Slot{Index: index}
		if i := slices.IndexFunc(s.Slots, func(o generate.Slot) bool { return o.Index == index }); i >= 0 {
			slot = s.Slots[i]
		}
		if slot.Output != nil || len(only) > 0 && !slices.Contains(only, index) {
			continue
		}
		if reason := s.objection(slot); reason != "" && !all {
			why = append(why, fmt.Sprintf("result %d %s", index, reason))
			continue
		}
		slots = append(slots, index)
	}
	if len(slots) == 0 && len(why) > 0 {
		return nil, media.Errorf(media.CodeInvalid, "operation %s has nothing more that is safe to request again: %s: request all (--all) if you accept that they may be billed once more",
			s.Operation.ID, strings.Join(why, ", "))
	}
	return slots, nil
}

// objection returns why a slot is only requested again on explicit demand; empty if there is no reason.
func (s *Saved) objection(slot generate.Slot) string {
	last := s.Last(slot.Index)
	switch {
	case slot.Status == generate.StatusModerated:
		return "was moderated"
	case last.Usage.Unsettled > 0:
		return "may have been billed"
	case slot.Error != nil && slot.Error.Retryable || last.ID == "" || !last.Billed():
		return ""
	default:
		return "was billed, or was cancelled at the provider"
	}
}

// Billed reports whether a call may have cost something. A failed call for which its provider counted nothing has not.
func (a Attempt) Billed() bool {
	u := a.Usage
	return u.Images > 0 || u.InputTokens > 0 || u.OutputTokens > 0 || u.Unsettled > 0 || a.ReportedUSD != "" || a.Status != generate.StatusFailed
}
