package midjourneysim

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"atelier/generate/generatetest"
	"atelier/generate/generatetest/simulate"
)

// newest is how many tasks the list tells; the older proxy tells all.
const newest = 100

// The shapes of [generatetest.FaultListLost].
const (
	listMissing = iota // the proxy has no list
	listCut            // the list ends in the middle
	listPage           // a page of something else stands in its place
	listBare           // the proxy drops what came with a submission
)

// list gives the tasks that are known; the others are left out without a word.
func (s *Simulator) list(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	var q struct {
		IDs []string `json:"ids"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		invalid("bad request").write(w)
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
	writeAll(w, found)
}

// listAll gives the newest tasks.
func (s *Simulator) listAll(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.SortedFunc(maps.Values(s.tasks), func(a, b *task) int { return cmp.Compare(b.ID, a.ID) })
	lost := -1
	for _, t := range all {
		if t.q.fault.Fault == generatetest.FaultListLost {
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
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, simulate.Page)
	case listCut:
		writeHalf(w, all)
	case listBare:
		bare := []task{}
		for _, t := range all {
			one := *t
			one.State = ""
			bare = append(bare, one)
		}
		writeAll(w, bare)
	default:
		writeAll(w, all)
	}
}

func writeAll(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	_ = json.NewEncoder(w).Encode(body)
}

// writeHalf sends the first half of an answer and breaks the connection.
func writeHalf(w http.ResponseWriter, body any) {
	whole, _ := json.Marshal(body) // texts and numbers
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
	_, _ = w.Write(whole[:len(whole)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
