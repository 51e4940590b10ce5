package workflow

import (
	"encoding/json"
	"fmt"
	"slices"

	"atelier/media"
	"atelier/workflow/ordered"
	"atelier/workflow/problem"
	"atelier/workflow/schema"
	"atelier/workflow/template"
	"atelier/workflow/view"
)

// Answer is a person's answer to an interaction.
type Answer struct {
	// value is the parsed body without its version.
	value   *ordered.Object
	version any
}

// Running says what happens to running sub-actions: they finish without changing the interaction (keep), or they are
// cancelled (cancel). If Running is empty, an answer is rejected while any are running.
type Running string

// The values of [Running].
const (
	RunningKeep   Running = "keep"
	RunningCancel Running = "cancel"
)

// choices are the names of choices in answers, decisions those of approvals.
var (
	choices   = []string{"selected_content_id", "selected_content_ids", "selected"}
	decisions = []string{"approved", "comment"}
)

// ParseAnswer parses the body of an answer. Unknown names are problems.
func ParseAnswer(b []byte) (*Answer, error) {
	o, err := ordered.DecodeObject(b)
	if err != nil {
		return nil, err
	}
	var found problem.List
	for key := range o.All() {
		if !slices.Contains(slices.Concat(choices, decisions, []string{"running", "version"}), key) {
			found.Fail(ordered.Join("", key), "%s is unknown: remove it", key)
		}
	}
	if running, ok := o.Get("running"); ok && running != string(RunningKeep) && running != string(RunningCancel) {
		found.Fail("/running", "running must be keep or cancel")
	}
	if comment, ok := o.Get("comment"); ok {
		if _, text := comment.(string); !text {
			found.Fail("/comment", "comment must be a string")
		}
	}
	version, ok := o.Get("version")
	if _, number := version.(json.Number); ok && !number {
		found.Fail("/version", "version must be a number")
	}
	o.Delete("version")
	return &Answer{value: o, version: version}, found.Err()
}

// Value returns the answer as JSON.
func (a *Answer) Value() *ordered.Object { return a.value }

// Running returns what happens to running sub-actions.
func (a *Answer) Running() Running { return Running(a.value.Text("running")) }

// Chosen returns the content ids in the answer.
func (a *Answer) Chosen() (ids []string) {
	for _, name := range choices {
		v, _ := a.value.Get(name)
		template.Walk(v, func(_, id string) any {
			ids = append(ids, id)
			return id
		})
	}
	return ids
}

// CheckRunning rejects an answer while sub-actions are running, unless the answer says what happens to them.
func (a *Answer) CheckRunning(count int) error {
	if count > 0 && a.Running() == "" {
		return media.Errorf(media.CodeActionsRunning, "sub-actions are still running (%d): wait, or answer with running set to keep or cancel", count)
	}
	return nil
}

// CheckVersion rejects an answer to another version of the data than the current one. An answer without a version
// applies to each version.
func (a *Answer) CheckVersion(current int) error {
	if a.version != nil && a.version != ordered.Int(current) {
		return media.Errorf(media.CodeStaleData, "the data has changed since version %s: it has version %d", media.ErrorText(fmt.Sprint(a.version)), current)
	}
	return nil
}

// Result returns the output that an answer produces, according to the interaction's type and selection groups. Too few
// or too many choices, unknown or failed results, and choices that the interaction does not have are problems.
func (i *Interaction) Result(a *Answer) (*ordered.Object, error) {
	c := chooser{answer: a.value, contents: i.contents()}
	var out *ordered.Object
	if i.request.Type == TypeApproval {
		c.reject(choices, "")
		out = c.approval(i)
	} else {
		out = c.selection(i.schema.Groups)
		c.reject(decisions, "")
	}
	return out, c.Err()
}

// Answerable reports, as an error, an interaction to which every answer would be rejected: nothing can be selected, and
// no sub-action can make anything.
func (i *Interaction) Answerable() error {
	offered := i.request.Type == TypeApproval // it needs no selection
	i.request.View.Walk(func(n *view.Node) { offered = offered || len(n.SubActions) > 0 })
	contents := i.contents()
	if lacking := func(g *schema.Group) bool { return len(contents[g.Name]) < g.Min }; !offered && slices.ContainsFunc(i.schema.Groups, lacking) {
		return media.Errorf(media.CodeInvalid, "the data has no prompt to generate from and no result to select, so that nobody could answer: check the data, or set selection_optional")
	}
	return nil
}

