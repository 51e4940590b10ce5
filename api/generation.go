package api

import (
	"context"
	"net/http"
	"time"
)

// GenerationService requests media from models. A generation belongs to the server and continues when its client
// disconnects.
type GenerationService interface {
	// StartGeneration starts a generation. The key is the Idempotency-Key of the request, or a new one.
	StartGeneration(ctx context.Context, key string, g NewGeneration) (Generation, error)
	// PlanGeneration returns what a request would do, without spending money.
	PlanGeneration(ctx context.Context, g NewGeneration) (Plan, error)
	Generation(ctx context.Context, id string) (Generation, error)
	// ListGenerations lists generations, newest first.
	ListGenerations(ctx context.Context, q GenerationQuery) (List[Generation], error)
	// RetryGeneration retries failed results. If all is set, it also retries results that were refused or may have been
	// billed.
	RetryGeneration(ctx context.Context, id string, all bool) (Generation, error)
	CancelGeneration(ctx context.Context, id string) (Generation, error)
}

// NewGeneration is a request for media.
type NewGeneration struct {
	Method         string                    `json:"method,omitempty" enum:"generate,edit,variation"`
	Modality       string                    `json:"modality,omitempty" enum:"image,audio,video,document"`
	Prompt         string                    `json:"prompt,omitempty" maxLength:"100000"`
	NegativePrompt string                    `json:"negative_prompt,omitempty" maxLength:"100000"`
	Model          string                    `json:"model,omitempty" maxLength:"200"`
	Fallback       []string                  `json:"fallback,omitempty" maxItems:"10"`
	N              int                       `json:"n,omitempty" minimum:"1" maximum:"100"`
	Size           string                    `json:"size,omitempty" maxLength:"20" doc:"WIDTHxHEIGHT or auto."`
	AspectRatio    string                    `json:"aspect_ratio,omitempty" maxLength:"20" doc:"W:H."`
	Quality        string                    `json:"quality,omitempty" maxLength:"40"`
	Style          string                    `json:"style,omitempty" maxLength:"40"`
	Background     string                    `json:"background,omitempty" maxLength:"40"`
	Seed           *int64                    `json:"seed,omitempty"`
	OutputFormat   string                    `json:"output_format,omitempty" maxLength:"20"`
	Voice          string                    `json:"voice,omitempty" maxLength:"80"`
	Speed          float64                   `json:"speed,omitempty"`
	Compression    *int                      `json:"compression,omitempty" minimum:"0" maximum:"100"`
	Inputs         []RunFile                 `json:"inputs,omitempty" maxItems:"20" doc:"Stored pictures to edit or vary."`
	Mask           *RunFile                  `json:"mask,omitempty" doc:"The area of the first input to change."`
	Moderation     string                    `json:"moderation,omitempty" maxLength:"20"`
	Options        map[string]map[string]any `json:"options,omitempty" doc:"Provider-specific options, by provider."`
	Strict         bool                      `json:"strict,omitempty" doc:"Fail instead of adapting or dropping a setting."`
	Label          string                    `json:"label,omitempty" maxLength:"500"`
}

// Plan describes what a request would do.
type Plan struct {
	Model        string    `json:"model"`
	Provider     string    `json:"provider"`
	Calls        int       `json:"calls"`
	Makes        int       `json:"makes"`
	Settings     []Setting `json:"settings" nullable:"false"`
	EstimatedUSD *string   `json:"estimated_usd"`
	Warnings     []string  `json:"warnings" nullable:"false"`
}

// Generation is a generation and its results.
type Generation struct {
	ID       string    `json:"id"`
	Status   string    `json:"status" enum:"queued,submitted,running,succeeded,partial,failed,moderated,cancelled"`
	Method   string    `json:"method,omitempty"`
	Modality string    `json:"modality,omitempty"`
	Prompt   string    `json:"prompt,omitempty"`
	Model    string    `json:"model,omitempty"`
	Provider string    `json:"provider,omitempty"`
	RunID    string    `json:"run_id,omitempty"`
	Slots    []Slot    `json:"slots" nullable:"false" doc:"The results; empty in lists."`
	Settings []Setting `json:"settings" nullable:"false"`
	Cost     Cost      `json:"cost"`
	Warnings []string  `json:"warnings" nullable:"false"`
	Error    *Failure  `json:"error,omitempty"`

	CreatedAt  time.Time  `json:"created_at"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// Slot is one requested result.
type Slot struct {
	Index         int      `json:"index"`
	Status        string   `json:"status"`
	Media         *Media   `json:"media,omitempty"`
	RevisedPrompt string   `json:"revised_prompt,omitempty"`
	Seed          *int64   `json:"seed,omitempty"`
	Error         *Failure `json:"error,omitempty"`
}

// GenerationQuery filters a list of generations.
type GenerationQuery struct {
	Status string `query:"status" enum:"queued,submitted,running,succeeded,partial,failed,moderated,cancelled"`
	Run    string `query:"run" maxLength:"64" doc:"Only generations of this run's tree."`
	Page
}

// RetrySlots selects the results to retry.
type RetrySlots struct {
	All bool `json:"all,omitempty" doc:"Also retry results that were refused or may have been billed."`
}

func registerGenerations(rt *routes, gs GenerationService) {
	const path, tag = "/api/generations", "generations"
	handle(rt, accepted(path, "Start generation", tag), func(ctx context.Context, in *withKey[NewGeneration]) (*answer[Generation], error) {
		return idempotent(ctx, &rt.keys, in.Key, call{Name: "generations", Body: in.Body}, func(ctx context.Context, id string) (Generation, error) {
			return gs.StartGeneration(ctx, id, in.Body)
		})
	})
	handle(rt, on(http.MethodPost, path+"/plan", "Plan generation", tag), func(ctx context.Context, in *with[NewGeneration]) (*answer[Plan], error) {
		return found(gs.PlanGeneration(ctx, in.Body))
	})
	paged(rt, path, "List generations", tag, gs.ListGenerations)
	byID(rt, on(http.MethodGet, path+"/{id}", "Get generation", tag), gs.Generation)
	handle(rt, accepted(path+"/{id}/retry", "Retry generation", tag), func(ctx context.Context, in *withIDKeyAndOption[RetrySlots]) (*answer[Generation], error) {
		all := in.Body != nil && in.Body.All
		return idempotentChange(ctx, &rt.keys, in.Key, change[Generation]{
			call{Name: "retry " + in.ID, Body: all},
			Subject{Generation: in.ID},
			func(ctx context.Context) (Generation, error) { return gs.RetryGeneration(ctx, in.ID, all) },
			func(ctx context.Context) (Generation, error) { return gs.Generation(ctx, in.ID) },
		})
	})
	byID(rt, accepted(path+"/{id}/cancel", "Cancel generation", tag), gs.CancelGeneration)
}

// BudgetService reports spending.
type BudgetService interface {
	// ListBudgets lists the budgets that are set, with the amounts spent and reserved.
	ListBudgets(ctx context.Context) ([]Budget, error)
}

// Budget is a limit and its usage. Dollars are decimal text; the other units are whole numbers.
type Budget struct {
	Name     string `json:"name" enum:"run,day,owner"`
	Unit     string `json:"unit" enum:"usd,tokens,images"`
	Limit    string `json:"limit"`
	Spent    string `json:"spent,omitempty" doc:"Omitted for limits that apply to each run."`
	Reserved string `json:"reserved,omitempty"`
}
