package chat_test

import (
	"context"
	"fmt"
	"testing"

	"atelier/chat"
	"atelier/chat/offline"
)

// TestModelsOfAnyName: the models that callers name are opened once, and not kept without bound.
func TestModelsOfAnyName(t *testing.T) {
	t.Parallel()
	profiles, err := chat.LoadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	opened := map[string]int{}
	r, err := chat.NewRegistry(chat.Config{
		Profiles: profiles, Keys: map[string]string{"openai": "key"}, Offline: offline.Model{},
		Open: func(_ context.Context, f chat.Profile) (chat.Model, error) {
			opened[f.ID]++
			return offline.Model{}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2500 {
		for range 2 {
			if _, err := r.Named(t.Context(), fmt.Sprintf("openai/own-%d", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(opened) != 2500 || opened["own-0"] != 1 || opened["own-2499"] != 1 {
		t.Errorf("%d models opened, the first %d times", len(opened), opened["own-0"])
	}
	if _, err := r.Named(t.Context(), "openai/own-0"); err != nil || opened["own-0"] != 2 {
		t.Errorf("after many others, the first was opened %d times, %v", opened["own-0"], err)
	}
}
