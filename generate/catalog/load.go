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

	"atelier/generate/internal/fault"
	"atelier/media"
)

// shipped is the catalogue that comes with the program.
//
//go:embed *.yaml
var shipped embed.FS

// shippedFiles are in the order in which models are listed.
func shippedFiles() []string {
	return []string{"gemini", "openai", "bfl", "leonardo", "openrouter", "xai", "midjourney", "offline"}
}

// Catalog knows every model: names, abilities, prices, life. It is immutable and
// safe for concurrent use.
type Catalog struct {
	rows  []Model
	index map[string]int // lower case name, id or alias → row
	// among are the ids of several rows, which have to be said with a provider.
	among map[string][]int
	// given are the names that rows were shipped with; user's rows may take them.
	given map[string]int
	// endpoints are the services that speak OpenAI's protocol.
	endpoints []Endpoint
	// checked is the day on which the oldest of the shipped files was read against its sources.
	checked time.Time
}

// catalogueFile is one provider's YAML.
type catalogueFile struct {
	Provider string      `yaml:"provider"`
	Checked  time.Time   `yaml:"checked"`
	Endpoint *Endpoint   `yaml:"endpoint"`
	Models   []yaml.Node `yaml:"models"`
}

// Load reads the shipped catalogue and then the user's files, each one
// provider's. A file may describe an [Endpoint]. A user's row with the api_model of an
// earlier one of its provider changes the fields that it names and leaves the others; any
// other row is added, and gets its names also where a shipped row of another provider has
// them ([Model.InsteadOf]). The error has code media.CodeInvalid and names provider, model
// and field.
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
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

// shippedCatalogue is read once: every catalogue begins with copies of its rows, of which
// what they point to is never changed.
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
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
})

// New makes a catalogue of these rows alone, for programs that bring their
// own drivers. Errors are those of [Load].
func New(rows ...Model) (*Catalog, error) {
	c := &Catalog{rows: slices.Clone(rows)}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Catalog) read(r io.Reader) error {
	var f catalogueFile
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return media.Errorf(media.CodeInvalid, "model catalogue is not good YAML: %w", err)
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

// rowHead is what decides which row another one begins with.
type rowHead struct {
	Name     string `yaml:"name"`
	APIModel string `yaml:"api_model"`
	Like     string `yaml:"like"`
}

// readRow decodes one row over the row that it overrides, or is like, if there is one.
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
	row.OptionRules, row.Acts, row.Flags = nil, nil, nil // those of this text; the earlier ones follow
	decode := n.Decode
	if c.given != nil { // a user's file
		decode = func(v any) error { return decodeStrictly(n, v) }
	}
	if err := decode(&row); err != nil {
		return bad(err)
	}
	row.inherit(earlier)
	if i < 0 {
		c.rows = append(c.rows, row)
		return nil
	}
	c.rows[i] = row
	return nil
}

// decodeStrictly refuses unknown fields. A node cannot be decoded strictly, so it takes the way
// over text, which is too slow for the shipped files at every start; a test decodes those.
func decodeStrictly(n *yaml.Node, v any) error {
	text, err := yaml.Marshal(resolveAliases(n))
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	return d.Decode(v)
}

// begin gives the row that another one starts from, and the place of the one that it takes
// the place of; -1 if there is none.
func (c *Catalog) begin(provider string, head rowHead) (row Model, place int, err error) {
	row.Provider = provider
	if head.Like != "" {
		if row, err = c.like(provider, head); err != nil {
			return row, -1, err
		}
	}
	id := cmp.Or(head.APIModel, row.APIModel)
	place = slices.IndexFunc(c.rows, func(m Model) bool { return m.Provider == provider && m.APIModel == id })
	if place >= 0 && head.Like == "" {
		row = c.rows[place]
		row.Size.Table = maps.Clone(row.Size.Table) // a map is decoded into, not replaced
	}
	return row, place, nil
}

// like copies the row that another provider's is like. Its life is its own; under another
// name it has no aliases either.
func (c *Catalog) like(provider string, head rowHead) (Model, error) {
	at := slices.IndexFunc(c.rows, func(m Model) bool {
		return slices.ContainsFunc(m.names(), func(n string) bool { return key(head.Like) == key(m.Provider+"/"+n) })
	})
	if at < 0 {
		return Model{}, media.Errorf(media.CodeInvalid, "like: there is no model %q before it: name one as provider/id", fault.Quote(head.Like))
	}
	row := c.rows[at]
	row.Provider, row.Life, row.Size.Table = provider, LifeCycle{}, maps.Clone(row.Size.Table)
	if head.Name != "" && key(head.Name) != key(row.Name) {
		row.Aliases = nil
	}
	return row, nil
}

// inherit adds what the earlier row says of options that are left, where this one says
// nothing of its own.
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

// resolveAliases copies a node with YAML aliases replaced by what they name, so that
// it can stand alone.
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

// Checked is the day on which the shipped rows were last read against their sources, the
// oldest of their files; zero for a catalogue of other rows alone.
func (c *Catalog) Checked() time.Time { return c.checked }

// Models copies every row, in the order in which they are preferred.
func (c *Catalog) Models() []Model { return slices.Clone(c.rows) }

// Lookup finds a model by display name, API id or alias, in any case, alone or after
// "provider/". Retired models are found too. An API id that several of the user's services
// have is not found alone.
func (c *Catalog) Lookup(name string) (Model, bool) {
	i, ok := c.index[key(name)]
	if !ok {
		return Model{}, false
	}
	return c.rows[i], true
}

// Alive reports whether the model can be called at a time.
func (m Model) Alive(now time.Time) bool {
	return m.Life.ShutDown.IsZero() || now.Before(m.Life.ShutDown)
}

// Successor follows replaced_by to the first model alive at now. Chains end: the
// catalogue is checked for cycles.
func (c *Catalog) Successor(m Model, now time.Time) (Model, bool) {
	for !m.Alive(now) {
		next, ok := c.Of(m.Provider, m.Life.ReplacedBy)
		if !ok {
			return Model{}, false
		}
		m = next
	}
	return m, true
}

// key folds a name: case and runs of blanks do not count.
func key(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }
