package leonardosim

import (
	"net/http"
	"slices"
	"strconv"

	"atelier/internal/sim"
)

// account is the id of the user who owns the key.
const account = "3c1f7c52-0d4b-4c5e-9f0a-5a1e6b7c8d9e"

// The variants of [sim.FaultListLost].
const (
	listFails  = iota // the list is an error
	listCut           // the list is cut off in the middle
	listNobody        // the owner of the key is not returned
	listTwins         // another generation has the same values in all listed fields
	listEmpty         // the list does not contain the generation yet
)

// listFaultVariant returns the variant of the list fault of the newest generation that has one; -1 if none has.
func (s *Simulator) listFaultVariant() int {
	all, _ := s.jobs.All()
	for _, j := range all {
		if j.Fault.Fault == sim.FaultListLost {
			return j.Fault.Variant
		}
	}
	return -1
}

// me returns the owner of the key.
func (s *Simulator) me(w http.ResponseWriter, _ *http.Request) {
	details := []map[string]any{}
	if s.listFaultVariant() != listNobody {
		details = append(details, map[string]any{
			"user": map[string]string{"id": account, "username": "simulated"}, "apiPaidTokens": 900, "apiSubscriptionTokens": 100, "apiConcurrencySlots": 10,
		})
	}
	sim.JSON(w, http.StatusOK, map[string]any{"user_details": details})
}

// list returns the generations of the account, newest first, ten if the request has no
// limit.
func (s *Simulator) list(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("user") != account {
		sim.JSON(w, http.StatusOK, map[string]any{"generations": []any{}})
		return
	}
	lost := s.listFaultVariant()
	if lost == listFails {
		fail(http.StatusInternalServerError, "unexpected", "internal error").Write(w)
		return
	}
	all := s.states(lost)
	offset, limit := number(r, "offset", 0), number(r, "limit", 10)
	offset = min(offset, len(all))
	page := map[string]any{"generations": all[offset:min(offset+limit, len(all))]}
	if lost == listCut {
		sim.HalfJSON(w, page)
	}
	sim.JSON(w, http.StatusOK, page)
}

// states returns the generations as the list contains them.
func (s *Simulator) states(lost int) []map[string]any {
	all := []map[string]any{}
	jobs, over := s.jobs.All()
	for _, j := range slices.Backward(jobs) {
		if lost == listEmpty {
			continue
		}
		if all = append(all, s.state(j, over[j])); lost == listTwins {
			twin := s.state(j, over[j])
			twin["id"] = "twin-of-" + j.ID
			all = append(all, twin)
		}
	}
	return all
}

// number returns a number of the query; usual if it is missing, invalid or negative.
func number(r *http.Request, name string, usual int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return usual
	}
	return n
}
