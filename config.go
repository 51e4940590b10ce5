package atelier

import (
	"context"
	"path/filepath"
	"time"

	"atelier/action"
	"atelier/agent"
	"atelier/generate"
	"atelier/media"
	"atelier/run"
	"atelier/wire"
)

// Config says where an [Atelier] keeps its data and which providers it may ask. Dir is
// required; everything else has a default, and without any key the offline models answer.
// [ConfigFromEnv] fills one from environment variables, as the command atelier does.
type Config struct {
	// Dir is the data folder: bytes, records and keys. It is made with mode 0700 if it is missing.
	Dir string
	// DatabaseURL is a PostgreSQL URL for the records and the durable steps; empty means SQLite
	// files in Dir.
	DatabaseURL string
	// DatabaseWait is how long work waits for a database that was lost; 0 means 30 seconds, a
	// negative time that it does not wait.
	DatabaseWait time.Duration
	// Owner is the person or tenant that the calls of this Atelier are for; default "local".
	// Nobody sees the media and runs of another owner.
	Owner string

	// Keys are credentials by provider, BaseURLs addresses that replace the provider's own;
	// [Providers] lists the names.
	Keys, BaseURLs map[string]string
	// Getenv reads the variables that endpoints of the operator's catalogue and AWS name;
	// nil means that there are none.
	Getenv func(name string) string
	// LeonardoWebhookKey is the callback key of Leonardo's API key.
	LeonardoWebhookKey string

	// Catalogue and ChatProfiles are YAML files, or folders of them, with image models and
	// endpoints, and chat models, of the operator's own.
	Catalogue, ChatProfiles string
	// Drivers make drivers of further providers, whose models are in Catalogue. The codec keeps
	// what they make; its Transport takes media out of answers while they are read.
	Drivers []func(codec *wire.Codec) (generate.Driver, error)
	// ChatModel answers where an agent's own choice does not matter: it comes before the
	// definition's. ImageModel answers requests that name none; ImageFallback are the models
	// asked for what it could not give.
	ChatModel, ImageModel string
	ImageFallback         []string
	// Partials asks for preview frames, which some providers bill.
	Partials bool

	// Actions are what agents may do besides the shipped actions.
	Actions []action.Action
	// Sources are what runs may read unless they name their own.
	Sources Sources
	// Search says who searches the web; the zero value means nobody.
	Search Search
	// Guardrail looks at what people write; nil means that everything passes.
	Guardrail agent.Guardrail

	// Budget bounds what runs and generations may use.
	Budget run.BudgetConfig
	// RunsAtOnce is how many runs that other processes left are worked on at once; default 8.
	RunsAtOnce int
	// MinFree is how many bytes a billable call has to leave free on the disk; 0 means the
	// default of package generate, a negative number that nobody looks.
	MinFree int64
	// MaxAnswer bounds the answers of providers beside media, in bytes; 0 means 16 MiB.
	MaxAnswer int64

	// TakeOver lets this process take up runs whose processes ended. Without it only what
	// began here is worked on.
	TakeOver bool
	// WithoutEngine makes runs end with their process, where nothing has to survive it.
	WithoutEngine bool
	// OnGeneration is told how generations proceed, from several goroutines; may be nil. It
	// must not block.
	OnGeneration func(ctx context.Context, e generate.Event)
}

// Defaults of [Config].
const (
	defaultOwner        = "local"
	defaultRunsAtOnce   = 8
	defaultDatabaseWait = 30 * time.Second
)

// withDefaults checks the configuration and fills what was left out.
func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, media.Errorf(media.CodeInvalid, "atelier.Config.Dir is missing: name the folder that keeps the data")
	}
	if c.Owner == "" {
		c.Owner = defaultOwner
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

// LedgerFile is where the records are if no database is named.
func (c Config) LedgerFile() string { return filepath.Join(c.Dir, "atelier.db") }
