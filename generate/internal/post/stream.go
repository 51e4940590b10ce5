package post

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"atelier/media"
)

// frameLimit bounds one event after its picture was lifted out of it.
const frameLimit = 1 << 20

// IsEvents reports whether the answer is a stream of server-sent events. A server that
// does not stream answers the same request with plain JSON.
func (s *Stream) IsEvents() bool {
	t, _, err := mime.ParseMediaType(s.Header.Get("Content-Type"))
	return err == nil && s.Status == http.StatusOK && t == "text/event-stream"
}

// Events reads a stream of events in JSON to its end and closes it. An error of each ends
// it and is returned; io.EOF ends it well. A stream that ends inside of an event is
// io.ErrUnexpectedEOF.
func (c *Client) Events(s *Stream, each func(data []byte) error) error {
	defer func() { _ = s.Body.Close() }()
	lines := bufio.NewScanner(s.Body)
	lines.Buffer(make([]byte, 0, 16<<10), frameLimit)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok || strings.TrimSpace(data) == "[DONE]" {
			continue
		}
		if !json.Valid([]byte(data)) {
			if !lines.Scan() { // the last line, so it was cut off
				return io.ErrUnexpectedEOF
			}
			return media.Errorf(media.CodeBadResponse, "the stream of %s holds an event that is not JSON; the call may have been billed", c.Name)
		}
		if err := each([]byte(data)); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return media.Errorf(media.CodeTooLarge, "an event in the stream of %s is longer than %d MiB beside its media", c.Name, frameLimit>>20)
	}
	return lines.Err()
}
