package catalog

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"atelier/generate"
	"atelier/media"
)

// Endpoint is a service other than OpenAI that speaks OpenAI's protocol. A catalogue file, shipped or the user's,
// describes it beside its models; the key itself is never in a file.
type Endpoint struct {
	// Provider is the key of its driver and its rows.
	Provider string `yaml:"-"`
	// Name is the display name; default is the provider's key.
	Name string `yaml:"name"`
	// BaseURL is the address including the version: http://localhost:8080/v1.
	BaseURL string `yaml:"base_url"`
	// KeyVariable is the environment variable that holds the key; empty if none is needed.
	KeyVariable string `yaml:"key_variable"`
	// Dialect is the variant of OpenAI's protocol: "" for the protocol itself, or xai, which expects ratios and
	// resolutions, accepts edits in JSON, and reports what a call costs.
	Dialect string `yaml:"dialect"`
	// BaseVariable is the name, in messages, of the setting of BaseURL; default is the field of the file.
	BaseVariable string `yaml:"-"`
}

// DialectXAI is the dialect of xAI's image endpoints.
const DialectXAI = "xai"

// Endpoints returns the services of the catalogue files, the shipped ones first.
func (c *Catalog) Endpoints() []Endpoint { return slices.Clone(c.endpoints) }

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c *Catalog) readEndpoint(provider string, e *Endpoint) error {
	if e == nil {
		return nil
	}
	bad := func(field, format string, args ...any) error {
		reason := media.Errorf(media.CodeInvalid, format, args...)
		return media.Errorf(media.CodeInvalid, "model catalogue %s, endpoint.%s: %s", provider, field, reason.Message)
	}
	e.Provider = provider
	e.BaseURL = strings.TrimRight(strings.TrimSpace(e.BaseURL), "/")
	e.Name = cmp.Or(strings.TrimSpace(e.Name), provider)
	u, err := url.Parse(e.BaseURL)
	switch {
	case slices.ContainsFunc(c.rows, func(m Model) bool { return m.Provider == provider }):
		return bad("base_url", "%s has a driver or a file already: choose another provider name, or set its base URL variable", provider)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return bad("base_url", "must begin with http:// or https:// and end where /images/generations follows, often in /v1")
	case e.Dialect != "" && e.Dialect != DialectXAI:
		return bad("dialect", "%q is unknown: use xai, or leave it out", e.Dialect)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return bad("base_url", "must not hold a user, a key or a query: name the key's variable in key_variable")
	case e.KeyVariable != "" && !variableName.MatchString(e.KeyVariable):
		return bad("key_variable", "must be the name of an environment variable such as TOGETHER_API_KEY, not the key")
	}
	c.endpoints = append(c.endpoints, *e)
	return nil
}

// checkReach checks that the rows of a service need nothing that OpenAI's protocol cannot express: such a setting would
// be reported as applied and never be sent.
func (c *Catalog) checkReach(e Endpoint) error {
	for _, m := range c.rows {
		switch {
		case m.Provider != e.Provider:
		case slices.Contains(m.Methods, generate.MethodVariation):
			return m.invalidField("methods", "services of OpenAI's protocol have generate and edit; for variations through edits use emulates: [variation]")
		case e.Dialect == DialectXAI && (m.Size.Mode == "free" || m.Size.Mode == "enum"):
			return m.invalidField("size.mode", "services of xAI's dialect are told ratios and tiers, not pixels: use tier or none")
		case e.Dialect == "" && (m.Size.Mode == "tier" || m.Size.Mode == "ratio"):
			return m.invalidField("size.mode", "services of OpenAI's protocol are told pixels, not ratios: use enum, free or none")
		case m.Grid > 0:
			return m.invalidField("grid", "services of OpenAI's protocol give single pictures: use grid: 0")
		case slices.ContainsFunc(m.Acts, func(a Act) bool { return a.Follows }):
			return m.invalidField("acts", "services of OpenAI's protocol do not continue from a picture that they made: name acts without follows, or acts: []")
		}
	}
	return nil
}
