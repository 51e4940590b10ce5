package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"atelier"
	"atelier/chat/chattest"
)

func TestForecast(t *testing.T) {
	t.Parallel()
	model := &chattest.Simulator{Answer: func(r chattest.Request) string {
		if strings.Contains(r.Messages[len(r.Messages)-1].Text, "17.5") {
			return `{"reasoning":"known","message":"It is 17.5 °C in Lyon.","done":true}`
		}
		return `{"reasoning":"look","actions":[{"name":"Get Weather","params":{"Town":"Lyon"}}],"done":false}`
	}}
	srv := httptest.NewServer(model)
	defer srv.Close()
	var out strings.Builder
	config := atelier.Config{Dir: t.TempDir(), Keys: map[string]string{"openai": "sk-of-a-test"}, BaseURLs: map[string]string{"openai": srv.URL + "/v1"}, ChatModel: "gpt-5.4"}
	if err := forecast(t.Context(), config, "How warm is it in Lyon?", &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  action-started\n  action-finished\n", "  run-succeeded\n", "It is 17.5 °C in Lyon.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
