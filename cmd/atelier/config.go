package main

import (
	"os"
	"path/filepath"
	"strings"

	"atelier/media"
)

// owner is the person of the command line.
const owner = "local"

// settings are what the environment says. The zero value of each field means unset.
type settings struct {
	// data is the folder of everything that is kept.
	data string
	// keys and bases are credentials and base URLs by provider.
	keys, bases map[string]string
	// imageModel and chatModel are the operator's defaults.
	imageModel, chatModel string
	// search says who searches the web.
	search searchSettings
	// catalogue is a file, or a folder of files, with models and endpoints of the
	// operator's own.
	catalogue string
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
		"anthropic":  {"ANTHROPIC_API_KEY"},
		"openrouter": {"OPENROUTER_API_KEY"},
		"midjourney": {"MIDJOURNEY_API_SECRET"},
		"ollama":     {"OLLAMA_HOST"},
	}
}

// baseVariables lists, by provider, the variable that moves its base URL.
func baseVariables() map[string]string {
	return map[string]string{
		"openai":     "OPENAI_BASE_URL",
		"gemini":     "GEMINI_BASE_URL",
		"anthropic":  "ANTHROPIC_BASE_URL",
		"openrouter": "OPENROUTER_BASE_URL",
		"midjourney": "MIDJOURNEY_PROXY_URL",
	}
}

// readSettings reads the environment. The error has code invalid.
func readSettings(env func(string) string) (settings, error) {
	s := settings{
		data: env("ATELIER_DATA"), imageModel: env("ATELIER_IMAGE_MODEL"), chatModel: env("ATELIER_CHAT_MODEL"), catalogue: env("ATELIER_CATALOGUE"), env: env,
		keys: map[string]string{}, bases: map[string]string{}, variables: credentials(),
	}
	if s.data == "" {
		dir, err := dataHome(env)
		if err != nil {
			return s, err
		}
		s.data = dir
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
	var err error
	s.search, err = readSearch(env)
	return s, err
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
