// Package agents holds the agents that ship with Atelier: one YAML file and one
// Markdown prompt for each. Package agent loads them; a directory of the user's own
// can replace any of them by slug. It has no errors and imports nothing of Atelier.
package agents

import "embed"

//go:embed *.yaml *.md
var files embed.FS

// FS returns the shipped definitions and prompts.
func FS() embed.FS { return files }
