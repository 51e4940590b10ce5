package atelier

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"atelier/chat"
	"atelier/chat/fantasy"
	"atelier/generate"
	"atelier/generate/gateway"
	offlineimage "atelier/generate/provider/offline"
	"atelier/media"
)

// maxAddition is the maximum size of a file of additions, in bytes.
const maxAddition = 16 << 20

// loadWithAdditions loads the shipped rows and the operator's additions: the file at path, or each .yaml or .yml file
// in that folder. Errors name the variable.
func loadWithAdditions[T any](variable, path string, load func(...io.Reader) (*T, error)) (*T, error) {
	if path == "" {
		return load()
	}
	files := []string{path}
	if entries, err := os.ReadDir(path); err == nil {
		files = nil
		for _, e := range entries {
			if ext := strings.ToLower(filepath.Ext(e.Name())); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	var readers []io.Reader
	for _, name := range files {
		var b []byte
		info, err := os.Stat(name)
		switch {
		case err != nil:
		case !info.Mode().IsRegular() || info.Size() > maxAddition:
			err = media.Errorf(media.CodeInvalid, "%s is not a file of at most 16 MiB", name)
		default:
			b, err = os.ReadFile(name) //nolint:gosec // the operator chose the file
		}
		if err != nil {
			return nil, media.Errorf(media.CodeInvalid, "%s: %w: name a YAML file or a folder of them", variable, err)
		}
		readers = append(readers, bytes.NewReader(b))
	}
	own, err := load(readers...)
	if err != nil {
		return nil, media.Errorf(media.CodeInvalid, "read %s (%s): %w", variable, path, err)
	}
	return own, nil
}

// chatService creates the client of the chat model providers.
func (a *Atelier) chatService(profiles *chat.Profiles) (*fantasy.Service, error) {
	return fantasy.New(fantasy.Config{Profiles: profiles, Keys: a.Config.Keys, BaseURLs: a.Config.BaseURLs, Codec: a.Codec})
}

// ListChatModels requests a provider's list of chat models. The request is free. The error has code
// media.CodeUnsupported for a provider whose list cannot be read, media.CodeMissingKey, or the code of the failed call.
func (a *Atelier) ListChatModels(ctx context.Context, provider string) ([]chat.Listed, error) {
	s, err := a.chatService(a.Chat.Profiles())
	if err != nil {
		return nil, err
	}
	return s.List(ctx, provider)
}

// painter tells the offline chat model which words the offline painter can draw. If another model makes the pictures,
// every word is accepted.
type painter struct {
	offlineimage.Painter
	gateway *gateway.Gateway
	model   string // chosen by a person; empty for the default
}

// UnknownWords returns the words of a prompt that are not drawn.
func (p painter) UnknownWords(prompt string) []string {
	if p.isSelected() {
		return p.Painter.UnknownWords(prompt)
	}
	return nil
}

// UnknownChanges returns the words of an edit that are not applied.
func (p painter) UnknownChanges(change string) []string {
	if p.isSelected() {
		return p.Painter.UnknownChanges(change)
	}
	return nil
}

// isSelected reports whether the offline painter makes the pictures.
func (p painter) isSelected() bool {
	r := generate.Request{Prompt: "x"}
	if p.model != "" {
		r.Prefer = []string{p.model}
	}
	plan, err := p.gateway.Plan(context.Background(), r)
	return err == nil && plan.Model.Provider == offlineimage.Provider
}
