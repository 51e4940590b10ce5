package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atelier/media"
)

// RunService executes agents. A run belongs to the server and continues when its client disconnects. The id of any run
// in a tree identifies the tree.
type RunService interface {
	// StartRun starts a run with a new id, or returns the run that an earlier attempt started with the id.
	StartRun(ctx context.Context, id string, r NewRun) (Started, error)
	// ListRuns lists runs, newest first.
	ListRuns(ctx context.Context, q RunQuery) (List[Run], error)
	Run(ctx context.Context, id string) (Run, error)
	// AnswerRun answers a question of a paused run.
	AnswerRun(ctx context.Context, id string, a Answer) (Started, error)
	// CancelRun cancels a run, whichever process executes it.
	CancelRun(ctx context.Context, id string) (Started, error)
	// RetryRun retries a failed run from its last successful step.
	RetryRun(ctx context.Context, id string) (Started, error)
	// ForkRun starts a run that repeats another run from a step. The new id works as in StartRun.
	ForkRun(ctx context.Context, newID, id string, f Fork) (Started, error)
	// WriteReport writes the report of a run as an HTML page. url returns the address of a media item; if it is nil,
	// addresses are paths on [Server].
	WriteReport(ctx context.Context, id string, url func(media string) string, w io.Writer) error
}

// NewRun is a run to start.
type NewRun struct {
	Agent          string         `json:"agent" minLength:"1" maxLength:"200" doc:"A slug or a name."`
	Message        string         `json:"message,omitempty" maxLength:"400000" doc:"Can be omitted if there are images or files."`
	ConversationID string         `json:"conversation_id,omitempty" maxLength:"64" doc:"An id, or new for a new conversation; without it, the run belongs to none."`
	Images         []RunImage     `json:"images,omitempty" maxItems:"100" doc:"Pictures for the model."`
	Files          []RunFile      `json:"files,omitempty" maxItems:"100" doc:"Tables, documents and text files that the agent can read and query."`
	Input          map[string]any `json:"input,omitempty" doc:"Input for the model in addition to the message. Large integers stay exact."`
	ToolContext    ToolContext    `json:"tool_context,omitempty" doc:"Values for actions. No model receives them, and no response contains them."`
	Model          string         `json:"model,omitempty" maxLength:"200" doc:"The chat model; offline selects the offline model."`
	ImageModel     string         `json:"image_model,omitempty" maxLength:"200"`
	LenientImages  bool           `json:"lenient_images,omitempty" doc:"Omit pictures that the chat model does not accept, with a warning."`
	Limits         *Limits        `json:"limits,omitempty"`
}

// ToolContext holds named JSON values.
type ToolContext map[string]json.RawMessage

// RunImage identifies a stored picture. Exactly one of MediaID and Ref is required.
type RunImage struct {
	MediaID string `json:"media_id,omitempty" maxLength:"64"`
	Ref     string `json:"ref,omitempty" maxLength:"40" doc:"The ref of an item of the conversation."`
	Detail  string `json:"detail,omitempty" enum:"auto,low,high"`
}

// RunFile identifies a stored file.
type RunFile struct {
	MediaID string `json:"media_id" minLength:"1" maxLength:"64"`
}

// Limits limits a run and its sub-agents.
type Limits struct {
	MaxTurns    int     `json:"max_turns,omitempty" minimum:"0" maximum:"200"`
	MaxTokens   int64   `json:"max_tokens,omitempty" minimum:"0"`
	MaxSeconds  float64 `json:"max_seconds,omitempty" minimum:"0" maximum:"1000000"`
	MaxImages   int64   `json:"max_images,omitempty" minimum:"0"`
	MaxCost     string  `json:"max_cost,omitempty" maxLength:"40" doc:"US dollars as decimal text."`
	ApproveOver string  `json:"approve_over,omitempty" maxLength:"40" doc:"Require approval of each action that would cost more."`
}

// Started is a started run.
type Started struct {
	ID             string `json:"id"`
	Status         string `json:"status"`
	ConversationID string `json:"conversation_id,omitempty"`
}

