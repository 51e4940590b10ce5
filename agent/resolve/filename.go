package resolve

import (
	"strings"

	"atelier/media"
)

// FileName makes a file name for an item from its label and ref, safe on every
// system: lower case letters, digits and dashes, and the extension of its type.
func FileName(o media.Output) string {
	var b strings.Builder
	for _, c := range strings.ToLower(o.Label) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 48 {
			break
		}
	}
	name := strings.Trim(b.String(), "-")
	if name != "" {
		name += "-"
	}
	return name + string(o.Ref) + extension(o.MIMEType)
}

func extension(mimeType string) string {
	switch mimeType {
	case "image/jpeg":
		return ".jpg"
	case "image/svg+xml":
		return ".svg"
	case "image/png", "image/gif", "image/webp", "image/bmp", "image/avif", "audio/flac", "audio/ogg", "audio/aac", "video/mp4", "video/webm":
		_, sub, _ := strings.Cut(mimeType, "/")
		return "." + sub
	case "audio/mpeg":
		return ".mp3"
	case "audio/wav", "audio/x-wav", "audio/wave":
		return ".wav"
	case "video/quicktime":
		return ".mov"
	case "application/pdf":
		return ".pdf"
	case "application/json":
		return ".json"
	case "text/html":
		return ".html"
	case "text/markdown":
		return ".md"
	case "text/plain":
		return ".txt"
	}
	return ".bin"
}
