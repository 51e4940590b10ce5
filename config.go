package atelier

import (
	"cmp"
	"context"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"atelier/action"
	"atelier/agent"
	"atelier/chat"
	"atelier/generate"
	"atelier/generate/driver"
	"atelier/ledger"
	"atelier/ledger/postgres"
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

// databaseVariable names the database of the ledger and the durable engine.
const databaseVariable = "ATELIER_DATABASE_URL"

// ConfigFromEnv reads the environment variables that docs/configuration.md lists. Programs pass os.Getenv. An error has
// code media.CodeInvalid and names the variable.
func ConfigFromEnv(getenv func(name string) string) (Config, error) {
	text := func(name string) string { return strings.TrimSpace(getenv(name)) }
	c := Config{
		Dir: getenv("ATELIER_DATA"), DatabaseURL: text(databaseVariable), Getenv: text,
		ImageModel: text("ATELIER_IMAGE_MODEL"), ChatModel: text("ATELIER_CHAT_MODEL"), ImageFallback: list(getenv("ATELIER_IMAGE_FALLBACK")),
		Catalogue: getenv("ATELIER_CATALOGUE"), ChatProfiles: getenv("ATELIER_CHAT_PROFILES"),
		LeonardoWebhookKey: text("LEONARDO_WEBHOOK_KEY"), PublicURL: text("ATELIER_PUBLIC_URL"),
	}
	var err error
	if c.Dir == "" {
		if c.Dir, err = dataHome(getenv); err != nil {
			return c, err
		}
	}
	if c.DatabaseURL != "" {
		if err := postgres.Check(c.DatabaseURL); err != nil {
			return c, media.Errorf(media.CodeInvalid, "%s: %w", databaseVariable, err)
		}
	}
	if err := c.readProviders(getenv); err != nil {
		return c, err
	}
	if err := c.readNumbers(getenv); err != nil {
		return c, err
	}
	if err := c.readWaits(getenv); err != nil {
		return c, err
	}
	do := agent.Decision(strings.ToLower(cmp.Or(text("ATELIER_BLOCKED_TERMS_DO"), "stop")))
	if !slices.Contains([]agent.Decision{agent.DecisionStop, agent.DecisionPause, agent.DecisionRedact}, do) {
		return c, media.Errorf(media.CodeInvalid, "ATELIER_BLOCKED_TERMS_DO is %q: use stop, pause or redact", do)
	}
	if terms := list(getenv("ATELIER_BLOCKED_TERMS")); len(terms) > 0 {
		if c.Guardrail, err = agent.BlockedTerms(do, terms...); err != nil {
			return c, err
		}
	}
	c.Search, err = readSearch(getenv)
	return c, err
}

// readProviders reads the keys and addresses of providers.
func (c *Config) readProviders(getenv func(string) string) error {
	c.Keys, c.BaseURLs = map[string]string{}, map[string]string{}
	for _, p := range Providers() {
		for _, name := range p.KeyVariables {
			v := strings.TrimSpace(getenv(name))
			if strings.ContainsFunc(v, unicode.IsControl) { // no header can carry it
				return media.Errorf(media.CodeInvalid, "%s contains a line break or another control character: set it to the key alone", name)
			}
			if v != "" && c.Keys[p.Name] == "" {
				c.Keys[p.Name] = v
			}
		}
		v := strings.TrimRight(strings.TrimSpace(getenv(p.BaseVariable)), "/")
		if p.BaseVariable == "" || v == "" {
			continue
		}
		if !strings.HasPrefix(v, "http://") && !strings.HasPrefix(v, "https://") {
			return media.Errorf(media.CodeInvalid, "%s is %q: it must begin with http:// or https://", p.BaseVariable, v)
		}
		c.BaseURLs[p.Name] = v
	}
	return nil
}

// readNumbers reads the settings that are numbers, and the budgets.
func (c *Config) readNumbers(getenv func(string) string) (err error) {
	numbers := []number{
		{"ATELIER_RUNS_AT_ONCE", 1, 1000, "use a number from 1 to 1000", func(n int64) { c.RunsAtOnce = int(n) }},
		{"ATELIER_MIN_FREE_MIB", 0, math.MaxInt32, "use a number of mebibytes, or 0", func(n int64) { c.MinFree = cmp.Or(n<<20, -1) }},
		{wire.MaxAnswerSetting, 1, 1024, "give a whole number of MiB from 1 to 1024", func(n int64) { c.MaxAnswer = n << 20 }},
	}
	for name, to := range map[string]*generate.Bounds{
		"ATELIER_BUDGET_RUN": &c.Budget.Run, "ATELIER_BUDGET_DAY": &c.Budget.Day, "ATELIER_BUDGET_OWNER": &c.Budget.Owner,
	} {
		if to.USD, err = ledger.ParseDollars(name, getenv(name)); err != nil {
			return err
		}
		const hint = "give a whole number of at least 1, or omit it for no limit"
		numbers = append(numbers,
			number{name + "_TOKENS", 1, math.MaxInt64, hint, func(n int64) { to.Tokens = n }},
			number{name + "_IMAGES", 1, math.MaxInt64, hint, func(n int64) { to.Images = n }})
	}
	for _, v := range numbers {
		text := strings.TrimSpace(getenv(v.name))
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < v.least || n > v.most {
			return media.Errorf(media.CodeInvalid, "%s is %.20q: %s", v.name, text, v.hint)
		}
		v.set(n)
	}
	return nil
}

// number is a variable that holds a whole number from least to most.
type number struct {
	name        string
	least, most int64
	hint        string
	set         func(n int64)
}

// readWaits reads the waiting times.
func (c *Config) readWaits(getenv func(string) string) error {
	for name, wait := range map[string]*time.Duration{"ATELIER_DATABASE_WAIT": &c.DatabaseWait, "ATELIER_DISK_WAIT": &c.DiskWait} {
		v := strings.TrimSpace(getenv(name))
		if v == "" {
			continue
		}
		d, err := time.ParseDuration(v)
		if err != nil || d < 0 {
			return media.Errorf(media.CodeInvalid, "%s is %q: use a time such as 30s or 2m", name, v)
		}
		*wait = cmp.Or(d, -1)
	}
	return nil
}

// list splits text at commas and line breaks.
func list(text string) []string {
	var out []string
	for _, t := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == '\n' }) {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// dataHome returns the default data folder, in XDG_DATA_HOME or in the home folder.
func dataHome(env func(string) string) (string, error) {
	if d := env("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "atelier"), nil
	}
	home := env("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", media.Errorf(media.CodeInvalid, "there is no home folder: set ATELIER_DATA to a folder for Atelier's data")
		}
	}
	return filepath.Join(home, ".local", "share", "atelier"), nil
}

