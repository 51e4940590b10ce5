package midjourneysim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"atelier/internal/sim"
)

// submission is the body of every endpoint under /mj/submit. Unknown fields are ignored,
// as by the proxies.
type submission struct {
	Prompt      *string  `json:"prompt"`
	Base64Array []string `json:"base64Array"`
	Base64      string   `json:"base64"`
	Image       string   `json:"image"`
	MaskBase64  string   `json:"maskBase64"`
	Dimensions  string   `json:"dimensions"`
	BotType     string   `json:"botType"`
	TaskID      string   `json:"taskId"`
	Action      string   `json:"action"`
	CustomID    string   `json:"customId"`
	Index       int      `json:"index"`
	EnableRemix bool     `json:"enableRemix"`
	State       string   `json:"state"`
	NotifyHook  string   `json:"notifyHook"`

	origin, mode, action, prompt string
	fault                        sim.Injection
	modal                        bool  // the task waits for its window to be confirmed
	window                       *task // the task whose window it confirms
	exists                       *task // an earlier task that did the same
	hasMask                      bool
}

const (
	maxState = 255
	maxHook  = 2000
)

// bannedWords returns the words of the proxy's own list.
func bannedWords() []string { return []string{"gore", "bloodbath"} }

// parse reads and checks a submission.
func (s *Simulator) parse(endpoint string, body []byte) (*submission, *sim.Answer) {
	q := &submission{}
	if err := json.Unmarshal(body, q); err != nil {
		return nil, envelope{status: http.StatusBadRequest, Code: 4, Description: "JSON parse error"}.answer()
	}
	if q.Prompt != nil {
		q.prompt = strings.TrimSpace(*q.Prompt)
	}
	switch {
	case len(q.State) > maxState:
		return nil, invalid("state is too long")
	case len(q.NotifyHook) > maxHook:
		return nil, invalid("notifyHook is too long")
	case !slices.Contains([]string{"", "MID_JOURNEY", "NIJI_JOURNEY"}, q.BotType):
		return nil, invalid("botType error")
	}
	for _, w := range bannedWords() {
		if slices.Contains(strings.Fields(strings.ToLower(q.prompt)), w) {
			return nil, sensitive(q.prompt, w)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	check := map[string]func(*submission) *sim.Answer{
		"imagine": q.imagine, "blend": q.blend, "describe": q.describe, "change": s.change,
	}[endpoint]
	if check == nil && !s.config.Plain {
		check = map[string]func(*submission) *sim.Answer{"action": s.act, "modal": s.confirm, "edits": q.edit}[endpoint]
	}
	if check == nil {
		return nil, envelope{status: http.StatusNotFound, Code: 0, Description: "no such path"}.answer()
	}
	return q, check(q)
}

// picture reports whether text is a data: URL of a picture.
func picture(text string) bool {
	head, data, ok := strings.Cut(text, ";base64,")
	raw, err := base64.StdEncoding.DecodeString(data)
	return ok && err == nil && strings.HasPrefix(head, "data:image/") && http.DetectContentType(raw) == strings.TrimPrefix(head, "data:")
}

func (q *submission) imagine(*submission) *sim.Answer {
	q.action = "IMAGINE"
	if q.prompt == "" {
		return invalid("prompt cannot be empty")
	}
	if slices.ContainsFunc(q.Base64Array, func(p string) bool { return !picture(p) }) {
		return invalid("base64Array format error")
	}
	return nil
}

func (q *submission) blend(*submission) *sim.Answer {
	q.action = "BLEND"
	switch {
	case len(q.Base64Array) < 2 || len(q.Base64Array) > 5:
		return invalid("base64List parameter error")
	case !slices.Contains([]string{"", "PORTRAIT", "SQUARE", "LANDSCAPE"}, q.Dimensions):
		return invalid("dimensions parameter error")
	case slices.ContainsFunc(q.Base64Array, func(p string) bool { return !picture(p) }):
		return invalid("base64 format error")
	}
	return nil
}

func (q *submission) describe(*submission) *sim.Answer {
	q.action = "DESCRIBE"
	if !picture(q.Base64) {
		return invalid("base64 format error")
	}
	return nil
}

func (q *submission) edit(*submission) *sim.Answer {
	q.action = "EDIT"
	if q.prompt == "" || !picture(q.Image) && !strings.HasPrefix(q.Image, "http") {
		return invalid("prompt and image are required")
	}
	return nil
}

// parent returns the job from which a follow-up starts.
func (s *Simulator) parent(q *submission) (*task, *sim.Answer) {
	t := s.tasks[q.TaskID]
	switch {
	case t == nil && s.config.Plain:
		return nil, envelope{Code: 3, Description: "related task does not exist or has expired"}.answer()
	case t == nil:
		return nil, envelope{status: http.StatusNotFound, Code: 3, Description: "related task does not exist or has expired"}.answer()
	case t.Status != "SUCCESS":
		return nil, invalid("related task status error")
	}
	q.prompt = t.q.prompt
	return t, nil
}

// change is the older kind of follow-up.
func (s *Simulator) change(q *submission) *sim.Answer {
	t, bad := s.parent(q)
	switch {
	case bad != nil:
		return bad
	case !slices.Contains([]string{"UPSCALE", "VARIATION", "REROLL"}, q.Action):
		return invalid("action parameter error")
	case !slices.Contains([]string{"IMAGINE", "VARIATION", "REROLL", "BLEND"}, t.Action):
		return invalid("related task does not allow changes")
	case q.Action != "REROLL" && (q.Index < 1 || q.Index > 4):
		return invalid("index parameter error")
	}
	for _, old := range s.tasks {
		if q.Action == "UPSCALE" && old.q.TaskID == q.TaskID && old.q.Action == q.Action && old.q.Index == q.Index {
			q.exists = old
		}
	}
	q.action = q.Action
	return nil
}

// act executes a button.
func (s *Simulator) act(q *submission) *sim.Answer {
	t, bad := s.parent(q)
	if bad != nil {
		return bad
	}
	if !slices.ContainsFunc(t.Buttons, func(b button) bool { return b.CustomID == q.CustomID }) {
		return invalid("customId does not belong to the task")
	}
	parts := strings.Split(q.CustomID, "::")
	switch {
	case parts[1] == "Inpaint":
		q.action, q.modal = "INPAINT", true
	case parts[1] == "CustomZoom":
		q.action, q.modal = "ZOOM", true
	case parts[1] == "Outpaint":
		q.action = "OUTPAINT"
	case parts[2] == "upsample":
		q.action = "UPSCALE"
		q.Index, _ = strconv.Atoi(parts[3])
	case strings.HasPrefix(parts[2], "upsample_"):
		q.action = "UPSCALE"
	case strings.HasPrefix(parts[2], "pan_"):
		q.action = "PAN"
	case parts[2] == "reroll":
		q.action, q.modal = "REROLL", q.EnableRemix && s.config.Remix
	default:
		q.action, q.modal = "VARIATION", q.EnableRemix && s.config.Remix
	}
	return nil
}

// confirm confirms the window of a waiting task.
func (s *Simulator) confirm(q *submission) *sim.Answer {
	t := s.tasks[q.TaskID]
	switch {
	case t == nil:
		return envelope{status: http.StatusNotFound, Code: 3, Description: "task does not exist"}.answer()
	case t.Status != "MODAL":
		return invalid("task status error")
	case t.Action == "INPAINT" && !picture(q.MaskBase64):
		return invalid("maskBase64 format error")
	}
	q.window = t
	return nil
}

// buttons returns the follow-ups that Midjourney offers for the result.
func (t *task) buttons() []button {
	hash, _ := t.Properties["messageHash"].(string)
	var out []button
	add := func(label, format string, args ...any) {
		out = append(out, button{CustomID: fmt.Sprintf(format, args...), Label: label, Type: 2, Style: 2})
	}
	if t.grid() {
		for i := 1; i <= 4; i++ {
			add(fmt.Sprintf("U%d", i), "MJ::JOB::upsample::%d::%s", i, hash)
		}
		out = append(out, button{CustomID: "MJ::JOB::reroll::0::" + hash + "::SOLO", Emoji: "🔄", Type: 2, Style: 2})
		for i := 1; i <= 4; i++ {
			add(fmt.Sprintf("V%d", i), "MJ::JOB::variation::%d::%s", i, hash)
		}
		return out
	}
	for _, b := range [][2]string{
		{"Upscale (Subtle)", "JOB::upsample_v7_2x_subtle::1"},
		{"Upscale (Creative)", "JOB::upsample_v7_2x_creative::1"},
		{"Vary (Subtle)", "JOB::low_variation::1"},
		{"Vary (Strong)", "JOB::high_variation::1"},
		{"Vary (Region)", "Inpaint::1"},
		{"Zoom Out 2x", "Outpaint::50::1"},
		{"Zoom Out 1.5x", "Outpaint::75::1"},
		{"Make Square", "Outpaint::100::1"},
		{"⬅️", "JOB::pan_left::1"},
		{"➡️", "JOB::pan_right::1"},
		{"⬆️", "JOB::pan_up::1"},
		{"⬇️", "JOB::pan_down::1"},
	} {
		add(b[0], "MJ::%s::%s::SOLO", b[1], hash)
	}
	add("Custom Zoom", "MJ::CustomZoom::1::%s", hash)
	return out
}

// tile returns the size of one picture: the area of a square tile in the requested ratio.
func (s *Simulator) tile(q *submission) (w, h int) {
	ratio := 1.0
	fields := strings.Fields(q.prompt)
	for i, f := range fields {
		if (f == "--ar" || f == "--aspect") && i+1 < len(fields) {
			a, b, _ := strings.Cut(fields[i+1], ":")
			x, xerr := strconv.ParseFloat(a, 64)
			y, yerr := strconv.ParseFloat(b, 64)
			if xerr == nil && yerr == nil && x > 0 && y > 0 {
				ratio = x / y
			}
		}
	}
	const step = 16
	side := float64(s.config.Side)
	round := func(v float64) int { return max(step, int(math.Round(v/step))*step) }
	return round(side * math.Sqrt(ratio)), round(side / math.Sqrt(ratio))
}
