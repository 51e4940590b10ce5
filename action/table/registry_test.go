package table

import (
	"encoding/json"
	"testing"

	"atelier/media/wire/wiretest"

	"github.com/google/go-cmp/cmp"

	"atelier/action"
	"atelier/media"
)

// TestWhatModelsSee calls the actions as agents do, through the registry and its interceptor.
func TestWhatModelsSee(t *testing.T) {
	t.Parallel()
	codec := wiretest.NewCodec(t)
	registry, err := action.NewRegistry(action.Config{Store: codec})
	if err != nil {
		t.Fatal(err)
	}
	tables := folder(t, map[string]string{"sales.csv": "region;Umsatz (€);Tag\nNord;1,5;31.12.2024\nSüd;siehe Blatt;\nOst;2,5;01.01.2025\nWest;3;02.01.2025\n", "empty.csv": ""})
	if err := registry.Register(tables.Actions()...); err != nil {
		t.Fatal(err)
	}
	ctx := media.WithScope(t.Context(), media.Scope{Owner: "me", Tree: "run-1"})
	invoke := func(name string, params map[string]any) string {
		out := registry.Invoke(ctx, name, params, action.Env{Media: &media.Set{}})
		b, err := json.Marshal(out.Outputs)
		if err != nil || !out.Success {
			t.Fatalf("%s: %v, %s", name, err, out.Message)
		}
		return string(b)
	}
	want := `{"notRead":[{"path":"empty.csv","reason":"the file is empty"}],"tables":[{"columns":[` +
		`{"distinct":4,"missing":0,"name":"region","type":"text","unusable":0,"values":["Nord","Ost","Süd","West"]},` +
		`{"distinct":3,"max":3,"min":1.5,"missing":0,"name":"Umsatz (€)","type":"number","unit":"€","unusable":1,"unusableValues":["siehe Blatt"]},` +
		`{"distinct":3,"max":"2025-01-02","min":"2024-12-31","missing":1,"name":"Tag","type":"date","unusable":0}],` +
		`"name":"sales","path":"sales.csv","rowCount":4,"sampleRows":[["Nord",1.5,"2024-12-31"],["Süd",null,null],["Ost",2.5,"2025-01-01"],["West",3,"2025-01-02"]]}],"totalCount":1}`
	if d := cmp.Diff(want, invoke("Describe Tables", nil)); d != "" {
		t.Errorf("Describe Tables (-want +got):\n%s", d)
	}
	want = `{"columns":["region","n"],"rowCount":2,"rows":[["Nord",1.5],["Süd",null]],"statement":"SELECT region, \"Umsatz (€)\" AS n FROM sales LIMIT 2","tables":[{"name":"sales","path":"sales.csv"}],"truncated":false}`
	if d := cmp.Diff(want, invoke("Query Tables", map[string]any{"SQL": `SELECT region, "Umsatz (€)" AS n FROM sales LIMIT 2;`})); d != "" {
		t.Errorf("Query Tables (-want +got):\n%s", d)
	}
}
