package midjourneysim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelier/internal/sim"
)

// task is a job in the proxy's form.
type task struct {
	ID          string         `json:"id"`
	Action      string         `json:"action"`
	Status      string         `json:"status"`
	Mode        string         `json:"mode,omitempty"`
	Prompt      string         `json:"prompt"`
	PromptEn    string         `json:"promptEn"`
	Description string         `json:"description"`
	State       string         `json:"state"`
	SubmitTime  int64          `json:"submitTime"`
	Progress    string         `json:"progress"`
	ImageURL    string         `json:"imageUrl,omitempty"`
	ImageURLs   []link         `json:"imageUrls,omitempty"`
	FailReason  string         `json:"failReason,omitempty"`
	Buttons     []button       `json:"buttons,omitempty"`
	Properties  map[string]any `json:"properties"`

	sim   *Simulator
	q     *submission
	polls int
	steps int
}

type link struct {
	URL string `json:"url"`
}

type button struct {
	CustomID string `json:"customId"`
	Emoji    string `json:"emoji"`
	Label    string `json:"label"`
	Type     int    `json:"type"`
	Style    int    `json:"style"`
}

// hasEnded reports whether the task has ended.
func (t *task) hasEnded() bool {
	return t.Status == "SUCCESS" || t.Status == "FAILURE" || t.Status == "CANCEL"
}

// confirm confirms the window of a task.
func (t *task) confirm(q *submission) {
	t.Status, t.Prompt, t.q.hasMask = "SUBMITTED", q.prompt, q.MaskBase64 != ""
	t.Properties["finalPrompt"] = q.prompt
	t.q.prompt = q.prompt
}

// pollFails answers the polls that fail before the task advances, and reports whether it did.
func (t *task) pollFails(w http.ResponseWriter) bool {
	if t.q.fault.Fault != sim.FaultPollFails {
		return false
	}
	t.polls++
	switch t.polls {
	case 1:
		sim.Answer{
			Status: http.StatusInternalServerError,
			Body:   `{"timestamp":"2026-11-21T12:00:00.000+00:00","status":500,"error":"Internal Server Error","path":"/mj/task/fetch"}`,
		}.Write(w)
	case 2:
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// advance moves the task to its next state.
func (t *task) advance() {
	if t.hasEnded() || t.Status == "MODAL" {
		return
	}
	t.steps++
	if t.sim.config.Quick || t.sim.config.Plain && t.steps > 2 || t.steps > 3 {
		t.end()
		return
	}
	switch t.steps {
	case 1:
		t.Status, t.Progress = "SUBMITTED", "0%"
	case 2:
		t.Status, t.Progress = "IN_PROGRESS", "31%"
		t.ImageURL = t.preview(32)
	case 3:
		t.Progress = "78%"
		t.ImageURL = t.preview(64)
	}
}

// lostPreviews are the kinds of preview links that lead to nothing, to no picture, or to a
// blocked address.
var lostPreviews = []string{"gone", "text", "private"}

// preview returns a link to a blurry preview of the task.
func (t *task) preview(side int) string {
	p := t.sim.Paint("webp", side, side, 1)
	if t.q.fault.Fault != sim.FaultPreviewLost {
		return t.put(fmt.Sprintf("preview-%d.webp", side), p)
	}
	switch lostPreviews[t.q.fault.Variant] {
	case "gone":
		link, _, _ := strings.Cut(t.put("preview.webp", p), "?") // drop its signature
		return link
	case "text":
		return t.put("preview.webp", sim.NotMedia("image/webp"))
	}
	return "http://169.254.169.254/preview.webp"
}

// end sets the result, or the fault in its place.
func (t *task) end() {
	t.Progress, t.ImageURL = "100%", ""
	if reason := t.failure(); reason != "" {
		t.Status, t.FailReason, t.Progress = "FAILURE", reason, ""
		return
	}
	t.Status = "SUCCESS"
	if t.q.fault.Fault == sim.FaultEmpty {
		return
	}
	if t.Action == "DESCRIBE" {
		t.Properties["finalPrompt"] = "1️⃣ a lighthouse on a cliff at dusk --ar 3:2\n\n2️⃣ a white tower above dark water --ar 3:2\n\n3️⃣ coastal scene, oil on canvas --ar 3:2\n\n4️⃣ a beacon in fog --ar 3:2"
		t.ImageURL = t.put("input.png", t.sim.Paint("png", 64, 64, 2))
		return
	}
	t.draw()
	if !t.sim.config.Plain {
		t.Buttons = t.buttons()
	}
}

// failure returns why the task fails; empty if it does not.
func (t *task) failure() string {
	f := t.q.fault
	if reason := faultReason(f); reason != "" {
		return reason
	}
	return checkFlags(t.q.prompt)
}

// grid reports whether the task makes four pictures.
func (t *task) grid() bool { return t.Action != "UPSCALE" }

// draw makes the pictures and their links.
func (t *task) draw() {
	w, h := t.sim.tile(t.q)
	id, _ := strconv.ParseUint(t.ID, 10, 64)
	seed := sim.Seed(t.q.prompt, int64(t.q.Index), int64(id)) //nolint:gosec // Ids are far below the limit.
	if !t.grid() {
		t.ImageURL = t.put("single.png", t.faulty(t.sim.Paint("png", w, h, seed)))
		return
	}
	t.ImageURL = t.put("grid.png", t.faulty(grid(2*w, 2*h, seed)))
	if t.sim.config.Singles {
		for i := range 4 {
			t.ImageURLs = append(t.ImageURLs, link{t.put(fmt.Sprintf("0_%d.png", i), t.faulty(t.sim.Paint("png", w, h, seed+uint64(i))))})
		}
	}
}

// faulty replaces a picture as the fault requires.
func (t *task) faulty(p sim.Picture) sim.Picture {
	switch t.q.fault.Fault {
	case sim.FaultTinyImage, sim.FaultHugeHeader, sim.FaultNotMedia, sim.FaultLyingType:
		side := 2 * t.sim.config.Side
		return t.sim.Picture("png", side, side, sim.Seed(t.ID), t.q.fault)
	default:
		return p
	}
}

// linkLife is how long a link is valid.
const linkLife = 24 * time.Hour

// put stores a file and returns its signed link.
func (t *task) put(name string, p sim.Picture) string {
	path := "/attachments/" + t.ID + "/" + name
	now := t.sim.Now()
	sum := sha256.Sum256([]byte(path + strconv.FormatInt(now.Unix(), 16)))
	signed := hex.EncodeToString(sum[:])
	preview := strings.HasPrefix(name, "preview")
	t.sim.Put(path+signed, sim.Link{Picture: p, DeclaredMIME: "image/png", Life: linkLife, Fault: t.q.fault, Records: !preview})
	if t.q.fault.Fault == sim.FaultPrivateURL && !preview {
		return sim.PrivateURL(t.q.fault)
	}
	return fmt.Sprintf("%s%s?ex=%x&is=%x&hm=%s", t.q.origin, path, now.Add(linkLife).Unix(), now.Unix(), signed)
}

// serveFile serves the picture store, which needs no secret but a signature that expires.
func (s *Simulator) serveFile(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Mj-Api-Secret") != "" {
		http.Error(w, "what is this secret doing here", http.StatusTeapot)
		return
	}
	if !s.Serve(w, r.URL.Path+r.URL.Query().Get("hm")) {
		sim.Answer{Status: http.StatusNotFound, Type: "text/plain;charset=UTF-8", Body: "This content is no longer available."}.Write(w)
	}
}
