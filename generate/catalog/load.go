package catalog

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"atelier/generate"
	"atelier/generate/internal/fault"
	"atelier/generate/money"
	"atelier/media"
)

// shipped is the catalogue that comes with the program.
//
//go:embed *.yaml
var shipped embed.FS

// shippedFiles returns the shipped files in the order in which models are listed.
func shippedFiles() []string {
	return []string{"gemini", "openai", "bfl", "leonardo", "openrouter", "xai", "midjourney", "offline"}
}

// Catalog holds all models: names, abilities, prices, life cycles. It is immutable and safe for concurrent use.
type Catalog struct {
	rows  []Model
	index map[string]int // lower case name, id or alias → row
	// ambiguousNames maps ids that several rows share to those rows; such an id needs a provider.
	ambiguousNames map[string][]int
	// given are the names of the shipped rows; rows of users' files may take them.
	given map[string]int
	// endpoints are the services that speak OpenAI's protocol.
	endpoints []Endpoint
	// checked is the date of the oldest check of a shipped file against its sources.
	checked time.Time
}

type catalogueFile struct {
	Provider string      `yaml:"provider"`
	Checked  time.Time   `yaml:"checked"`
	Endpoint *Endpoint   `yaml:"endpoint"`
	Models   []yaml.Node `yaml:"models"`
}

// Load reads the shipped catalogue and then the user's files, one provider per file. A file may describe an [Endpoint].
// A user's row with the api_model of an earlier row of its provider changes only the fields that it sets. Any other row
// is added, and takes its names even from a shipped row of another provider ([Model.InsteadOf]). The error has code
// media.CodeInvalid and names provider, model and field.
func Load(user ...io.Reader) (*Catalog, error) {
	base, err := shippedCatalogue()
	if err != nil || len(user) == 0 {
		return base, err
	}
	c := &Catalog{rows: slices.Clone(base.rows), given: base.given, endpoints: slices.Clone(base.endpoints), checked: base.checked}
	for _, r := range user {
		if err := c.read(r); err != nil {
			return nil, err
		}
	}
	return c, c.check()
}

// shippedCatalogue is read once. Every catalogue starts with shallow copies of its rows; the data that they point to is
// never changed.
var shippedCatalogue = sync.OnceValues(func() (*Catalog, error) {
	c := &Catalog{}
	for _, name := range shippedFiles() {
		b, err := shipped.ReadFile(name + ".yaml")
		if err != nil {
			return nil, fmt.Errorf("read shipped catalogue: %w", err)
		}
		if err := c.read(bytes.NewReader(b)); err != nil {
			return nil, err
		}
	}
	c.given = map[string]int{}
	for i, m := range c.rows {
		for _, n := range m.names() {
			c.given[key(n)] = i
		}
	}
	return c, c.check()
})

// New returns a catalogue of only these rows, for programs with their own drivers. Errors are those of [Load].
func New(rows ...Model) (*Catalog, error) {
	c := &Catalog{rows: slices.Clone(rows)}
	return c, c.check()
}

func (c *Catalog) read(r io.Reader) error {
	var f catalogueFile
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return media.Errorf(media.CodeInvalid, "model catalogue is not good YAML: %w", err)
	}
	if !errors.Is(d.Decode(&yaml.Node{}), io.EOF) {
		return media.Errorf(media.CodeInvalid, "model catalogue %s: more text follows the document: put each provider in its own file", f.Provider)
	}
	f.Provider = strings.ToLower(strings.TrimSpace(f.Provider))
	if f.Provider == "" {
		return media.Errorf(media.CodeInvalid, "model catalogue names no provider: begin the file with \"provider: NAME\"")
	}
	if err := c.readEndpoint(f.Provider, f.Endpoint); err != nil {
		return err
	}
	if !f.Checked.IsZero() && c.given == nil && (c.checked.IsZero() || f.Checked.Before(c.checked)) {
		c.checked = f.Checked
	}
	for i := range f.Models {
		if err := c.readRow(f.Provider, &f.Models[i]); err != nil {
			return err
		}
	}
	return nil
}

// rowHead holds the fields that select the row that a new row starts from.
type rowHead struct {
	Name     string `yaml:"name"`
	APIModel string `yaml:"api_model"`
	Like     string `yaml:"like"`
}

