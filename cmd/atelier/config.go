package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/agent"
	"atelier/generate"
	"atelier/ledger"
	"atelier/ledger/postgres"
	"atelier/media"
	"atelier/run"
	"atelier/wire"
)

// owner is the person of the command line.
const owner = "local"

// databaseVariable names the database of the ledger and of the durable engine.
const databaseVariable = "ATELIER_DATABASE_URL"

// settings are what the environment says. The zero value of each field means unset.
type settings struct {
	// data is the folder of everything that is kept.
	data string
	// database is the URL of the ledger on PostgreSQL; empty means a file in data.
	database string
	// keys and bases are credentials and base URLs by provider.
	keys, bases map[string]string
	// imageModel and chatModel are the operator's defaults.
	imageModel, chatModel string
	// leonardoWebhook is the callback key of Leonardo's API key.
	leonardoWebhook string
	// fallback lists the models that stand in for the default one.
	fallback []string
	// budget bounds what runs and generations may use.
	budget run.BudgetConfig
	// search says who searches the web.
	search searchSettings
	// catalogue is a file, or a folder of files, with models and endpoints of the
	// operator's own.
	catalogue string
	// profiles is a file, or a folder of files, with chat models of the operator's own.
	profiles string
	// guard is what is done about blockedTerms in what a person writes.
	guard        agent.Decision
	blockedTerms []string
	// runsAtOnce is how many runs that were taken over one process works on at once.
	runsAtOnce int
	// minFree is how many bytes a billable call has to leave free; 0 means the default, negative none.
	minFree int64
	// patience is how long a run waits for a database that was lost.
	patience time.Duration
	// maxAnswer bounds the answers of providers, in bytes; 0 means the default.
	maxAnswer int64
	// env reads the variables that such files name.
	env func(string) string
	// missing names, by provider, the variables that would hold its key.
	variables map[string][]string
}

// credentials lists, by provider, the variables that can hold its credential, in order.
func credentials() map[string][]string {
	return map[string][]string{
		"openai":     {"OPENAI_API_KEY"},
		"gemini":     {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		"bfl":        {"BFL_API_KEY"},
		"leonardo":   {"LEONARDO_API_KEY"},
		"anthropic":  {"ANTHROPIC_API_KEY"},
		"openrouter": {"OPENROUTER_API_KEY"},
		"midjourney": {"MIDJOURNEY_API_SECRET"},
		"xai":        {"XAI_API_KEY"},
		"ollama":     {"OLLAMA_HOST"},
		"bedrock":    {"AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"},
	}
}

// baseVariables lists, by provider, the variable that moves its base URL.
func baseVariables() map[string]string {
	return map[string]string{
		"openai":     "OPENAI_BASE_URL",
		"gemini":     "GEMINI_BASE_URL",
		"bfl":        "BFL_BASE_URL",
		"leonardo":   "LEONARDO_BASE_URL",
		"anthropic":  "ANTHROPIC_BASE_URL",
		"openrouter": "OPENROUTER_BASE_URL",
		"midjourney": "MIDJOURNEY_PROXY_URL",
		"bedrock":    "BEDROCK_BASE_URL",
		"xai":        "XAI_BASE_URL",
	}
}

// readSettings reads the environment. The error has code invalid.
func readSettings(env func(string) string) (settings, error) {
	s := settings{
		data: env("ATELIER_DATA"), database: strings.TrimSpace(env(databaseVariable)),
		imageModel: env("ATELIER_IMAGE_MODEL"), chatModel: env("ATELIER_CHAT_MODEL"), catalogue: env("ATELIER_CATALOGUE"), env: env,
		profiles: env("ATELIER_CHAT_PROFILES"), blockedTerms: terms(env("ATELIER_BLOCKED_TERMS")),
		leonardoWebhook: strings.TrimSpace(env("LEONARDO_WEBHOOK_KEY")),
		keys:            map[string]string{}, bases: map[string]string{}, variables: credentials(),
	}
	if s.data == "" {
		dir, err := dataHome(env)
		if err != nil {
			return s, err
		}
		s.data = dir
	}
	if s.database != "" {
		if err := postgres.Check(s.database); err != nil {
			return s, media.Errorf(media.CodeInvalid, "%s: %w", databaseVariable, err)
		}
	}
	for provider, names := range credentials() {
		for _, n := range names {
			if v := strings.TrimSpace(env(n)); v != "" && s.keys[provider] == "" {
				s.keys[provider] = v
			}
		}
	}
	for provider, n := range baseVariables() {
		v := strings.TrimRight(strings.TrimSpace(env(n)), "/")
		if v == "" {
			continue
		}
		if !strings.HasPrefix(v, "http://") && !strings.HasPrefix(v, "https://") {
			return s, media.Errorf(media.CodeInvalid, "%s is %q: it must begin with http:// or https://", n, v)
		}
		s.bases[provider] = v
	}
	for name := range strings.SplitSeq(env("ATELIER_IMAGE_FALLBACK"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			s.fallback = append(s.fallback, name)
		}
	}
	for name, to := range map[string]*generate.Bounds{
		"ATELIER_BUDGET_RUN": &s.budget.Run, "ATELIER_BUDGET_DAY": &s.budget.Day, "ATELIER_BUDGET_OWNER": &s.budget.Owner,
	} {
		var err error
		if *to, err = bounds(env, name); err != nil {
			return s, err
		}
	}
	s.guard = agent.Decision(strings.ToLower(strings.TrimSpace(cmp.Or(env("ATELIER_BLOCKED_TERMS_DO"), "stop"))))
	if !slices.Contains([]agent.Decision{agent.DecisionStop, agent.DecisionPause, agent.DecisionRedact}, s.guard) {
		return s, media.Errorf(media.CodeInvalid, "ATELIER_BLOCKED_TERMS_DO is %q: use stop, pause or redact", s.guard)
	}
	if err := s.readEndurance(); err != nil {
		return s, err
	}
	var err error
	if s.maxAnswer, err = mebibytes(wire.MaxAnswerSetting, env(wire.MaxAnswerSetting)); err != nil {
		return s, err
	}
	s.search, err = readSearch(env)
	return s, err
}

// mebibytes reads a size, 0 if there is none; name says in errors where it stands.
func mebibytes(name, text string) (int64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	const most = 1024
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, media.Errorf(media.CodeInvalid, "%s is %.20q: give a whole number of MiB from 1 to %d", name, text, most)
	}
	return n << 20, nil
}

