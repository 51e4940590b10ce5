package chattest

import (
	"bytes"
	"embed"
	"fmt"
	"image"
	_ "image/gif"  // pictures come so
	_ "image/jpeg" // pictures come so
	_ "image/png"  // pictures come so
	"net/http"

	"atelier/internal/sim"
)

// documented holds what services document of their request bodies, by dialect.
//
//go:embed schema/*.json
var documented embed.FS

// contract is what services document, by dialect.
var contract = sim.Contract{Files: documented}

// consistent tells what services find out about messages that a schema does not say: a
// picture whose bytes are of another type than is said, or roles that do not take turns.
func consistent(d Dialect, messages []Message) error {
	last := ""
	for i, m := range messages {
		if d == DialectBedrock && m.Role == last {
			return fmt.Errorf("messages.%d: roles must alternate, and %s comes twice", i, m.Role)
		}
		last = m.Role
		for _, p := range m.Images {
			if p.found != "application/octet-stream" && p.found != p.MIMEType {
				return fmt.Errorf("messages.%d: the image was said to be %s, but is %s", i, p.MIMEType, p.found)
			}
		}
	}
	return nil
}

// look reads what the bytes of a picture are.
func look(b []byte) (kind string, width, height int) {
	kind = http.DetectContentType(b)
	if c, _, err := image.DecodeConfig(bytes.NewReader(b)); err == nil {
		width, height = c.Width, c.Height
	}
	return kind, width, height
}
