package chattest

import (
	"bytes"
	"embed"
	"fmt"
	"image"
	_ "image/gif"  // decode pictures
	_ "image/jpeg" // decode pictures
	_ "image/png"  // decode pictures
	"net/http"

	"atelier/internal/sim"
)

// documented holds the documented schemas of request bodies, by dialect.
//
//go:embed schema/*.json
var documented embed.FS

// contract checks requests against the documented schemas, by dialect.
var contract = sim.Contract{Files: documented}

// consistent checks what services check but a schema does not express: the declared type of a picture must match its
// bytes, and with Bedrock the roles must alternate.
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

// look detects the type and the size of a picture from its bytes.
func look(b []byte) (kind string, width, height int) {
	kind = http.DetectContentType(b)
	if c, _, err := image.DecodeConfig(bytes.NewReader(b)); err == nil {
		width, height = c.Width, c.Height
	}
	return kind, width, height
}
