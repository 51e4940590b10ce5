package step

import (
	"encoding/json"
	"errors"
	"time"

	"atelier/media"
)

// Media is a content with media. EachMedia calls each for every item, which each may modify.
type Media interface {
	EachMedia(each func(*media.Output))
}

// Failure is an error as the content of a step contains it.
type Failure struct {
	Code       media.Code    `json:"code"`
	Message    string        `json:"message"`
	Retryable  bool          `json:"retryable,omitempty"`
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	Valid      []string      `json:"valid,omitempty"`
}

// FailureOf converts an error to the form stored in a step.
func FailureOf(err error) *Failure {
	f := &Failure{Code: media.CodeOf(err), Message: media.ErrorText(err.Error()), Retryable: media.Retryable(err)}
	var e *media.Error
	if errors.As(err, &e) {
		f.RetryAfter, f.Valid = e.RetryAfter, e.Valid
	}
	return f
}

// Err returns the failure as an error.
func (f *Failure) Err() *media.Error {
	return &media.Error{Code: f.Code, Message: f.Message, Retryable: f.Retryable, RetryAfter: f.RetryAfter, Valid: f.Valid}
}

// Given is the media given to a run.
type Given struct {
	Granted, Inherited []media.Output
	Warnings           []string
	// Answer is the id of the answer in a conversation.
	Answer string
}

// Decision is what a guardrail decides about a message.
type Decision string

// Verdict is the result of a guardrail.
type Verdict struct {
	Decision Decision `json:"decision"`
	// Text replaces the text of the message if the decision is to redact it.
	Text string `json:"text,omitempty"`
	// Reason is for people; it appears in the run's error or warning.
	Reason string `json:"reason,omitempty"`
}

// Admission is the outcome for the pictures of a task. Disposition is that of package generate.
type Admission[Disposition any] struct {
	Shown   []Fitted[Disposition] `json:"shown,omitempty"`
	Omitted []Omitted             `json:"left,omitempty"`
	// Settings are the pictures' settings that the model does not support.
	Settings []Disposition `json:"settings,omitempty"`
}

// EachMedia implements [Media].
func (a *Admission[_]) EachMedia(each func(*media.Output)) {
	for i := range a.Shown {
		each(&a.Shown[i].Shown)
	}
}

// Fitted is a picture in the form that a model accepts.
type Fitted[Disposition any] struct {
	Ref     media.Ref    `json:"ref"`
	Shown   media.Output `json:"shown"`
	Detail  string       `json:"detail,omitempty"`
	Adapted *Disposition `json:"adapted,omitempty"`
	Warning string       `json:"warning,omitempty"`
	// Failure is the reason why it cannot be shown; the run continues without it.
	Failure *Failure `json:"failure,omitempty"`
}

// EachMedia implements [Media].
func (f *Fitted[_]) EachMedia(each func(*media.Output)) { each(&f.Shown) }

// Omitted is a picture that is not shown, with the reason.
type Omitted struct {
	Ref    media.Ref `json:"ref"`
	Reason string    `json:"why"`
}

// ModelCall is the outcome of a model call, failures included, so that a replay does not call the model again. Response
// is that of package chat.
type ModelCall[Response any] struct {
	Response  Response `json:"response"`
	Failure   *Failure `json:"failure,omitempty"`
	Unsettled bool     `json:"unsettled,omitempty"`
	// MayHaveCost is set if the model was called without an answer, by this call or by an earlier
	// process that ended during it. MayCostUSD estimates the cost of all such calls.
	MayHaveCost bool    `json:"may_have_cost,omitempty"`
	MayCostUSD  *string `json:"may_cost_usd,omitempty"`
	// Offline is set for a model that is free of charge.
	Offline bool `json:"offline,omitempty"`
	// Lost lists pictures that could not be read; the model was not called.
	Lost []Lost `json:"lost,omitempty"`
	// Began and Ended carry no monotonic clock reading, because JSON would drop it.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
}

// Lost is an unreadable picture with the reason.
type Lost struct {
	Digest media.Digest `json:"digest"`
	Code   media.Code   `json:"code"`
}

// Pictures are the pictures of one model call.
type Pictures []Picture

// EachMedia implements [Media].
func (p Pictures) EachMedia(each func(*media.Output)) {
	for i := range p {
		each(&p[i].Output)
	}
}

// Picture is a picture made by a chat model.
type Picture struct {
	Output  media.Output `json:"output"`
	Warning string       `json:"warning,omitempty"`
}

// Act is the result of an action. Outcome and Substitution are those of package action.
type Act[Outcome, Substitution any] struct {
	Outcome Outcome        `json:"outcome"`
	Media   []media.Output `json:"media,omitempty"`
	Changes []media.Change `json:"changes,omitempty"`
	// Substituted is the substitution of the outcome, whose JSON omits it.
	Substituted *Substitution `json:"substituted,omitempty"`

	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// Interrupted is set if the run ended while the act was in progress, so that the act could not finish.
	// A process that retries the run executes it again.
	Interrupted bool `json:"cut,omitempty"`
}

// EachMedia implements [Media].
func (a *Act[_, _]) EachMedia(each func(*media.Output)) { EachOf(a.Media, each) }

// Reply is a person's reply to a question.
type Reply struct {
	Value   json.RawMessage    `json:"value"`
	Note    string             `json:"note,omitempty"`
	Images  []media.InputImage `json:"images,omitempty"`
	Granted []media.Output     `json:"granted,omitempty"`
	Replace bool               `json:"replace_images,omitempty"`
	// Warning says that the guardrail changed the reply, and why.
	Warning string `json:"warning,omitempty"`
	// NotNeeded marks an approval that was not needed.
	NotNeeded bool `json:"free,omitempty"`
}

// EachMedia implements [Media].
func (r *Reply) EachMedia(each func(*media.Output)) { EachOf(r.Granted, each) }

// EachOf calls each for every item of a list, which each may modify.
func EachOf(list []media.Output, each func(*media.Output)) {
	for i := range list {
		each(&list[i])
	}
}

// ProviderCall is the outcome of a call to a provider of media. Update is that of package driver.
type ProviderCall[Update any] struct {
	Update Update
	Err    *media.Error
	// Contested reports that the error is a conflict with another process at the provider.
	Contested bool `json:",omitempty"`
}