// Run is a run of an agent.
type Run struct {
	ID             string          `json:"id"`
	Agent          string          `json:"agent"`
	Status         string          `json:"status" enum:"running,paused,succeeded,failed,cancelled"`
	Message        string          `json:"message,omitempty" doc:"The task. Media are written as ${media:REF}."`
	Answer         string          `json:"answer,omitempty" doc:"The answer."`
	Payload        json.RawMessage `json:"payload,omitempty" doc:"The structured result, with the addresses of media; omitted in lists."`
	ConversationID string          `json:"conversation_id,omitempty" doc:"Omitted in lists."`
	ForkedFrom     string          `json:"forked_from,omitempty"`
	StartedAt      time.Time       `json:"started_at"`
	EndedAt        *time.Time      `json:"ended_at,omitempty"`
	Cost           Cost            `json:"cost"`
	Tokens         Usage           `json:"tokens"`
	Question       *Question       `json:"question,omitempty" doc:"The oldest open question of a paused run; omitted in lists."`
	Questions      []Question      `json:"questions,omitempty" doc:"All open questions; omitted in lists."`
	Warnings       []string        `json:"warnings" nullable:"false"`
	Error          *Failure        `json:"error,omitempty"`
	Report         bool            `json:"report" doc:"The run has a report."`
	Media          []Media         `json:"media" nullable:"false" doc:"The media that the run received and made; empty in lists."`
}

// Usage is the resource usage of a run.
type Usage struct {
	ModelCalls   int64 `json:"model_calls"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Images       int64 `json:"images"`
	WorkedMS     int64 `json:"worked_ms"`
}

// Failure says why something failed.
type Failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Question is an open question of a paused run.
type Question struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind" enum:"question,approval,guardrail"`
	Agent    string          `json:"agent" doc:"The path from the root agent to the one that asks."`
	Question string          `json:"question"`
	Text     string          `json:"text" doc:"The same as question."`
	Schema   json.RawMessage `json:"schema" doc:"The JSON Schema of the answer."`
	Approval bool            `json:"approval" doc:"The question is answered with approve."`
	Options  []string        `json:"options,omitempty" doc:"The choices, if the answer is one of them."`
	Details  json.RawMessage `json:"details,omitempty" doc:"What is to be approved: action, params, estimated_usd, reason."`
	AskedAt  time.Time       `json:"asked_at"`
}

// Answer answers a question. Exactly one of Answer, Approve and Text is required.
type Answer struct {
	Question      string          `json:"question,omitempty" maxLength:"128" doc:"The question's id; the default is the oldest open one."`
	Answer        json.RawMessage `json:"answer,omitempty" doc:"A value that matches the question's schema."`
	Approve       *bool           `json:"approve,omitempty"`
	Text          *string         `json:"text,omitempty" maxLength:"40000" doc:"Plain text, if the question has one field."`
	Note          string          `json:"note,omitempty" maxLength:"2000" doc:"A note for the model, in addition to the answer."`
	Images        []RunImage      `json:"images,omitempty" maxItems:"100"`
	ReplaceImages bool            `json:"replace_images,omitempty"`
}

// Fork holds the changes for a repeated run.
type Fork struct {
	Step       string `json:"step,omitempty" maxLength:"400" doc:"The first step to execute again; the default is the first step of all."`
	Message    string `json:"message,omitempty" maxLength:"400000"`
	Model      string `json:"model,omitempty" maxLength:"200"`
	ImageModel string `json:"image_model,omitempty" maxLength:"200"`
}

// RunQuery filters a list of runs.
type RunQuery struct {
	Status string `query:"status" enum:"running,paused,succeeded,failed,cancelled"`
	Agent  string `query:"agent" maxLength:"200" doc:"The agent's slug."`
	Page
}

