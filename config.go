package atelier

import (
	"cmp"
	"context"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/wire"
	"atelier/run"
	"atelier/workflow"
	"atelier/workflow/module"
)

// Config selects where an [Atelier] stores its data and which providers it may call. Only Dir is required. Without
// keys, the offline models are used. [ConfigFromEnv] reads a Config from environment variables, as the command atelier
// does.
type Config struct {
	// Dir is the data folder for bytes, records and keys. If it is missing, it is created with mode 0700. Relative paths
	// are those of the working directory at the call of [Open].
	Dir string
	// DatabaseURL is the PostgreSQL URL for the records and the durable steps; empty means SQLite files in Dir.
	DatabaseURL string
	// DatabaseWait is how long work waits for a lost database; 0 means 30 seconds, a negative duration means not at
	// all.
	DatabaseWait time.Duration
	// BlobDriver stores the bytes of media in place of Dir; nil means files in Dir. It must pass the suite of package
	// blobtest. Several processes with one database need a driver on one place.
	BlobDriver blob.Driver
	// Owner is the person or tenant on whose behalf this Atelier makes calls whose context has no other owner, see
	// [media.WithScope]; default "local". Media and runs of other owners are not visible.
	Owner string

	// Keys holds credentials by provider. BaseURLs holds addresses that replace a provider's own. [Providers] lists the
	// names; endpoints of Catalogue and Drivers have their own. Other names are an error of [Open].
	Keys, BaseURLs map[string]string
	// Getenv reads the variables that the operator's catalogue names and those of AWS; nil means none are set.
	Getenv func(name string) string
	// PublicURL is the address, scheme and host, at which other machines reach the server of this data folder, such as
	// https://atelier.example.com. Providers report to it, and requests to the server require access tokens. If it is
	// empty, the server is not reachable and providers are polled.
	PublicURL string
	// LeonardoWebhookKey is the callback key of Leonardo's API key.
	LeonardoWebhookKey string

	// Catalogue and ChatProfiles are the operator's YAML files, or folders of them: Catalogue adds image models and
	// endpoints, ChatProfiles chat models.
	Catalogue, ChatProfiles string
	// Drivers creates drivers for further providers, whose models are in Catalogue. The codec stores the media that
	// they make; its Transport lifts media out of responses while they are read.
	Drivers []func(codec *wire.Codec) (driver.Driver, error)
	// ChatModel takes precedence over the models of agent definitions. ImageModel is used for requests that name no
	// model, and ImageFallback for results that it failed to produce.
	ChatModel, ImageModel string
	ImageFallback         []string
	// Partials requests preview frames. Some providers bill them.
	Partials bool

	// ChatModels are further chat models, named PROVIDER/ID as in their profiles. Agents use the first one if neither
	// ChatModel nor their definition names a model that is available.
	ChatModels []chat.Model

	// Actions are further actions for agents.
	Actions []action.Action
	// Agents is a folder of agents' definitions and prompts, such as an embed.FS, in addition to the shipped ones; nil
	// means none. Those of Sources.Agents replace agents of both.
	Agents fs.FS
	// GoAgents are agents written in Go, by slug. They run and are called like other agents, but lists of agents omit
	// them.
	GoAgents map[string]agent.GoAgent
	// Modules creates further modules of workflows. They may use the agents and exports of c; nil means none.
	Modules func(c module.Config) []workflow.Module
	// Sources are the default sources of runs.
	Sources Sources
	// Search selects the provider of web searches; the zero value means none.
	Search Search
	// Guardrail checks people's messages; nil means no checks.
	Guardrail agent.Guardrail

	// Budget limits the usage of runs and generations.
	Budget run.BudgetConfig
	// RunsAtOnce is the maximum number of adopted runs that are executed at the same time; default 8.
	RunsAtOnce int
	// MinFree is the free disk space, in bytes, that a billable call requires; 0 means the default of package generate,
	// a negative number means no check.
	MinFree int64
	// DiskWait is how long a provider's response waits for space on a full disk; 0 means 30 seconds, a negative
	// duration means not at all.
	DiskWait time.Duration
	// MaxAnswer is the maximum size of a provider's response without its media, in bytes; 0 means 16 MiB.
	MaxAnswer int64

	// Adopt lets this process adopt runs of dead processes. Otherwise, it executes only the runs that it started.
	Adopt bool
	// WithoutEngine disables durable execution: runs end with their process.
	WithoutEngine bool
	// OnGeneration receives the progress of generations, from several goroutines. It must not block. It may be nil.
	OnGeneration func(ctx context.Context, e generate.Event)
}

// withDefaults checks the configuration and applies the defaults.
func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		return c, media.Errorf(media.CodeInvalid, "atelier.Config.Dir is missing: name the data folder")
	}
	var err error
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return c, media.Errorf(media.CodeInvalid, "find the data folder: %w", err)
	}
	c.Sources = c.Sources.absolute()
	c.Owner = cmp.Or(c.Owner, "local")
	c.RunsAtOnce = cmp.Or(c.RunsAtOnce, 8)
	c.DatabaseWait = cmp.Or(c.DatabaseWait, 30*time.Second)
	c.PublicURL = strings.TrimRight(strings.TrimSpace(c.PublicURL), "/")
	u, err := url.Parse(c.PublicURL)
	if c.PublicURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil) {
		return c, media.Errorf(media.CodeInvalid, "ATELIER_PUBLIC_URL is %.200q: give a scheme and a host, such as https://atelier.example.com", c.PublicURL)
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	return c, nil
}

// LedgerFile returns the file of the records if no database is set.
func (c Config) LedgerFile() string { return filepath.Join(c.Dir, "atelier.db") }
