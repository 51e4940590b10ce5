package main

import (
	"encoding/json"
	"os"
	"strings"

	"atelier/action"
	"atelier/media"
)

// toolContext parses the flags --tool-context; a later value overrides an earlier one of the same name.
func toolContext(flags []string) (action.ToolContext, error) {
	if len(flags) == 0 {
		return nil, nil
	}
	all := action.ToolContext{}
	for i, flag := range flags {
		if file, ok := strings.CutPrefix(flag, "@"); ok {
			b, err := os.ReadFile(file) //nolint:gosec // the user names the file
			if err != nil {
				return nil, media.Errorf(media.CodeInvalid, "--tool-context: %w", err)
			}
			var values map[string]json.RawMessage
			if json.Unmarshal(b, &values) != nil || values == nil {
				return nil, media.Errorf(media.CodeInvalid, "--tool-context: %s does not contain a JSON object: write {\"name\": value, …}", file)
			}
			for name, v := range values {
				all[name] = v
			}
			continue
		}
		name, text, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return nil, media.Errorf(media.CodeInvalid, "--tool-context number %d is neither NAME=TEXT nor @FILE", i+1)
		}
		b, err := json.Marshal(text)
		if err != nil {
			return nil, media.Errorf(media.CodeInternal, "write a value: %w", err)
		}
		all[name] = b
	}
	return all, all.Check()
}
