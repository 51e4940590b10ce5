// Package action is what agents do besides thinking: named actions with typed
// parameters, a registry, and the interceptor that keeps bytes out of whatever a
// model sees.
//
// Every result of every action passes the interceptor: Binary outputs at any size,
// undeclared base64 by detection, messages and errors as well, become media outputs
// and refs. Errors are media.Error values. It may import media, blob, probe, wire,
// imaging and generate; the shipped actions live in one package per family below it.
package action

import (
	"context"
	"io"

	"atelier/media"
)

// Direction says which way a parameter goes.
type Direction string

// The directions. Only Output and Both parameters reach the model.
const (
	Input  Direction = "Input"
	Output Direction = "Output"
	Both   Direction = "Both"
)

// ValueType is the shape of a parameter's value.
type ValueType string

// The value types.
const (
	Scalar       ValueType = "Scalar"
	SimpleObject ValueType = "Simple Object"
	Binary       ValueType = "Binary"
	Other        ValueType = "Other"
)

// BinaryFormat says what a Binary output's value is; empty means MediaOutput.
type BinaryFormat string

// The formats of Binary outputs.
const (
	FormatMediaOutput  BinaryFormat = "MediaOutput"  // media.Output, *media.Output, or a map in that shape with data, url or digest
	FormatBase64String BinaryFormat = "Base64String" // base64 text in any alphabet
	FormatDataURL      BinaryFormat = "DataURL"      // data:TYPE;base64,…
	FormatBytes        BinaryFormat = "Bytes"        // []byte
	FormatReader       BinaryFormat = "Reader"       // io.Reader, closed after reading if it is an io.Closer
)

// TagSource is the tag of actions whose results are what the sources say: rows of a query,
// text of a file or page. Numbers of a report are looked for in them.
const TagSource = "source"

// Param describes one parameter. Names are PascalCase.
type Param struct {
	Name string `json:"name"`
	// Direction defaults to Input, ValueType to Scalar.
	Direction Direction    `json:"direction"`
	ValueType ValueType    `json:"value_type"`
	IsArray   bool         `json:"is_array,omitempty"`
	Format    BinaryFormat `json:"binary_output_format,omitempty"`
	Required  bool         `json:"required,omitempty"`
	// Type is string, integer, number, boolean, object or any; empty means string.
	Type string `json:"type,omitempty"`
	// Default is applied when the parameter is missing.
	Default any `json:"default,omitempty"`
	// Values lists the accepted values of an enumeration; compared without case.
	Values []string `json:"values,omitempty"`
	// Description is read by models and people.
	Description string `json:"description"`
	// Code marks what is for Go code alone: models are not told of it.
	Code bool `json:"code,omitempty"`
}

// Action is one thing that an agent can do.
type Action struct {
	// Name is what models call it: "Generate Image".
	Name string
	// Description says when to use it; models read it.
	Description string
	// Tags group actions: media, file, visual.
	Tags   []string
	Params []Param
	// Price says what a call would cost, without doing anything; nil where a call costs
	// nothing beyond this machine. Its inputs are those of Run. An error means that Run
	// would fail with it before it costs anything; a price that is not known is none.
	Price func(ctx context.Context, c *Call) (Price, error)
	// Left reports whether a call of the step in the scope of ctx was begun before, in a process
	// that ended, and may have left something that Run, with a context that has ended, ends or
	// gives. It does not look at the end of ctx. Nil means that calls leave nothing.
	Left func(ctx context.Context) bool
	// Run does it. Inputs are checked, defaulted and resolved before.
	Run func(ctx context.Context, c *Call) (Result, error)
}

// Price is what a call would cost.
type Price struct {
	// USD is the estimate in US dollars, exact decimal text; nil is unknown.
	USD *string `json:"usd"`
	// Note says how it comes about: the model and how many results.
	Note string `json:"note,omitempty"`
}

// Call is one invocation.
type Call struct {
	// Params are the input values by name: JSON types (numbers are float64); for Binary inputs
	// media.Output (or []media.Output where IsArray).
	Params map[string]any
	// Media is the media set of the calling run.
	Media *media.Set
	// Agent is the slug of the caller; Prefer its preferred image models.
	Agent  string
	Prefer []string
	// Open reads a stored item of this run.
	Open func(ctx context.Context, o media.Output) (io.ReadCloser, error)
	// Progress, if not nil, receives small progress notes of long actions.
	Progress func(note string)
	// See says whether the caller's model can be shown an item's pixels; nil means that
	// there is no model that looks. The error says why not.
	See func(o media.Output) error
	// InUse says why an item must stay in sight ("embedded in the answer"), or nothing; may be nil.
	InUse func(r media.Ref) string

	changes []media.Change
	given   map[string]any // the parameters as the caller wrote them
}

// TagPicture is the tag of actions that ask an image model for pictures. A run that called
// some and got no picture says so.
const TagPicture = "picture"

// Result codes.
const (
	Success = "SUCCESS"
	Partial = "PARTIAL"
	Failure = "ERROR"
)

// Result is what an action gives back, before the interceptor.
type Result struct {
	// Code is SUCCESS, PARTIAL, ERROR or an action's own word; empty means SUCCESS.
	Code string
	// Message is one sentence for the model and for people.
	Message string
	// Outputs are values by parameter name. Undeclared names are passed on with detection.
	Outputs map[string]any
	// Warnings reach the run's result.
	Warnings []string
	// Substituted names the model that answered in the place of another one; nil if none did.
	Substituted *Substitution
}

// Substitution is a model that answered in the place of another one. It reaches the run's
// result as a disposition; the message is to tell the model of it.
type Substitution struct {
	// Asked and Applied are names of models, Reason is for people.
	Asked   string `json:"asked"`
	Applied string `json:"applied"`
	Reason  string `json:"reason"`
}