// terms reads a list that is parted by commas or lines.
func terms(list string) []string {
	var out []string
	for _, t := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == '\n' }) {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// guardrail is the one that the environment asks for, nil if none.
func (s settings) guardrail() (agent.Guardrail, error) {
	if len(s.blockedTerms) == 0 {
		return nil, nil
	}
	return agent.BlockedTerms(s.guard, s.blockedTerms...)
}

// bounds reads a budget: dollars, and tokens and images in variables of their own.
func bounds(env func(string) string, name string) (b generate.Bounds, err error) {
	if b.USD, err = readDollars(name, env(name)); err != nil {
		return b, err
	}
	for unit, to := range map[string]*int64{"_TOKENS": &b.Tokens, "_IMAGES": &b.Images} {
		text := strings.TrimSpace(env(name + unit))
		if text == "" {
			continue
		}
		if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 1 {
			return b, media.Errorf(media.CodeInvalid, "%s is %.20q: give a whole number from 1 on, or leave it out for no bound", name+unit, text)
		}
	}
	return b, nil
}

// readDollars reads an amount, with or without its sign; name says in errors where it stands.
func readDollars(name, text string) (string, error) {
	usd := strings.TrimPrefix(strings.TrimSpace(text), "$")
	if usd == "" {
		return "", nil
	}
	if _, err := ledger.ParsePico(usd); err != nil {
		return "", media.Errorf(media.CodeInvalid, "%s: %w", name, err)
	}
	return usd, nil
}

// dataHome is where data goes if nobody says: XDG_DATA_HOME or the home folder.
func dataHome(env func(string) string) (string, error) {
	if d := env("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "atelier"), nil
	}
	home := env("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", media.Errorf(media.CodeInvalid, "there is no home folder: set ATELIER_DATA to the folder where Atelier may keep its data")
		}
	}
	return filepath.Join(home, ".local", "share", "atelier"), nil
}
