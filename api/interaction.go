package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelier/media"
)

// InteractionService shows, edits and answers the interactions of workflow runs.
type InteractionService interface {
	Interaction(ctx context.Context, id string) (Interaction, error)
	// PatchInteraction applies an edit that was made on a version.
	PatchInteraction(ctx context.Context, id string, version int, ops []PatchOperation) (InteractionChange, error)
	// AnswerInteraction accepts a person's answer and returns the run, which continues.
	AnswerInteraction(ctx context.Context, id string, a InteractionAnswer) (Started, error)
}

// Interaction is a request to a person.
type Interaction struct {
	WorkflowRunID   string          `json:"workflow_run_id"`
	InteractionID   string          `json:"interaction_id"`
	StepID          string          `json:"step_id"`
	Status          string          `json:"status" enum:"open,answered,expired,cancelled"`
	InteractionType string          `json:"interaction_type" enum:"schema_with_sub_actions,approval"`
	Title           string          `json:"title"`
	Mode            string          `json:"mode"`
	DisplayData     json.RawMessage `json:"display_data" doc:"The current values, with edits and generated results."`
	DisplaySchema   json.RawMessage `json:"display_schema"`
	InputSchema     json.RawMessage `json:"input_schema,omitempty"`
	Layout          json.RawMessage `json:"layout,omitempty"`
	View            json.RawMessage `json:"view" doc:"The resolved tree that clients render."`
	Version         int             `json:"version" doc:"The version of display_data, which is also the ETag."`
	Answer          json.RawMessage `json:"answer,omitempty"`
	ExpiresAt       *time.Time      `json:"expires_at,omitempty"`
	CreatedAt       time.Time       `json:"created_at"`
	AnsweredAt      *time.Time      `json:"answered_at,omitempty"`
}

// PatchOperation is one operation of a JSON Patch (RFC 6902).
type PatchOperation struct {
	Op    string          `json:"op" enum:"add,remove,replace,test"`
	Path  string          `json:"path" maxLength:"4000"`
	Value json.RawMessage `json:"value,omitempty"`
}

// InteractionChange is the result of an edit; the event interaction-patched has the same fields.
type InteractionChange struct {
	InteractionID string           `json:"interaction_id"`
	Version       int              `json:"version"`
	Patch         []PatchOperation `json:"patch" nullable:"false" doc:"The change from the previous version of display_data."`
	Changes       json.RawMessage  `json:"changes" doc:"The changed nodes of the view, without their children, and the pointers of removed ones."`
}

// InteractionAnswer is a person's decision. The interaction determines which fields apply.
type InteractionAnswer struct {
	SelectedContentID  *string                    `json:"selected_content_id,omitempty" maxLength:"128"`
	SelectedContentIDs []string                   `json:"selected_content_ids,omitempty" maxItems:"1000"`
	Selected           map[string]json.RawMessage `json:"selected,omitempty" doc:"A content id, or a list of them, for each selection group."`
	Approved           *bool                      `json:"approved,omitempty"`
	Comment            string                     `json:"comment,omitempty" maxLength:"20000"`
	Version            *int                       `json:"version,omitempty" minimum:"0" doc:"The version of display_data that the person saw. If it is not the current one, the status is 409."`
	Running            string                     `json:"running,omitempty" enum:"keep,cancel" doc:"What to do with running sub-actions; without it, they make the answer fail."`
}

// versioned is a response with a version as its ETag.
type versioned[T any] struct {
	ETag string `header:"ETag"`
	Body T
}

func version[T any](n int, v T) *versioned[T] {
	return &versioned[T]{ETag: strconv.Quote(strconv.Itoa(n)), Body: v}
}

func registerInteractions(rt *routes, is InteractionService) {
	const path, tag = "/api/interactions/{id}", "workflows"
	handle(rt, on(http.MethodGet, path, "Get interaction", tag), func(ctx context.Context, in *ByID) (*versioned[Interaction], error) {
		i, err := is.Interaction(ctx, in.ID)
		return version(i.Version, i), err
	})
	edit := on(http.MethodPatch, path, "Edit interaction", tag)
	edit.Description = "An edit that is based on an older version is applied if no later edit changes its path, a parent or a child; otherwise the status is 412."
	handle(rt, edit, func(ctx context.Context, in *struct {
		ByID
		Match string           `header:"If-Match" maxLength:"40" doc:"The version that the edit is based on."`
		Body  []PatchOperation `minItems:"1" maxItems:"1000" nullable:"false"`
	},
	) (*versioned[InteractionChange], error) {
		n, err := strconv.Atoi(strings.Trim(strings.TrimPrefix(strings.TrimSpace(in.Match), "W/"), `"`))
		if err != nil || n < 0 {
			return nil, media.Errorf(media.CodeInvalid, "send If-Match with the version of display_data that the edit is based on")
		}
		c, err := is.PatchInteraction(ctx, in.ID, n, in.Body)
		return version(c.Version, c), err
	})
	handle(rt, accepted(path+"/answer", "Answer interaction", tag), func(ctx context.Context, in *withIDAndKey[InteractionAnswer]) (*answer[Started], error) {
		return idempotentChange(ctx, &rt.keys, in.Key, change[Started]{
			call{Name: "answer interaction " + in.ID, Body: in.Body},
			Subject{Interaction: in.ID},
			func(ctx context.Context) (Started, error) { return is.AnswerInteraction(ctx, in.ID, in.Body) },
			func(ctx context.Context) (Started, error) {
				i, err := is.Interaction(ctx, in.ID)
				return Started{ID: i.WorkflowRunID, Status: "running"}, err
			},
		})
	})
}
