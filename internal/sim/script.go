package sim

import (
	"maps"
	"net/http"
	"time"
)

// Script defines a provider's answers to faults: the forms of each fault, by [Injection.Variant].
// The zero [Answer] is a form that appears later: the call succeeds, and its result shows the
// fault. A fault without an entry has one such form. [FaultHTML], [FaultNotJSON], [FaultDropped]
// and [FaultSlow] are the same for all providers; an entry overrides that.
type Script map[Fault][]Answer

// DeferredVariants returns n forms that appear later.
func DeferredVariants(n int) []Answer { return make([]Answer, n) }

// Absence maps faults that a provider cannot have to the reason.
type Absence map[Fault]string

// Absences that many providers share.
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

// With merges two absences; more takes precedence.
func (a Absence) With(more Absence) Absence {
	all := maps.Clone(a)
	maps.Copy(all, more)
	return all
}

// everywhere returns the answer to faults that are the same for all providers.
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

// Play answers the fault of a call; it returns false if the call must succeed.
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

// Wait waits for the delay; it returns false if the client disconnected first. With a delay of 0 it
// waits for the client to disconnect.
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