// Keyed is embedded in requests that cost money.
type Keyed struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"Requests with the same key and body get the first response for 24 hours."`
}

func registerRuns(rt *routes, rs RunService, a *access) {
	const path, tag = "/api/runs", "runs"
	handle(rt, accepted(path, "Start run", tag), func(ctx context.Context, in *withKey[NewRun]) (*answer[Started], error) {
		if err := in.Body.check(); err != nil {
			return nil, err
		}
		return idempotent(ctx, &rt.keys, in.Key, call{Name: "runs", Body: in.Body}, func(ctx context.Context, id string) (Started, error) { return rs.StartRun(ctx, id, in.Body) })
	})
	paged(rt, path, "List runs", tag, rs.ListRuns)
	byID(rt, on(http.MethodGet, path+"/{id}", "Get run", tag), rs.Run)
	handle(rt, accepted(path+"/{id}/answer", "Answer run", tag), func(ctx context.Context, in *withIDAndKey[Answer]) (*answer[Started], error) {
		if err := in.Body.check(); err != nil {
			return nil, err
		}
		return idempotentChange(ctx, &rt.keys, in.Key, change[Started]{
			call{Name: "answer " + in.ID, Body: in.Body},
			Subject{Run: in.ID},
			func(ctx context.Context) (Started, error) { return rs.AnswerRun(ctx, in.ID, in.Body) }, startedRun(rs, in.ID),
		})
	})
	byID(rt, accepted(path+"/{id}/cancel", "Cancel run", tag), rs.CancelRun)
	handle(rt, accepted(path+"/{id}/retry", "Retry run", tag), func(ctx context.Context, in *struct {
		ByID
		Keyed
	},
	) (*answer[Started], error) {
		return idempotentChange(ctx, &rt.keys, in.Key, change[Started]{
			call{Name: "retry " + in.ID, Body: nil},
			Subject{Run: in.ID},
			func(ctx context.Context) (Started, error) { return rs.RetryRun(ctx, in.ID) }, startedRun(rs, in.ID),
		})
	})
	handle(rt, accepted(path+"/{id}/fork", "Fork run", tag), func(ctx context.Context, in *withIDAndKey[Fork]) (*answer[Started], error) {
		return idempotent(ctx, &rt.keys, in.Key, call{Name: "fork " + in.ID, Body: in.Body}, func(ctx context.Context, id string) (Started, error) { return rs.ForkRun(ctx, id, in.ID, in.Body) })
	})
	rt.stream(huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}/report", Summary: "Read report", Tags: []string{tag},
		Description: "The report as one page without scripts; without a report, a page with the run's message.",
		Responses:   map[string]*huma.Response{"200": {Description: "The page.", Content: map[string]*huma.MediaType{"text/html": {Schema: &huma.Schema{Type: huma.TypeString}}}}},
	}, func(w http.ResponseWriter, r *http.Request) error {
		// The page has its own origin and executes no scripts; its links open new tabs.
		origin := a.scheme(r) + "://" + r.Host // 'self' does not match inside a sandbox
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "private, no-cache")
		h.Set("Content-Security-Policy", "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data: "+origin+"; media-src 'self' "+origin+"; frame-ancestors 'self'")
		return rs.WriteReport(r.Context(), r.PathValue("id"), a.mediaURL(r), w)
	})
}

// startedRun returns the status of a run that an earlier request started, answered or retried.
func startedRun(runs RunService, id string) func(ctx context.Context) (Started, error) {
	return func(ctx context.Context) (Started, error) {
		r, err := runs.Run(ctx, id)
		return Started{ID: r.ID, Status: r.Status, ConversationID: r.ConversationID}, err
	}
}

// check checks what the schema cannot express.
func (r NewRun) check() error {
	if strings.TrimSpace(r.Message) == "" && len(r.Images) == 0 && len(r.Files) == 0 {
		return media.Errorf(media.CodeInvalid, "the message is empty: give %.80s a task, or attach something", media.ErrorText(r.Agent))
	}
	return checkImages(r.Images)
}

func checkImages(all []RunImage) error {
	for i, image := range all {
		if (image.MediaID == "") == (image.Ref == "") {
			return media.Errorf(media.CodeInvalid, "images[%d] requires either media_id or ref", i)
		}
	}
	return nil
}

func (a Answer) check() error {
	given := 0
	for _, is := range []bool{len(a.Answer) > 0, a.Approve != nil, a.Text != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return media.Errorf(media.CodeInvalid, "give exactly one of answer, approve and text")
	}
	return checkImages(a.Images)
}
