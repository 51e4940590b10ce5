package atelier

import (
	"encoding/json"
	"testing"

	"atelier/media"
)

// TestSettings: a saved setting can be read, even with fields of later versions, and is written with the same fields.
func TestSettings(t *testing.T) {
	t.Parallel()
	if s, err := readSetting(nil); err != nil || s != (setting{}) {
		t.Errorf("nothing: %+v, %v", s, err)
	}
	saved := json.RawMessage(`{"files":"/data","kb":"/kb","db":"sqlite:x","db_secret_id":"7","agents":"/own","model":"a","image_model":"b","of_a_later_version":1}`)
	want := setting{SecretID: "7", Sources: Sources{Files: "/data", Knowledge: "/kb", Database: "sqlite:x", Agents: "/own", ChatModel: "a", ImageModel: "b"}}
	for range 2 {
		s, err := readSetting(saved)
		if err != nil || s != want {
			t.Errorf("read %+v, %v", s, err)
		}
		if saved, err = json.Marshal(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{`{`, `[]`, `{"files":1}`} {
		if _, err := readSetting(json.RawMessage(bad)); media.CodeOf(err) != media.CodeCorrupt {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
