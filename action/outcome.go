package action

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atelier/media"
)

// maxMessage is the maximum length of a message to a model, in bytes.
const maxMessage = 2000

// outcome passes everything that an action returned through the interceptor.
func (i *Interceptor) outcome(ctx context.Context, a Action, t Target, res Result, runErr error) Outcome {
	p := i.begin(t)
	out := Outcome{Name: a.Name, Code: cmp.Or(clip(line(res.Code), 80), Success), Substituted: res.Substituted}
	if len(res.Outputs) > 0 {
		out.Outputs = p.outputs(ctx, a, res.Outputs)
	}
	out.Message = p.message(ctx, res.Message)
	for _, w := range res.Warnings {
		p.warnings = append(p.warnings, p.message(ctx, w))
	}
	if runErr != nil {
		e := shown(runErr)
		e.Message = media.ErrorText(p.message(ctx, runErr.Error())) // media in its text is stored
		e.Valid = slices.Clone(e.Valid)
		for i, v := range e.Valid {
			e.Valid[i] = line(v)
		}
		out.Code, out.Err, out.Error = Failure, e, problemOf(e)
	}
	if p.failures > 0 && out.Code == Success {
		out.Code = Partial
		if len(p.stored) == 0 {
			out.Code = Failure
		}
	}
	out.Success = out.Code != Failure
	if !out.Success && out.Error == nil {
		e := media.Errorf(media.CodeInternal, "%s", cmp.Or(out.Message, strings.Join(p.warnings, "; "), a.Name+" did not succeed"))
		out.Err, out.Error = e, problemOf(e)
	}
	if out.Message == "" && out.Error != nil {
		out.Message = out.Error.Message
	}
	out.Media, out.Warnings = p.stored, dedupeWarnings(p.warnings)
	return out
}

// maxWarnings is the maximum number of distinct warnings in one outcome.
const maxWarnings = 20

// dedupeWarnings returns each warning once, with its count, and limits the list.
func dedupeWarnings(warnings []string) []string {
	count := map[string]int{}
	var distinct []string
	for _, w := range warnings {
		if count[w]++; count[w] == 1 {
			distinct = append(distinct, w)
		}
	}
	more := len(distinct) - maxWarnings
	distinct = distinct[:min(len(distinct), maxWarnings)]
	for i, w := range distinct {
		if n := count[w]; n > 1 {
			distinct[i] = fmt.Sprintf("%s (%d times)", w, n)
		}
	}
	if more > 0 {
		distinct = append(distinct, fmt.Sprintf("and %d more warnings", more))
	}
	return distinct
}

// outputs intercepts the values by declared parameter. Media in undeclared outputs is detected, and names declared only
// as Input are dropped. Names are processed in a fixed order, so that the set is in a fixed order too.
func (p *pass) outputs(ctx context.Context, a Action, values map[string]any) map[string]any {
	order := map[string]int{}
	outputs := map[string]Param{}
	for i, q := range a.Params {
		order[q.Name] = i - len(a.Params) // before undeclared names
		if _, known := outputs[q.Name]; !known && q.Direction != Input {
			outputs[q.Name] = q
		}
	}
	names := slices.SortedFunc(maps.Keys(values), func(x, y string) int {
		return cmp.Or(cmp.Compare(order[x], order[y]), cmp.Compare(x, y))
	})
	safe := make(map[string]any, len(values))
	for _, n := range names {
		q, declared := outputs[n]
		if !declared && order[n] < 0 {
			continue
		}
		q.Name = n
		safe[p.lift(ctx, n)] = p.output(ctx, q, values[n])
	}
	return safe
}

// output intercepts one value.
func (p *pass) output(ctx context.Context, q Param, v any) any {
	if q.ValueType != Binary {
		return p.walk(ctx, v, nested{})
	}
	if v == nil {
		return nil
	}
	format := cmp.Or(q.Format, FormatMediaOutput)
	if !fits(format, v, 0) {
		p.warn("%s: output %s is not %s as declared; it was searched for media instead", p.to.Source, q.Name, format)
		format = ""
	}
	safe := p.walk(ctx, v, nested{declared: true, item: true, format: format})
	if _, isList := safe.([]any); q.IsArray && !isList {
		return []any{safe}
	}
	return safe
}
