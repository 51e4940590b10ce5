// Package workflows holds three example workflows; `atelier workflow list` shows them.
package workflows

import "embed"

//go:embed *.yaml
var files embed.FS

// FS returns the definitions.
func FS() embed.FS { return files }
