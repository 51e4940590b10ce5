package leonardosim

import (
	"encoding/json"
	"strconv"

	"atelier/internal/sim"

	"atelier/generate/driver"
)

// Notifications ends a generation and returns its webhook calls in order: the end, and a
// repeat. Only successes are notified. The body contains the keys of the account, which
// must not be logged.
func (s *Simulator) Notifications(id string) []driver.Notification {
	j := s.jobs.End(id)
	if j == nil || j.Fault.Fault == sim.FaultTaskFailed || j.Fault.Fault == sim.FaultTaskLost {
		return nil
	}
	q, images := j.Work, s.images(j)
	for _, m := range images {
		m["generationId"] = id
	}
	raw, _ := json.Marshal(map[string]any{ // it holds only texts and numbers
		"type": "image_generation.complete", "object": "generation", "timestamp": s.Now().UnixMilli(), "api_version": "v1",
		"data": map[string]any{"object": map[string]any{
			"id": id, "status": "COMPLETE", "modelId": q.model, "prompt": q.prompt, "negativePrompt": q.negative, "quantity": q.images,
			"imageHeight": q.height, "imageWidth": q.width, "seed": strconv.FormatInt(*q.seed, 10), "tokenCost": 0, "apiDollarCost": "9",
			"api": true, "flagged": false, "nsfw": false, "images": images,
			"apiKey": map[string]string{"key": s.Key(), "webhookCallbackApiKey": s.config.WebhookKey},
		}},
	})
	header := map[string][]string{"Content-Type": {"application/json"}, "User-Agent": {"axios/1.7.9"}}
	if s.config.WebhookKey != "" {
		header["Authorization"] = []string{"Bearer " + s.config.WebhookKey}
	}
	once := driver.Notification{Header: header, Body: raw}
	return []driver.Notification{once, once}
}
