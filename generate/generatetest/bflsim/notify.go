package bflsim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"time"

	"atelier/internal/sim"

	"atelier/generate/driver"
)

// TaskIDs returns the ids of all tasks, including those whose answer was lost, oldest first.
func (s *Simulator) TaskIDs() (ids []string) {
	all, _ := s.tasks.All()
	for _, t := range all {
		ids = append(ids, t.ID)
	}
	return ids
}

// Notifications ends a task that has a webhook and returns the calls of the webhook in
// order: the final state, and its repeat as after a lost answer. A missing task, or one
// without a webhook, has none.
func (s *Simulator) Notifications(id string) []driver.Notification {
	t := s.tasks.End(id)
	if t == nil || t.Work.webhook == "" {
		return nil
	}
	result := final(t)
	body := map[string]any{"id": id, "status": result["status"], "result": result["result"], "timestamp": s.Now().Format(time.RFC3339)}
	if t.Fault.Fault == sim.FaultTaskFailed {
		body["status"], body["error"], body["message"] = "Error", "generation_failed", "The worker ran out of memory."
	}
	raw, _ := json.Marshal(body) // it holds only texts and numbers
	header := map[string][]string{"Content-Type": {"application/json"}}
	if t.Work.secret != "" {
		mac := hmac.New(sha256.New, []byte(t.Work.secret))
		_, _ = mac.Write(raw) // a hash does not fail
		header["X-Bfl-Signature"] = []string{"sha256=" + hex.EncodeToString(mac.Sum(nil))}
	}
	once := driver.Notification{Header: header, Body: raw}
	if at, err := url.Parse(t.Work.webhook); err == nil {
		once.Query = at.Query()
	}
	return []driver.Notification{once, once}
}
