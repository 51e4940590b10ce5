package bflsim

import (
	"net/http"

	"atelier/internal/sim"
)

// state returns the body of a poll, with every key present.
func state(id, status string, result, details any) map[string]any {
	return map[string]any{"id": id, "status": status, "result": result, "progress": nil, "details": details, "preview": nil}
}

// final returns the last state of a task.
func final(t *task) map[string]any {
	switch t.Fault.Fault {
	case sim.FaultModerated:
		return refusal(t.ID, t.Fault.Variant)
	case sim.FaultTaskFailed:
		return failure(t.ID, t.Fault.Variant)
	case sim.FaultEmpty:
		if t.Fault.Variant%2 == 1 {
			return state(t.ID, "Ready", map[string]any{"prompt": t.Work.prompt}, nil)
		}
		return state(t.ID, "Ready", nil, nil)
	default:
	}
	return state(t.ID, "Ready", map[string]any{
		"sample": t.Work.link, "prompt": t.Work.read(), "seed": *t.Work.seed, "start_time": 1763726400.25,
	}, nil)
}

// download serves a picture while its link is valid. It takes no key: it is another service.
func (s *Simulator) download(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Key") == "" && s.Serve(w, r.PathValue("name")) {
		return
	}
	sim.Answer{
		Status: http.StatusForbidden, Type: "application/xml",
		Body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>AuthenticationFailed</Code><Message>Server failed to authenticate the request.</Message></Error>`,
	}.Write(w)
}
