package post

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atelier/internal/safehttp"
	"atelier/media"
	"atelier/media/wire"
)

// Config says how a provider is reached and what its answers mean.
type Config struct {
	// Name is the provider as people call it: "OpenAI".
	Name string
	// BaseURL is the API's address; the paths of calls follow it. Without one the client is
	// not ready. BaseVariable names the variable that sets it.
	BaseURL, BaseVariable string
	// Version is the end of a base URL that people copy with it, and that paths hold already.
	Version string
	// Key is cut out of every error text. KeyVariable names the variable that sets it; empty
	// if none is needed.
	Key, KeyVariable string
	// Secrets are further credentials, which are cut out as well.
	Secrets []string
	// Header goes with every call of [Client.Do].
	Header http.Header
	// Codec lifts media out of answers and puts it into requests; required.
	Codec *wire.Codec
	// Media are the fields of answers that hold media of any size.
	Media []string
	// Base carries the calls; default the guarded one of safehttp.Transport.
	Base http.RoundTripper
	// Storage names, for people, the host that [Client.Upload] brings files to; empty if there
	// is none. Uploads carries them; default as with Base. They go to public addresses and to
	// BaseURL only.
	Storage string
	Uploads http.RoundTripper
	// Now is the clock that dates in answers are compared with; default time.Now.
	Now func() time.Time

	// Explain reads the provider's own error answer; false if the answer is none. Words need
	// not be cleaned.
	Explain func(a *Answer) (Fault, bool)
	// Phrases are what its words mean where Explain does not tell.
	Phrases Phrases
	// Failures are what the words of a task that failed mean; of others it is
	// media.CodeUnavailable.
	Failures Phrases
	// States are the provider's words for states in which a task is over.
	States map[string]State
	// Codes are the statuses that mean something else here than they usually do.
	Codes map[int]media.Code
	// Repeat are the failures, beside 409, 500 and 503, after which nothing was made.
	Repeat []int
	// Advice says what to do about an error, in the place of the usual words.
	Advice map[media.Code]string

	secrets safehttp.Secrets
}

// Provider is who is called and what its words mean: it turns answers into results, states
// and the one vocabulary of errors, and makes no call. It is safe for concurrent use.
type Provider struct {
	// Name is the provider as people call it: "OpenAI".
	Name string
	// BaseVariable names the variable that sets the address, for error texts.
	BaseVariable string

	config Config
}

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	Provider
	// Base is the API's address, without a slash at its end.
	Base string

	calls   *http.Client // puts media into requests, lifts it out of answers
	storage *Client      // for uploads; nil if there are none
}

// New makes a client. Its error has code media.CodeInvalid and names the setting. A
// missing key or address is no error here; [Client.Ready] tells.
func New(c Config) (*Client, error) {
	if c.Codec == nil {
		return nil, media.Errorf(media.CodeInvalid, "the driver of %s has no codec: set Config.Codec", c.Name)
	}
	base := strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), c.Version)
	if u, err := url.Parse(base); base != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return nil, media.Errorf(media.CodeInvalid, "%s must be an address that begins with https:// or http://", c.BaseVariable)
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // The default clock.
	}
	c.secrets = safehttp.NewSecrets(append(c.Secrets, c.Key)...)
	client := &Client{
		Provider: Provider{Name: c.Name, BaseVariable: c.BaseVariable, config: c},
		Base:     base, calls: c.dial(base),
	}
	if c.Storage == "" {
		return client, nil
	}
	return client, client.newStorage()
}

// dial makes the HTTP client, over the codec's transport.
func (c Config) dial(base string) *http.Client {
	return safehttp.NewProvider(safehttp.Provider{
		Name: c.Name, Origin: base, Secrets: c.secrets, Base: c.Base, MaxAnswer: c.Codec.MaxAnswer(), Setting: wire.MaxAnswerSetting,
		Wrap: func(under http.RoundTripper) http.RoundTripper {
			return c.Codec.Transport(under, wire.Fields{Media: c.Media})
		},
	})
}

// Ready is nil if there are the address and the key that are needed.
func (c *Client) Ready() error {
	switch {
	case c.Base == "":
		return media.Errorf(media.CodeMissingKey, "no address for %s: %s", c.Name, cmp.Or(c.config.Advice[media.CodeMissingKey], "set "+c.BaseVariable))
	case c.config.Key == "" && c.config.KeyVariable != "":
		return media.Errorf(media.CodeMissingKey, "no key for %s: set %s", c.Name, c.config.KeyVariable)
	}
	return nil
}

// Owns reports whether an address that the provider gave is on the client's own origin, where
// the key goes anyway.
func (c *Client) Owns(u *url.URL) bool {
	base, err := url.Parse(c.Base)
	return err == nil && u.User == nil && u.Scheme == base.Scheme && strings.EqualFold(u.Host, base.Host)
}

// Token stands for a stored picture in a JSON field; the transport streams the bytes as
// base64 in its place.
func (c *Client) Token(ctx context.Context, b media.Blob) string {
	return c.config.Codec.Token(media.ScopeOf(ctx).Tree, b, wire.VariantStd)
}

// DataURL is the token in a data: URL.
func (c *Client) DataURL(ctx context.Context, b media.Blob) string {
	return "data:" + b.MIMEType + ";base64," + c.Token(ctx, b)
}

// File is a stored picture in a field of a form.
type File struct {
	Name string
	Blob media.Blob
}

// Form writes fields, then pictures, as multipart/form-data; the transport streams the
// bytes in the place of the files. Every file has a name and a type.
func (c *Client) Form(ctx context.Context, fields Body, files ...File) (*Form, error) {
	f := &Form{}
	if err := f.fields(fields); err != nil {
		return nil, err
	}
	for _, p := range files {
		f.file(p, c.config.Codec.Marker(media.ScopeOf(ctx).Tree, p.Blob, wire.VariantStd))
	}
	return f, nil
}

// Header is what goes with every call.
func (c *Client) Header() http.Header { return c.config.Header }

// address is where a path leads.
func (c *Client) address(path string) string {
	if strings.HasPrefix(path, "/") {
		return c.Base + path
	}
	return cmp.Or(path, c.Base)
}
