package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"atelier/api"
	"atelier/media"
)

// maxEventLine is the maximum length of a line in a stream.
const maxEventLine = 16 << 20

// eventReader reads a stream of server-sent events in the form that the server writes.
type eventReader struct {
	lines *bufio.Scanner
	// last is the id after which the stream can be resumed; -1 until one was read.
	last int64
}

func newEventReader(r io.Reader) *eventReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), maxEventLine)
	return &eventReader{lines: lines, last: -1}
}

// next returns the next event. At the end of the stream, the error is io.EOF; an incomplete event is dropped.
func (r *eventReader) next() (e api.Event, err error) {
	given := false // the event has an id, which is 0 if nothing was saved yet
	for r.lines.Scan() {
		name, value, _ := bytes.Cut(r.lines.Bytes(), []byte(": "))
		switch string(name) {
		case "id":
			id, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				return e, media.Errorf(media.CodeBadResponse, "an event has the id %.40q", media.ErrorText(string(value)))
			}
			e.ID, given = id, true
		case "event":
			e.Kind = string(value)
		case "data":
			e.Data = bytes.Clone(value)
		case "":
			if given {
				r.last = e.ID
			}
			if e.Kind != "" {
				if err := json.Unmarshal(e.Data, &e); err != nil {
					return e, media.Errorf(media.CodeBadResponse, "read the data of an event %.40s: %s", e.Kind, media.ErrorText(err.Error()))
				}
				return e, nil
			}
			e, given = api.Event{}, false
		}
	}
	if err := r.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return api.Event{}, media.Errorf(media.CodeTooLarge, "an event has more than %d bytes", maxEventLine)
	} else if err != nil {
		return api.Event{}, err
	}
	return api.Event{}, io.EOF
}
