package atelier

import (
	"context"
	"path/filepath"
	"time"

	"atelier/action"
	"atelier/agent"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/wire"
	"atelier/run"
)

// Config selects where an [Atelier] stores its data and which providers it may call. Dir is
// required; everything else has a default, and without keys the offline models are used.
// [ConfigFromEnv] fills one from environment variables, as the command atelier does.
type Config struct {
	// Dir is the data folder: bytes, records and keys. It is created with mode 0700 if it is
	// missing.
	Dir string
	// DatabaseURL is a PostgreSQL URL for the records and the durable steps; empty means SQLite
	// files in Dir.
	DatabaseURL string
	// DatabaseWait is how long work waits for a lost database; 0 means 30 seconds, a negative time
	// not at all.
	DatabaseWait time.Duration
	// Owner is the person or tenant of this Atelier's calls; default "local". Media and runs of
	// other owners are not visible.
	Owner string

	// Keys are credentials by provider, BaseURLs addresses that replace the provider's own;
	// [Providers] lists the names.
	Keys, BaseURLs map[string]string
	// Getenv reads the variables that the operator's catalogue and AWS name; nil means none.
	Getenv func(name string) string
	// PublicURL is where other machines reach the server of this data folder, scheme and host, such
	// as https://atelier.example.com. Providers report there, and requests to the server require
	// access tokens. Empty means nowhere: providers are polled.
	PublicURL string
	// LeonardoWebhookKey is the callback key of Leonardo's API key.
	LeonardoWebhookKey string

	// Catalogue and ChatProfiles are the operator's YAML files, or folders of them: image models
	// and endpoints, and chat models.
	Catalogue, ChatProfiles string
	// Drivers creates drivers of further providers, whose models are in Catalogue. The codec stores
	// what they make; its Transport replaces media in responses while they are read.
	Drivers []func(codec *wire.Codec) (driver.Driver, error)
	// ChatModel takes precedence over an agent definition's models. ImageModel is for requests that
	// name none; ImageFallback are the models for the results that it failed to give.
	ChatModel, ImageModel string
	ImageFallback         []string
	// Partials requests preview frames, which some providers bill.
	Partials bool

	// Actions are further actions for agents.
	Actions []action.Action
	// Sources are the default sources of runs.
	Sources Sources
	// Search selects the provider of web searches; the zero value means none.
	Search Search
	// Guardrail checks people's messages; nil means no checks.
	Guardrail agent.Guardrail

	// Budget limits what runs and generations may use.
	Budget run.BudgetConfig
	// RunsAtOnce is how many adopted runs are executed at once; default 8.
	RunsAtOnce int
	// MinFree is the free disk space, in bytes, that a billable call requires; 0 means the default
	// of package generate, a negative number no check.
	MinFree int64
	// DiskWait is how long a provider's response waits for space on a full disk; 0 means 30 s, a
	// negative time not at all.
	DiskWait time.Duration
	// MaxAnswer limits providers' responses without their media, in bytes; 0 means 16 MiB.
	MaxAnswer int64

	// TakeOver lets this process adopt runs of dead processes. Without it, it executes only runs
	// that it started.
	TakeOver bool
	// WithoutEngine makes runs end with their process.
	WithoutEngine bool
	// OnGeneration receives the progress of generations, from several goroutines; may be nil. It
	// must not block.
	OnGeneration func(ctx context.Context, e generate.Event)
}

// Defaults of [Config].
const (
	defaultOwner        = "local"
	defaultRunsAtOnce   = 8
	defaultDatabaseWait = 30 * time.Second
)

// withDefaults checks the configuration and applies the defaults.
func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, media.Errorf(media.CodeInvalid, "atelier.Config.Dir is missing: name the data folder")
	}
	if c.Owner == "" {
		c.Owner = defaultOwner
	}
	var err error
	if c.PublicURL, err = publicURL(c.PublicURL); err != nil {
		return c, err
	}
	if c.RunsAtOnce == 0 {
		c.RunsAtOnce = defaultRunsAtOnce
	}
	if c.DatabaseWait == 0 {
		c.DatabaseWait = defaultDatabaseWait
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	return c, nil
}

// LedgerFile is the file of the records if no database is set.
func (c Config) LedgerFile() string { return filepath.Join(c.Dir, "atelier.db") }
