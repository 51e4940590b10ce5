package midjourneysim

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"atelier/internal/sim"
)

// newest is how many tasks the list tells; the older proxy tells all.
const newest = 100

// The shapes of [sim.FaultListLost].
const (
	listMissing = iota // the proxy has no list
	listCut            // the list ends in the middle
	listPage           // a page of something else stands in its place
	listBare           // the proxy drops what came with a submission
)

// list gives the tasks that are known; the others are left out without a word.
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

// listAll gives the newest tasks.
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
		all = all[:min(len(all), newest)]
	}
	switch lost {
	case listMissing:
		http.NotFound(w, r)
	case listPage:
		sim.HTML(http.StatusOK).Write(w)
	case listCut:
		sim.HalfJSON(w, all)
	case listBare:
		bare := []task{}
		for _, t := range all {
			one := *t
			one.State = ""
			bare = append(bare, one)
		}
		sim.JSON(w, http.StatusOK, bare)
	default:
		sim.JSON(w, http.StatusOK, all)
	}
}
