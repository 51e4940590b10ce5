package setting_test

import (
	"encoding/json"
	"testing"

	"atelier/internal/setting"
	"atelier/media"
)

// TestSettings: a saved setting can be read, even with fields of later versions; a fork changes only its model.
func TestSettings(t *testing.T) {
	t.Parallel()
	if s, err := setting.Read(nil); err != nil || s != (setting.Setting{}) {
		t.Errorf("nothing: %+v, %v", s, err)
	}
	saved := json.RawMessage(`{"files":"/data","db":"sqlite:x","db_secret_id":"7","model":"a","of_a_later_version":1}`)
	forked, err := setting.WithChatModel("b")(saved)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := setting.Read(forked); err != nil || s != (setting.Setting{Files: "/data", DB: "sqlite:x", SecretID: "7", Model: "b"}) {
		t.Errorf("forked: %+v, %v", s, err)
	}
	for _, bad := range []string{`{`, `[]`, `{"files":1}`} {
		if _, err := setting.Read(json.RawMessage(bad)); media.CodeOf(err) != media.CodeCorrupt {
			t.Errorf("%s: %v", bad, err)
		}
		if _, err := setting.WithChatModel("b")(json.RawMessage(bad)); media.CodeOf(err) != media.CodeCorrupt {
			t.Errorf("fork of %s: %v", bad, err)
		}
	}
}
