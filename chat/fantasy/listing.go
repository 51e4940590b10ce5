package fantasy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier/chat"
	"atelier/internal/safehttp"
	"atelier/media"
)

// maxPages is the maximum number of pages of a list.
const maxPages = 20

// List requests a provider's list of models. The request is free. The error has code media.CodeUnsupported for a
// provider whose list cannot be read, media.CodeMissingKey, or the code of the failed call.
func (s *Service) List(ctx context.Context, provider string) ([]chat.Listed, error) {
	p, ok := s.cfg.Profiles.Provider(provider)
	if provider == "bedrock" {
		return nil, media.Errorf(media.CodeUnsupported, "Bedrock does not list its models through the runtime API, which is the only API that Atelier uses: see `aws bedrock list-foundation-models`, or Model access in the AWS console")
	}
	if !ok {
		return nil, media.Errorf(media.CodeUnsupported, "the list of %s cannot be read", provider)
	}
	if err := p.Ready(s.cfg.Keys); err != nil {
		return nil, err
	}
	var all []chat.Listed
	next := ""
	for range maxPages {
		req, err := s.listRequest(ctx, provider, next)
		if err != nil {
			return nil, err
		}
		page, err := s.listPage(req, p)
		if err != nil {
			return nil, err
		}
		for _, m := range append(page.Data, page.Models...) {
			id := cmp.Or(m.ID, strings.TrimPrefix(m.Name, "models/"))
			if id == "" || len(m.Methods) > 0 && !slices.Contains(m.Methods, "generateContent") {
				continue
			}
			if provider == "ollama" {
				id = strings.TrimSuffix(id, ":latest") // its default tag, which people leave out
			}
			all = append(all, chat.Listed{ID: id, Vision: m.vision(), ContextTokens: max(m.MaxInput, m.InputLimit, m.Context), ShutDown: m.end()})
		}
		next = page.NextPageToken
		if page.HasMore {
			next = page.LastID
		}
		if next == "" {
			break
		}
	}
	return all, nil
}

func (s *Service) listRequest(ctx context.Context, provider, page string) (*http.Request, error) {
	key, address := s.cfg.Keys[provider], s.address(provider)+"/models"
	header, query := http.Header{}, url.Values{}
	switch provider {
	case "anthropic":
		header.Set("X-Api-Key", key)
		header.Set("Anthropic-Version", "2023-06-01")
		query.Set("limit", "1000")
		query.Set("after_id", page)
	case "gemini":
		header.Set("X-Goog-Api-Key", key)
		query.Set("pageSize", "1000")
		query.Set("pageToken", page)
	case "ollama":
		address = s.origin(provider) + "/api/tags"
	default:
		header.Set("Authorization", "Bearer "+key)
	}
	maps.DeleteFunc(query, func(_ string, v []string) bool { return v[0] == "" })
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "list models of %s: %w", provider, err)
	}
	req.Header = header
	return req, nil
}

func (s *Service) listPage(req *http.Request, p chat.Provider) (listPage, error) {
	var page listPage
	secrets := s.secrets(p.Key)
	res, err := safehttp.NewProvider(safehttp.Provider{Name: p.Name, Secrets: secrets, Origin: s.origin(p.Key), Base: s.cfg.Base}).Do(req)
	var body []byte
	if err == nil {
		defer func() { _ = res.Body.Close() }() // the body was read
		body, err = io.ReadAll(res.Body)
	}
	switch own, coded := errors.AsType[*media.Error](err); {
	case coded:
		return page, own
	case err != nil && req.Context().Err() != nil:
		return page, fmt.Errorf("list models of %s: %w", p.Name, req.Context().Err())
	case err != nil:
		return page, media.Errorf(media.CodeUnavailable, "cannot reach %s: check the network and %s: %w", p.Name, p.BaseVariable, err)
	case res.StatusCode != http.StatusOK:
		f := readFault(res.StatusCode, res.Header, body, s.cfg.Now())
		return page, media.Errorf(f.code(asked{}), "list models of %s: HTTP status %d: %s", p.Name, res.StatusCode, secrets.Clean(f.message, 300))
	}
	if err := json.Unmarshal(body, &page); partly(err) != nil || err != nil && len(page.Data)+len(page.Models) == 0 {
		return page, media.Errorf(media.CodeBadResponse, "read the models of %s: %w", p.Name, err)
	}
	return page, nil
}

// listPage is a page of models in the form of any provider.
type listPage struct {
	Data          []listItem `json:"data"`   // OpenAI, Anthropic, OpenRouter
	Models        []listItem `json:"models"` // Google, Ollama
	HasMore       bool       `json:"has_more"`
	LastID        string     `json:"last_id"`
	NextPageToken string     `json:"nextPageToken"`
}

type listItem struct {
	ID   string `json:"id"`
	Name string `json:"name"` // models/ID at Google, ID at Ollama
	// ShutDown is a field of OpenAI: a date or Unix seconds.
	ShutDown json.RawMessage `json:"shutdown_date"`
	// Capabilities are an object at Anthropic, and a list of words at Ollama.
	Capabilities json.RawMessage `json:"capabilities"`
	MaxInput     int64           `json:"max_input_tokens"`
	InputLimit   int64           `json:"inputTokenLimit"`
	Context      int64           `json:"context_length"`
	Methods      []string        `json:"supportedGenerationMethods"`
	Architecture struct {
		Input []string `json:"input_modalities"`
	} `json:"architecture"`
}

// vision returns whether the list says that the model accepts pictures; nil if it does not say.
func (i listItem) vision() *bool {
	var words []string
	var object struct {
		ImageInput *struct {
			Supported bool `json:"supported"`
		} `json:"image_input"`
	}
	switch {
	case len(i.Architecture.Input) > 0:
		sees := slices.Contains(i.Architecture.Input, "image")
		return &sees
	case json.Unmarshal(i.Capabilities, &words) == nil && len(words) > 0:
		sees := slices.Contains(words, "vision")
		return &sees
	case json.Unmarshal(i.Capabilities, &object) == nil && object.ImageInput != nil:
		return &object.ImageInput.Supported
	}
	return nil
}

// end returns the day of the shutdown; zero if unknown.
func (i listItem) end() time.Time {
	s := strings.Trim(string(i.ShutDown), `"`)
	if seconds, err := strconv.ParseInt(s, 10, 64); err == nil && seconds > 0 {
		return time.Unix(seconds, 0).UTC().Truncate(24 * time.Hour)
	}
	if len(s) >= len(time.DateOnly) {
		if day, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)]); err == nil {
			return day
		}
	}
	return time.Time{}
}