// readRow decodes a row on top of the row that it overrides or is like, if there is one.
func (c *Catalog) readRow(provider string, n *yaml.Node) error {
	bad := func(err error) error {
		return media.Errorf(media.CodeInvalid, "model catalogue %s, model at line %d: %w", provider, n.Line, err)
	}
	var head rowHead
	if err := n.Decode(&head); err != nil {
		return bad(err)
	}
	row, i, err := c.begin(provider, head)
	if err != nil {
		return bad(err)
	}
	earlier := row
	row.OptionRules, row.Acts, row.Flags = nil, nil, nil // only those of this text; inherit adds the earlier ones
	decode := n.Decode
	if c.given != nil { // a user's file
		// Unknown fields are rejected. yaml.Node has no strict decoding, so it goes through text, which is too slow for the
		// shipped files at every start; a test decodes those strictly.
		if err := n.Decode(new(any)); err != nil { // such as an alias inside of its own target
			return bad(err)
		}
		text, err := yaml.Marshal(resolveAliases(n))
		if err != nil {
			return bad(err)
		}
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		decode = d.Decode
	}
	if err := decode(&row); err != nil {
		return bad(err)
	}
	row.inherit(earlier)
	if i < 0 {
		c.rows = append(c.rows, row)
	} else {
		c.rows[i] = row
	}
	return nil
}

// begin returns the row that a new row starts from, and the index of the row that it replaces; -1 if there is none. A
// row that is like another one starts from it without its life cycle, and under another name also without its aliases.
func (c *Catalog) begin(provider string, head rowHead) (row Model, place int, err error) {
	row.Provider = provider
	if head.Like != "" {
		of, name, _ := strings.Cut(key(head.Like), "/")
		like, ok := c.LookupForProvider(of, name)
		if !ok {
			return row, -1, media.Errorf(media.CodeInvalid, "like: there is no model %q before it: name one as provider/id", fault.Quote(head.Like))
		}
		row = like
		row.Provider, row.Life, row.Size.Table = provider, LifeCycle{}, maps.Clone(row.Size.Table)
		if head.Name != "" && key(head.Name) != key(row.Name) {
			row.Aliases = nil
		}
	}
	id := cmp.Or(head.APIModel, row.APIModel)
	place = slices.IndexFunc(c.rows, func(m Model) bool { return m.Provider == provider && m.APIModel == id })
	if place >= 0 && head.Like == "" {
		row = c.rows[place]
		row.Size.Table = maps.Clone(row.Size.Table) // decoding into a map adds to it
	}
	return row, place, nil
}

// inherit adds the earlier row's option rules, acts and flags, for remaining options, where m does not define its own.
func (m *Model) inherit(earlier Model) {
	has := func(name string) bool {
		return slices.Contains(m.Options, name) || !slices.Contains(earlier.Options, name)
	}
	for name, rule := range earlier.OptionRules {
		if _, own := m.OptionRules[name]; own || !has(name) {
			continue
		}
		if m.OptionRules == nil {
			m.OptionRules = map[string]OptionRule{}
		}
		m.OptionRules[name] = rule
	}
	if m.Acts == nil {
		for _, a := range earlier.Acts {
			a.Takes = slices.DeleteFunc(slices.Clone(a.Takes), func(name string) bool { return !has(name) })
			m.Acts = append(m.Acts, a)
		}
	}
	if m.Flags == nil {
		m.Flags = slices.DeleteFunc(slices.Clone(earlier.Flags), func(f Flag) bool { return !has(f.Setting) })
	}
}

// resolveAliases copies a node and replaces YAML aliases by their targets, so that the copy is self-contained.
func resolveAliases(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return resolveAliases(n.Alias)
	}
	out := *n
	out.Anchor = ""
	out.Content = make([]*yaml.Node, 0, len(n.Content))
	for _, child := range n.Content {
		out.Content = append(out.Content, resolveAliases(child))
	}
	return &out
}

// Checked returns the day on which the shipped rows were last checked against their sources, that of the oldest file;
// zero for a catalogue without shipped rows.
func (c *Catalog) Checked() time.Time { return c.checked }

