package leonardosim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"atelier/generate/generatetest"
)

// account is the id of the user that the key belongs to.
const account = "3c1f7c52-0d4b-4c5e-9f0a-5a1e6b7c8d9e"

// The shapes of [generatetest.FaultListLost].
const (
	listFails  = iota // the list is an error
	listCut           // the list ends in the middle
	listNobody        // nobody is told whose key it is
	listTwins         // another generation is the same in all that the list tells
	listEmpty         // the list does not have the generation yet
)

// lost is the shape that the newest generations give the list; -1 if they leave it alone.
func (s *Simulator) lost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.order {
		if j.fault.Fault == generatetest.FaultListLost {
			return j.fault.Variant
		}
	}
	return -1
}

// me tells whose key it is.
func (s *Simulator) me(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	details := []map[string]any{}
	if s.lost() != listNobody {
		details = append(details, map[string]any{
			"user": map[string]string{"id": account, "username": "simulated"}, "apiPaidTokens": 900, "apiSubscriptionTokens": 100, "apiConcurrencySlots": 10,
		})
	}
	write(w, http.StatusOK, map[string]any{"user_details": details})
}

// list gives the generations of the account, the newest first, ten where nobody says how
// many.
func (s *Simulator) list(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	if r.PathValue("user") != account {
		write(w, http.StatusOK, map[string]any{"generations": []any{}})
		return
	}
	lost := s.lost()
	if lost == listFails {
		fail(w, http.StatusInternalServerError, "unexpected", "internal error")
		return
	}
	all := s.states(lost)
	offset, limit := number(r, "offset", 0), number(r, "limit", 10)
	offset = min(offset, len(all))
	body, _ := json.Marshal(map[string]any{"generations": all[offset:min(offset+limit, len(all))]}) // texts and numbers
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if lost == listCut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

// states are the generations as the list tells them.
func (s *Simulator) states(lost int) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []map[string]any{}
	for _, j := range slices.Backward(s.order) {
		if lost == listEmpty {
			continue
		}
		if all = append(all, s.state(j, j.over)); lost == listTwins {
			twin := s.state(j, j.over)
			twin["id"] = "twin-of-" + j.id
			all = append(all, twin)
		}
	}
	return all
}

// number reads a number of the query, not negative.
func number(r *http.Request, name string, usual int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return usual
	}
	return n
}
