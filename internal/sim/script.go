package sim

import (
	"maps"
	"net/http"
	"time"
)

// Script is what a provider answers to faults: the shapes of each, by [Injection.Variant]. The zero [Answer] is
// a shape that comes later: the call succeeds, and its result shows the fault. A fault without an entry has one
// such shape. [FaultHTML], [FaultNotJSON], [FaultDropped] and [FaultSlow] are alike everywhere; an entry replaces
// that.
type Script map[Fault][]Answer

// Later are so many shapes that come later.
func Later(n int) []Answer { return make([]Answer, n) }

// Absence says why a provider cannot have some faults.
type Absence map[Fault]string

// What many providers lack.
var (
	NoStreams = absent("answers are not streamed", FaultPartialsThenError, FaultPreviewLost)
	NoTasks   = absent("calls are answered at once: there are no tasks",
		FaultTaskFailed, FaultTaskLost, FaultPollFails, FaultAnswerLost, FaultListLost)
	NoLinks = absent("pictures come in the answer, not by link", FaultExpiredLink, FaultHalfLink)
)

func absent(reason string, faults ...Fault) Absence {
	a := Absence{}
	for _, f := range faults {
		a[f] = reason
	}
	return a
}

// With joins two absences; more has the last word.
func (a Absence) With(more Absence) Absence {
	all := maps.Clone(a)
	maps.Copy(all, more)
	return all
}

// everywhere answers the faults that are alike at all providers.
func everywhere(f Fault) Answer {
	switch f {
	case FaultHTML:
		return HTML(http.StatusOK)
	case FaultNotJSON:
		return Answer{Body: "upstream said: {]"}
	default:
		return Answer{}
	}
}

// Play answers the fault of a call; it reports false if the call is to succeed.
func (s Script) Play(w http.ResponseWriter, c *Call) bool {
	var a Answer
	switch shapes := s[c.Fault.Fault]; {
	case len(shapes) > 0:
		a = shapes[c.Fault.Variant%len(shapes)]
	case c.Fault.Fault == FaultDropped:
		panic(http.ErrAbortHandler)
	case c.Fault.Fault == FaultSlow:
		return !Wait(c.Request, c.Fault.Delay)
	default:
		a = everywhere(c.Fault.Fault)
	}
	if a.none() {
		return false
	}
	a.Write(w)
	return true
}

// Wait lets the delay pass; it reports false if the client left first. With a
// delay of 0 it waits for the client to leave.
func Wait(r *http.Request, delay time.Duration) bool {
	if delay <= 0 {
		<-r.Context().Done()
		return false
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