// Models returns a copy of every row, in order of preference.
func (c *Catalog) Models() []Model { return slices.Clone(c.rows) }

// Lookup finds a model by display name, API id or alias, in any case, alone or after "provider/". It also finds retired
// models. An API id that several of the user's services share is only found with its provider.
func (c *Catalog) Lookup(name string) (Model, bool) {
	i, ok := c.index[key(name)]
	if !ok {
		return Model{}, false
	}
	return c.rows[i], true
}

// Alive reports whether the model can be called at a given time.
func (m Model) Alive(now time.Time) bool {
	return m.Life.ShutDown.IsZero() || now.Before(m.Life.ShutDown)
}

// Successor follows replaced_by to the first model alive at now. It ends because the catalogue is checked for cycles.
func (c *Catalog) Successor(m Model, now time.Time) (Model, bool) {
	for !m.Alive(now) {
		next, ok := c.LookupForProvider(m.Provider, m.Life.ReplacedBy)
		if !ok {
			return Model{}, false
		}
		m = next
	}
	return m, true
}

// key normalizes a name: it ignores case and collapses runs of blanks.
func key(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// check builds the index and validates the rows.
func (c *Catalog) check() error {
	for _, m := range c.rows {
		if err := m.check(); err != nil {
			return err
		}
	}
	for _, e := range c.endpoints {
		if err := c.checkReach(e); err != nil {
			return err
		}
	}
	if err := c.name(); err != nil {
		return err
	}
	for _, m := range c.rows {
		if err := c.checkLife(m); err != nil {
			return err
		}
	}
	return nil
}

// checkLife checks that every chain of successors ends at a row.
func (c *Catalog) checkLife(m Model) error {
	seen := []string{m.APIModel}
	for at := m; at.Life.ReplacedBy != ""; {
		next, ok := c.LookupForProvider(at.Provider, at.Life.ReplacedBy)
		switch {
		case !ok:
			return at.invalidField("life.replaced_by", "there is no model %q of this provider", at.Life.ReplacedBy)
		case slices.Contains(seen, next.APIModel):
			return m.invalidField("life.replaced_by", "the successors go round in a circle")
		}
		seen, at = append(seen, next.APIModel), next
	}
	return nil
}

func (m Model) invalidField(field, format string, args ...any) error {
	e := media.Errorf(media.CodeInvalid, format, args...)
	return media.Errorf(media.CodeInvalid, "model catalogue %s, model %q, %s: %s", m.Provider, cmp.Or(m.Name, m.APIModel), field, e.Message)
}

// fixedWords are the words of fields that accept no others.
var fixedWords = map[string][]string{
	"methods":  {string(generate.MethodGenerate), string(generate.MethodEdit), string(generate.MethodVariation)},
	"modality": {string(media.ModalityImage), string(media.ModalityAudio), string(media.ModalityVideo), string(media.ModalityDocument)},
	"mask":     {"", "none", "alpha0", "white", "black"},
	"mode":     {"enum", "free", "tier", "ratio", "none"},
	"supports": {"seed", "negative_prompt", "style", "stream", "background", "compression", "moderation", "speed"},
	"unit": {
		"image", "megapixel", "megapixel_first", "megapixel_more", "megapixel_in", "token_text_in", "token_image_in",
		"token_image_out", "token_text_out", "second", "character", "credit",
	},
}

func (m Model) check() error {
	field := func(name, value string) error {
		if words := fixedWords[name]; !slices.Contains(words, value) {
			return m.invalidField(name, "%q is none of %q", value, words)
		}
		return nil
	}
	var errs []error
	if m.Provider == "" || slices.ContainsFunc(m.names(), func(n string) bool { return key(n) == "" }) {
		errs = append(errs, m.invalidField("name", "provider, name, api_model and aliases must not be empty"))
	}
	if len(m.Methods) == 0 {
		errs = append(errs, m.invalidField("methods", "name at least one"))
	}
	errs = append(errs, field("modality", string(m.Modality)), field("mask", m.Mask), field("mode", m.Size.Mode), m.checkSize())
	switch {
	case m.MaxN < 1:
		errs = append(errs, m.invalidField("max_n", "must be at least 1"))
	case min(m.Concurrency, m.PerMinute, m.MaxInputs, m.MaxInputPixels, m.MaxPrompt, m.TimeoutSeconds, m.PollSeconds, m.WaitSeconds, m.LinkSeconds) < 0,
		min(m.MaxInputBytes, m.MaxMaskBytes, m.MaxSeed) < 0:
		errs = append(errs, m.invalidField("limits", "concurrency, per_minute and the fields max_… and …_seconds must not be negative; leave them out for no limit of yours"))
	case m.Grid != 0 && m.Grid < m.MaxN:
		errs = append(errs, m.invalidField("grid", "must be at least max_n, or left out"))
	}
	for _, x := range m.Methods {
		errs = append(errs, field("methods", string(x)))
	}
	errs = append(errs, m.checkEdits())
	for _, name := range slices.Sorted(maps.Keys(m.OptionRules)) {
		if !slices.Contains(m.Options, name) {
			errs = append(errs, m.invalidField("option_rules", "%q is not among the model's options", name))
		} else if err := m.OptionRules[name].check(); err != nil {
			errs = append(errs, m.invalidField("option_rules", "%s %s", name, err))
		}
	}
	errs = append(errs, m.checkActs(), m.checkFlags())
	for _, x := range m.Supports {
		errs = append(errs, field("supports", x))
	}
	for _, p := range m.Prices {
		errs = append(errs, field("unit", p.Unit))
		if _, ok := money.Parse(p.USD); !ok {
			errs = append(errs, m.invalidField("prices", "%q is not an amount in dollars", p.USD))
		}
		if _, err := time.Parse(time.DateOnly, p.Until); p.Until != "" && err != nil {
			errs = append(errs, m.invalidField("prices", "until %q is not a day: write YYYY-MM-DD", p.Until))
		}
	}
	return cmp.Or(errs...)
}

// checkEdits checks that a model that accepts pictures says how many, and that only variations are emulated by edits.
func (m Model) checkEdits() error {
	edits := slices.Contains(m.Methods, generate.MethodEdit)
	for _, x := range m.Emulates {
		if x != generate.MethodVariation || !edits || slices.Contains(m.Methods, x) {
			return m.invalidField("emulates", "only a variation can be emulated, and only by a model that edits and has no variations of its own")
		}
	}
	if m.MaxInputs < 1 && (edits || slices.Contains(m.Methods, generate.MethodVariation)) {
		return m.invalidField("max_inputs", "must be at least 1 where methods has edit or variation")
	}
	for _, t := range m.InputTypes {
		if !IsRaster(t) {
			return m.invalidField("input_types", "%q is none of the types that can be read: image/png, image/jpeg, image/webp, image/gif, image/bmp", t)
		}
	}
	return nil
}

func (m Model) checkSize() error {
	s := m.Size
	switch s.Mode {
	case "enum":
		if len(s.Values) == 0 {
			return m.invalidField("size.values", "an enum needs values")
		}
		for _, v := range s.Values {
			if _, err := ParseSize(v); err != nil {
				return m.invalidField("size.values", "%s", err)
			}
		}
	case "free":
		if s.MinSide < 1 || s.Step < 1 || s.MaxSide/s.Step*s.Step < s.MinSide || s.MaxPixels > 0 && s.MaxPixels < s.MinPixels || s.MaxRatio != 0 && s.MaxRatio < 1 {
			return m.invalidField("size", "a free size needs step, min_side and max_side, the least first, with a multiple of step between them")
		}
	case "ratio":
		if s.MaxRatio < 1 {
			return m.invalidField("size.max_ratio", "a size by ratio needs the largest ratio, at least 1")
		}
	case "tier":
		if len(s.Ratios) == 0 {
			return m.invalidField("size.ratios", "a tiered size needs ratios")
		}
		tiers := s.Tiers
		if len(tiers) == 0 {
			tiers = []string{""}
		}
		for _, t := range tiers {
			for _, r := range s.Ratios {
				if _, err := ParseRatio(r); err != nil {
					return m.invalidField("size.ratios", "%s", err)
				}
				if _, err := ParseSize(s.Table[t][r]); err != nil {
					return m.invalidField("size.table", "tier %q, ratio %s: %s", t, r, err)
				}
			}
		}
	}
	return nil
}
