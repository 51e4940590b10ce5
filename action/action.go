// Package action defines the actions of agents: named operations with typed parameters, a registry, and the interceptor
// that keeps bytes out of everything that a model sees.
//
// Every result of every action passes the interceptor: Binary outputs of any size, undeclared base64 that is detected,
// and messages and errors become media outputs and refs. Errors are media.Error values. It may import media, blob,
// probe, wire, imaging and generate; each family of actions has its own package below it.
package action

import (
	"context"
	"io"

	"atelier/media"
)

// Direction is the direction of a parameter.
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

// BinaryFormat is the format of a Binary output; empty means MediaOutput.
type BinaryFormat string

// The formats of Binary outputs.
const (
	FormatMediaOutput  BinaryFormat = "MediaOutput"  // media.Output, *media.Output, or a map in that shape with data, url or digest
	FormatBase64String BinaryFormat = "Base64String" // base64 text in any alphabet
	FormatDataURL      BinaryFormat = "DataURL"      // data:TYPE;base64,…
	FormatBytes        BinaryFormat = "Bytes"        // []byte
	FormatReader       BinaryFormat = "Reader"       // io.Reader, closed after reading if it is an io.Closer
)

// TagSource is the tag of actions whose results come from sources: rows of a query, text of a file or page. The numbers
// of a report are looked up in these results.
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
	// Values lists the accepted values of an enumeration, compared case-insensitively.
	Values []string `json:"values,omitempty"`
	// Description is for models and people.
	Description string `json:"description"`
	// Code marks a parameter for Go code only: models do not see it.
	Code bool `json:"code,omitempty"`
}

// Action is a named operation of agents.
type Action struct {
	// Name is what models call it, such as "Generate Image".
	Name string
	// Description explains when to use it, for models.
	Description string
	// Tags group actions, such as media, file or visual.
	Tags   []string
	Params []Param
	// Price returns what a call would cost, without executing it; nil if calls are free. Its inputs are those of Run.
	// An error is one with which Run would fail before any cost. An unknown price has a nil USD.
	Price func(ctx context.Context, c *Call) (Price, error)
	// Recoverable reports whether an earlier, dead process started the call of the step in the scope of ctx and may
	// have left something that Run, with an ended context, finishes or returns. It ignores the end of ctx. Nil means
	// that calls leave nothing.
	Recoverable func(ctx context.Context) bool
	// Run executes the action. Its inputs have been checked, defaulted and resolved.
	Run func(ctx context.Context, c *Call) (Result, error)
}

// Price is what a call would cost.
type Price struct {
	// USD is the estimate in US dollars, as exact decimal text; nil if unknown.
	USD *string `json:"usd"`
	// Note explains the estimate: the model and the number of results.
	Note string `json:"note,omitempty"`
}

// Call is one invocation.
type Call struct {
	// Params are the input values by name: JSON types (numbers are float64); for Binary inputs media.Output, or
	// []media.Output if IsArray.
	Params map[string]any
	// Media is the media set of the calling run.
	Media *media.Set
	// Agent is the slug of the caller; Prefer its preferred image models.
	Agent  string
	Prefer []string
	// ToolContext contains the values that the caller of the run passes to its actions; [ToolValue] reads them.
	ToolContext ToolContext
	// Open reads a stored item of this run.
	Open func(ctx context.Context, o media.Output) (io.ReadCloser, error)
	// Progress, if not nil, receives short notes about long actions.
	Progress func(note string)
	// See returns nil if the caller's model can be shown an item's pixels, otherwise the reason. A nil See means that
	// there is no such model.
	See func(o media.Output) error
	// InUse returns the reason why an item must stay listed ("embedded in the answer"), or ""; may be nil.
	InUse func(r media.Ref) string

	changes []media.Change
	given   map[string]any // the parameters as the caller wrote them
}

// TagPicture is the tag of actions that request pictures from an image model. A run that called
// some and got no picture reports so.
const TagPicture = "picture"

// Result codes.
const (
	Success = "SUCCESS"
	Partial = "PARTIAL"
	Failure = "ERROR"
)

// Result is the result of an action, before the interceptor.
type Result struct {
	// Code is SUCCESS, PARTIAL, ERROR or the action's own code; empty means SUCCESS.
	Code string
	// Message is one sentence, for the model and for people.
	Message string
	// Outputs are values by parameter name. Media in undeclared outputs is detected.
	Outputs map[string]any
	// Warnings are added to the run's result.
	Warnings []string
	// Substituted names the substitute model that was used; nil if there was none.
	Substituted *Substitution
}

// Substitution is the use of a substitute model. It becomes a disposition of the run's result; the
// message should tell the model about it.
type Substitution struct {
	// Asked and Applied are model names; Reason is for people.
	Asked   string `json:"asked"`
	Applied string `json:"applied"`
	Reason  string `json:"reason"`
}
