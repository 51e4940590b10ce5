package atelier

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/ledger/postgres"
	"atelier/media"
	"atelier/media/wire"
)

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
