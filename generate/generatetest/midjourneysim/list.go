package midjourneysim

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"atelier/internal/sim"
)

// maxListedTasks is how many tasks the list contains; the older proxy lists all.
const maxListedTasks = 100

// The variants of [sim.FaultListLost].
const (
	listMissing   = iota // the proxy has no list
	listCut              // the list is cut off in the middle
	listPage             // an unrelated page is in its place
	listStateless        // the proxy drops the state of a submission
)

// list returns the known tasks among those requested; it omits the others silently.
func (s *Simulator) list(w http.ResponseWriter, r *http.Request) {
	var q struct {
		IDs []string `json:"ids"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		invalid("bad request").Write(w)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []*task{}
	for _, id := range q.IDs {
		if t := s.tasks[id]; t != nil {
			found = append(found, t)
		}
	}
	sim.JSON(w, http.StatusOK, found)
}

// listAll returns the newest tasks.
func (s *Simulator) listAll(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.SortedFunc(maps.Values(s.tasks), func(a, b *task) int { return cmp.Compare(b.ID, a.ID) })
	lost := -1
	for _, t := range all {
		if t.q.fault.Fault == sim.FaultListLost {
			lost = t.q.fault.Variant
		}
	}
	if !s.config.Plain {
		all = all[:min(len(all), maxListedTasks)]
	}
	switch lost {
	case listMissing:
		http.NotFound(w, r)
	case listPage:
		sim.HTML(http.StatusOK).Write(w)
	case listCut:
		sim.HalfJSON(w, all)
	case listStateless:
		stateless := []task{}
		for _, t := range all {
			one := *t
			one.State = ""
			stateless = append(stateless, one)
		}
		sim.JSON(w, http.StatusOK, stateless)
	default:
		sim.JSON(w, http.StatusOK, all)
	}
}