// ServeConfigFromEnv reads the environment variables of a server. Programs pass os.Getenv. An error has code
// media.CodeInvalid and names the variable.
func ServeConfigFromEnv(getenv func(name string) string) (c ServeConfig, err error) {
	if c.MaxUpload, err = size("ATELIER_MAX_UPLOAD", getenv("ATELIER_MAX_UPLOAD")); err != nil {
		return c, err
	}
	if text := strings.TrimSpace(getenv("ATELIER_RATE_LIMIT")); text != "" {
		c.RequestsPerSecond, err = strconv.ParseFloat(text, 64)
		if err != nil || !(c.RequestsPerSecond >= 0 && c.RequestsPerSecond <= 1e6) {
			return c, media.Errorf(media.CodeInvalid, "ATELIER_RATE_LIMIT is %.40q: give requests per second, or 0 for no limit", text)
		}
		if c.RequestsPerSecond == 0 {
			c.RequestsPerSecond = -1
		}
	}
	return c, nil
}

// size reads a number of bytes, with or without a unit; it returns 0 for empty text. Errors contain name.
func size(name, text string) (int64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	digits, unit := text, int64(1)
	for suffix, u := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			digits, unit = strings.TrimSpace(rest), u
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > (1<<40)/unit {
		return 0, media.Errorf(media.CodeInvalid, "%s is %.40q: give bytes, or a number with KiB, MiB or GiB", name, text)
	}
	return n * unit, nil
}
