package generate

import (
	"math"
	"slices"

	"atelier/media"
)

// Status is the state of an operation, an attempt or a slot. Package operation has the table of transitions.
type Status string

// The statuses. Partial means an operation or attempt with both succeeded and failed slots; a slot is never partial.
const (
	// StatusNew is the status before the beginning; it is never saved.
	StatusNew       Status = ""
	StatusQueued    Status = "queued"
	StatusSubmitted Status = "submitted"
	StatusRunning   Status = "running"
	StatusSucceeded Status = "succeeded"
	StatusPartial   Status = "partial"
	StatusFailed    Status = "failed"
	StatusModerated Status = "moderated"
	StatusCancelled Status = "cancelled"
)

// Finished reports whether a status is final.
func (s Status) Finished() bool {
	return slices.Contains([]Status{StatusSucceeded, StatusPartial, StatusFailed, StatusModerated, StatusCancelled}, s)
}

// Result is the outcome of a [Request]. Success is determined per slot.
type Result struct {
	// Operation is the operation's UUIDv7 in the ledger.
	Operation    string        `json:"operation"`
	Status       Status        `json:"status"`
	Model        string        `json:"model"`
	Provider     string        `json:"provider"`
	Slots        []Slot        `json:"slots"`
	Dispositions []Disposition `json:"dispositions"`
	Usage        Usage         `json:"usage"`
	Cost         Cost          `json:"cost"`
	// Warnings are for people: a model about to be shut down, a record that could not be saved, an answer whose type
	// differs from its declaration.
	Warnings []string `json:"warnings,omitempty"`
	// Metadata is what the provider returned besides the media, small and without media.
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Slot is one of the n requested results, Index from 1. A provider that returns more results than requested adds slots
// beyond n: no result is discarded.
type Slot struct {
	Index  int    `json:"index"`
	Status Status `json:"status"`
	// Output is set when the slot succeeded.
	Output *media.Output `json:"output,omitempty"`
	// Error is set when it did not.
	Error *SlotError `json:"error,omitempty"`
	// RevisedPrompt is the prompt that the provider actually used, if known.
	RevisedPrompt string `json:"revised_prompt,omitempty"`
	// Seed is the seed used, if known.
	Seed *int64 `json:"seed,omitempty"`
	// Safety is the provider's verdict, if it gave one.
	Safety *Safety `json:"safety,omitempty"`
}

// Undecided reports whether the result was made, could not be stored and cannot be fetched again: its operation stays
// open until a person decides whether to pay for it again.
func (s Slot) Undecided() bool {
	return s.Status == StatusRunning && s.Error != nil && s.Error.Code == media.CodeDiskFull && !s.Error.Retryable
}

// SlotError is why one slot has no output.
type SlotError struct {
	Code      media.Code `json:"code"`
	Message   string     `json:"message"`
	Retryable bool       `json:"retryable"`
}

// Safety is a provider's moderation verdict.
type Safety struct {
	Blocked bool `json:"blocked"`
	// Stage is input or output, if known.
	Stage string `json:"stage,omitempty"`
	// Categories are the provider's categories, or else those that its text mentions: sexual, violence, hate,
	// harassment, self_harm, minors, public_figure, copyright, banned_words, sensitive, guidelines.
	Categories []string `json:"categories,omitempty"`
}

// Usage is the provider's usage count.
type Usage struct {
	Calls             int   `json:"calls"`
	Images            int   `json:"images"`
	InputTokens       int64 `json:"input_tokens"`
	OutputTokens      int64 `json:"output_tokens"`
	ImageInputTokens  int64 `json:"image_input_tokens,omitempty"`
	ImageOutputTokens int64 `json:"image_output_tokens,omitempty"`
	// Unsettled counts the calls that may have been billed although their results did not all arrive (driver.ErrUnsettled).
	Unsettled int `json:"unsettled_calls,omitempty"`
}

// Cost is money in US dollars as exact decimal text ("0.134"); nil means unknown, which does not mean zero.
type Cost struct {
	EstimatedUSD *string `json:"estimated_usd"`
	ReportedUSD  *string `json:"reported_usd"`
}

// Outputs returns the outputs of the slots that succeeded, in slot order.
func (r *Result) Outputs() []media.Output {
	var out []media.Output
	for _, s := range r.Slots {
		if s.Output != nil {
			out = append(out, *s.Output)
		}
	}
	return out
}

// Err returns nil if any slot succeeded or the operation is still running; otherwise the error of the first slot that
// has one. The slots show partial failures.
func (r *Result) Err() error {
	for _, s := range r.Slots {
		if s.Output != nil || s.Status == StatusRunning {
			return nil
		}
	}
	for _, s := range r.Slots {
		if s.Error != nil {
			e := media.Errorf(s.Error.Code, "%s", s.Error.Message)
			e.Retryable = s.Error.Retryable
			return e
		}
	}
	return nil
}

// Add adds the counts of v.
func (u *Usage) Add(v Usage) {
	u.Calls += v.Calls
	u.Images += v.Images
	u.Unsettled += v.Unsettled
	u.InputTokens = sum(u.InputTokens, v.InputTokens)
	u.OutputTokens = sum(u.OutputTokens, v.OutputTokens)
	u.ImageInputTokens = sum(u.ImageInputTokens, v.ImageInputTokens)
	u.ImageOutputTokens = sum(u.ImageOutputTokens, v.ImageOutputTokens)
}

// sum adds counts from a provider: it ignores a negative b and saturates instead of overflowing.
func sum(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + max(b, 0)
}