// contents returns the ids of the existing results by selection group.
func (i *Interaction) contents() map[string][]string {
	out := map[string][]string{}
	i.request.View.Walk(func(n *view.Node) {
		if n.Selection == nil {
			return
		}
		v, _ := ordered.At(i.data.Value, n.Pointer)
		list, _ := v.([]any)
		for _, e := range list {
			item, _ := e.(*ordered.Object)
			if id := item.Text("content_id"); id != "" {
				out[n.Selection.Name] = append(out[n.Selection.Name], id)
			}
		}
	})
	return out
}

// chooser checks one answer.
type chooser struct {
	answer   *ordered.Object
	contents map[string][]string
	problem.List
}

// reject rejects names in the answer, except for one.
func (c *chooser) reject(names []string, use string) {
	for _, name := range names {
		if name != use && c.answer.Has(name) {
			c.Fail("/"+name, "this interaction does not accept %s", name)
		}
	}
}

// approval returns the decision, with the data if it can be edited.
func (c *chooser) approval(i *Interaction) *ordered.Object {
	approved, _ := c.answer.Get("approved")
	if _, is := approved.(bool); !is {
		c.Fail("/approved", "approved must be true or false")
	}
	out := ordered.New("approved", approved, "comment", c.answer.Text("comment"))
	if len(i.request.View.Forms()) > 0 {
		data, _ := i.data.Value.Get("data") // with the person's edits
		out.Set("data", ordered.Clone(data))
	}
	return out
}

// ResultKey returns the key of the result of a choice, and the name of the choice in an answer; both are empty if there
// are no groups.
func ResultKey(groups []*schema.Group) (key, name string) {
	switch {
	case len(groups) > 1:
		return "selected", "selected"
	case len(groups) == 1 && groups[0].Mode == schema.ModeMultiple:
		return "selected_images", "selected_content_ids"
	case len(groups) == 1:
		return "selected_image", "selected_content_id"
	}
	return "", ""
}

func (c *chooser) selection(groups []*schema.Group) *ordered.Object {
	key, use := ResultKey(groups)
	c.reject(choices, use)
	given, _ := c.answer.Get(use)
	switch len(groups) {
	case 0:
		return &ordered.Object{}
	case 1:
		return ordered.New(key, c.choose("/"+use, groups[0], given))
	}
	chosen, _ := given.(*ordered.Object)
	if given != nil && chosen == nil {
		c.Fail("/selected", "selected must be an object of choices by group")
	}
	for name := range chosen.All() {
		if !slices.ContainsFunc(groups, func(g *schema.Group) bool { return g.Name == name }) {
			c.Fail(ordered.Pointer("selected", name), "there is no selection group %s", name)
		}
	}
	out := &ordered.Object{}
	for _, g := range groups {
		v, _ := chosen.Get(g.Name)
		out.Set(g.Name, c.choose(ordered.Pointer("selected", g.Name), g, v))
	}
	return ordered.New(key, out)
}

// choose checks the choice of one group and returns it: an id or nil for single, a list for multiple.
func (c *chooser) choose(pointer string, g *schema.Group, given any) any {
	list, isList := given.([]any)
	switch {
	case g.Mode == schema.ModeSingle && given != nil:
		list = []any{given}
	case g.Mode == schema.ModeMultiple && given != nil && !isList:
		c.Fail(pointer, "group %s must be a list of content ids", g.Name)
		return nil
	}
	var seen []string
	for _, v := range list {
		id, _ := v.(string)
		switch {
		case !slices.Contains(c.contents[g.Name], id):
			c.Fail(pointer, "%s is not one of the results to choose from", media.ErrorText(string(ordered.Encode(v))))
		case slices.Contains(seen, id):
			c.Fail(pointer, "%s is selected twice", id)
		}
		seen = append(seen, id)
	}
	switch {
	case len(list) < g.Min:
		c.Fail(pointer, "select at least %d", g.Min)
	case g.Max > 0 && len(list) > g.Max:
		c.Fail(pointer, "select at most %d", g.Max)
	}
	if g.Mode == schema.ModeSingle {
		return given
	}
	return append([]any{}, list...)
}
