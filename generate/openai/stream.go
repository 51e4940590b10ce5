package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"atelier/generate/internal/post"
	"atelier/media/wire"
)

// event is one frame of a stream.
type event struct {
	Type string `json:"type"`
	datum
	answer
	Error *apiError `json:"error"`
	// Index counts the previews of a picture, from 0.
	Index int `json:"partial_image_index"`
}

// frame reads one event; those of other types tell nothing. An error event nests the error
// or is it.
func (d *Driver) frame(call post.Call, from *wire.Collector, data []byte) (post.Frame, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return post.Frame{}, err
	}
	switch said := e.Error; {
	case said == nil && e.Type == "error":
		said = &apiError{}
		if err := json.Unmarshal(data, said); err != nil {
			return post.Frame{}, err
		}
		fallthrough
	case said != nil:
		f := said.fault(http.StatusOK)
		return post.Frame{Fault: &f}, nil
	case strings.HasSuffix(e.Type, ".partial_image"):
		return post.Preview(from, e.B64JSON, e.Index), nil
	case strings.HasSuffix(e.Type, ".completed"):
		e.Data = []datum{e.datum}
		u, err := d.answered(call, from, e.answer)
		return post.Frame{Results: u}, err
	}
	return post.Frame{}, nil
}
