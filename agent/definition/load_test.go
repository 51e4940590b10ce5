package definition_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"atelier/agent/definition"
	"atelier/agent/definition/definitiontest"
	"atelier/agents"
	"atelier/media"
)

func TestLoadReportsWhereThingsAreWrong(t *testing.T) {
	t.Parallel()
	head := "slug: a\nname: A\ndescription: Tests.\n"
	tests := map[string]struct{ yaml, want string }{
		"syntax":          {"slug: [", "a.yaml:1:1: this is not valid YAML"},
		"empty":           {"", "a.yaml:1:1: the file is empty"},
		"not a mapping":   {"- x", "a.yaml:1:1: want a mapping"},
		"unknown field":   {head + "modell: x\n", `a.yaml:4:1: unknown field "modell"`},
		"twice":           {head + "name: B\n", `a.yaml:4:1: field "name" is given twice`},
		"bad slug":        {"slug: A b\nname: A\ndescription: x\n", `slug "A b"`},
		"no description":  {"slug: a\nname: A\n", "name and description are required"},
		"bad turns":       {head + "turns: many\n", "a.yaml:4:8: want a whole number"},
		"turns too many":  {head + "turns: 9999\n", "a.yaml:4:8: want a whole number"},
		"actions no list": {head + "actions: Paint\n", "a.yaml:4:10: want a list"},
		"action nameless": {head + "actions:\n  - compact_length: 5\n", "a.yaml:5:5: an action needs a name"},
		"bad mode":        {head + "actions:\n  - name: X\n    result_expiration_mode: Burn\n", `a.yaml:6:29: "Burn" is none of`},
		"action twice":    {head + "actions: [Paint, paint]\n", `a.yaml:4:18: action "paint" is listed twice`},
		"own circle":      {head + "agents: [a]\n", "a.yaml:4:10: agents call each other in a circle: a → a"},
		"bad slug at":     {"name: A\nslug: A b\ndescription: x\n", "a.yaml:2:7: slug"},
		"no slug":         {"name: A\ndescription: x\n", "a.yaml:1:1: slug is required"},
		"two documents":   {head + "---\nslug: b\n", "a.yaml:4:1: a second document begins here"},
		"binary":          {"\x00\x01\x02", "a.yaml:1:1: a.yaml is not UTF-8 text"},
		"latin 1":         {"slug: a\nname: Caf\xe9\n", "is not UTF-8 text"},
		"huge":            {"# " + strings.Repeat("x", 10<<20), "has 10485762 bytes: at most 1048576 are read"},
		"alias":           {head + "chat_models: &m [x]\nimage_models: *m\n", "a.yaml:5:15: aliases such as *m are not supported"},
		"bomb":            {bomb(), "aliases such as"},
		"tab":             {head + "\tturns: 3\n", "this is not valid YAML: found a tab"},
		"schema is text":  {head + "payload_schema: title\n", "a.yaml:4:17: payload_schema: want a JSON Schema"},
		"schema type":     {head + "payload_schema:\n  type: object\n  properties:\n    title: {type: sting}\n", "a.yaml:7:19: payload_schema: is not a JSON Schema"},
		"schema pattern":  {head + "payload_schema:\n  properties:\n    title: {pattern: '('}\n", "a.yaml:6:22: payload_schema: is not a JSON Schema"},
		"schema of text":  {head + "payload_schema: {type: string}\n", "a.yaml:4:17: payload_schema: a payload is always an object"},
		"schema fetched":  {head + "payload_schema: {$ref: 'https://example.com/x.json'}\n", "https://example.com/x.json is not read"},
		"schema file":     {head + "payload_schema: {$ref: 'file:///etc/passwd'}\n", "file:///etc/passwd is not read"},
		"schema beside":   {head + "payload_schema: {$ref: 'other.json'}\n", "other.json is not read"},
		"schema no def":   {head + "payload_schema: {$ref: '#/$defs/nothing'}\n", "a.yaml:4:17: payload_schema:"},
		"schema large":    {head + "payload_schema: {description: " + strings.Repeat("x ", 40<<10) + "}\n", "at most 32768"},
		"base64":          {head + "prompt: a.md\n# " + strings.Repeat("iVBORw0KGgoA", 24) + "\n", "line 5 of a.yaml contains media as base64: remove it"},
		"no prompt":       {head + "prompt: nowhere.md\n", "a.yaml:4:9: prompt: nowhere.md cannot be read: there is no such file"},
		"empty prompt":    {head + "prompt: empty.md\n", "a.yaml:4:9: prompt: empty.md is empty"},
		"prompt a folder": {head + "prompt: .\n", "a.yaml:4:9: prompt: . cannot be read: it is not a file"},
		"prompt binary":   {head + "prompt: binary.md\n", "a.yaml:4:9: prompt: binary.md is not UTF-8 text"},
		"prompt rooted":   {head + "prompt: /etc/passwd\n", "a.yaml:4:9: prompt: /etc/passwd cannot be read"},
		"prompt outside":  {head + "prompt: ../x.md\n", "cannot be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := definition.Load(fstest.MapFS{
				"a.yaml": {Data: []byte(tt.yaml)}, "a.md": {Data: []byte("A.")}, "empty.md": {Data: []byte(" \n")}, "binary.md": {Data: []byte("\xff\xfe")},
			})
			if media.CodeOf(err) != media.CodeInvalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// definitions returns agent files by slug, from the rest of their YAML, each with a prompt.
func definitions(agents map[string]string) fstest.MapFS {
	f := fstest.MapFS{}
	for slug, yaml := range agents {
		f[slug+".yaml"] = &fstest.MapFile{Data: []byte("slug: " + slug + "\nname: " + strings.ToUpper(slug[:1]) + slug[1:] + "\ndescription: Tests.\n" + yaml)}
		f[slug+".md"] = &fstest.MapFile{Data: []byte("You are " + slug + ".")}
	}
	return f
}

// bomb returns a small file whose aliases expand to gigabytes.
func bomb() string {
	b := "slug: a\nname: A\ndescription: x\nz0: &z0 [x, x]\n"
	for i := range 40 {
		b += fmt.Sprintf("z%d: &z%d [*z%d, *z%d]\n", i+1, i+1, i, i)
	}
	return b
}

func TestLoadTellsAllProblems(t *testing.T) {
	t.Parallel()
	f := definitions(map[string]string{
		"a": "turns: 0\nagents: [b, c]\nmodell: x\n", "b": "agents: [a]\nactions: [Fly]\nrequires: [files, disk]\n", "d": "actions: [Web Search, paint]\n",
	})
	defs, problems := definition.Check(definition.Catalogue{Actions: map[string]string{"Paint": "", "Web Search": "web"}, Sources: []string{"tides"}}, definition.Folder{Name: "my/agents", Files: f})
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	want := []string{
		"my/agents/a.yaml:4:8: want a whole number from 1 to 200 here, not \"0\"",
		"my/agents/a.yaml:5:13: agent \"c\" is not known: there are a, b, d",
		"my/agents/a.yaml:6:1: unknown field \"modell\"",
		"my/agents/b.yaml:4:10: agents call each other in a circle: a → b → a",
		"my/agents/b.yaml:5:11: unknown action \"Fly\": use one of Paint, Web Search",
		"my/agents/b.yaml:6:19: requires: \"disk\" is not a source: use files, web, db, kb, tides",
		"my/agents/d.yaml:4:11: action \"Web Search\" needs the source web: add it to requires",
	}
	if len(got) != len(want) || len(defs) != 3 {
		t.Fatalf("got %d agents and %q", len(defs), got)
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("problem %d is %q, want %q", i, got[i], w)
		}
	}
	if c := problems[3]; !c.Concerns("my/agents/a.yaml") || !c.Concerns("my/agents/b.yaml") || c.Concerns("my/agents/d.yaml") {
		t.Error("a circle concerns the files it goes through, and no others")
	}
	_, err := definition.LoadFolders(definition.Folder{Name: "my/agents", Files: f})
	var e *definition.Error
	if media.CodeOf(err) != media.CodeInvalid || !errors.As(err, &e) || len(e.Problems) != 3 {
		t.Errorf("got %v", err)
	}
}

func TestLoadTakesWhatEditorsWrite(t *testing.T) {
	t.Parallel()
	yaml := "\ufeffslug: a\r\nname: A\r\ndescription: >\r\n  Über\r\n  Dinge.\r\n"
	defs, err := definition.Load(fstest.MapFS{"a.yml": {Data: []byte(yaml)}, "a.md": {Data: []byte("\ufeffLine 1\r\nLine 2\r\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if d := defs.All()[0]; d.Prompt != "Line 1\nLine 2" || d.Description != "Über Dinge." || d.File != "a.yml" {
		t.Errorf("got %+v", d)
	}
}

func TestNamesAreOfOneAgent(t *testing.T) {
	t.Parallel()
	f := definitions(map[string]string{"painter": "", "writer": ""})
	f["writer.yaml"].Data = []byte("slug: writer\nname: Painter\ndescription: x\n")
	if _, err := definition.Load(f); err == nil || !strings.Contains(err.Error(), `writer.yaml:1:1: agent writer is called "Painter" like agent painter`) {
		t.Errorf("got %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("slug: a\nname: A\ndescription: x\nactions: [x, {name: y}]\nagents: [{slug: b, input: z}]\n")
	f.Add("slug: a\npayload_schema: {type: [object, 3], properties: {a: {$ref: '#'}}}\n")
	f.Add(bomb())
	f.Fuzz(func(t *testing.T, text string) {
		files := fstest.MapFS{"a.yaml": {Data: []byte(text)}, "a.md": {Data: []byte("A.")}}
		defs, problems := definition.Check(definition.Catalogue{}, definition.Folder{Files: files})
		for _, p := range problems {
			if p.File != "a.yaml" || p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Errorf("a problem without a place: %+v", p)
			}
		}
		if len(problems) == 0 && (len(defs) != 1 || defs[0].Hash == "") {
			t.Errorf("no problem and no agent: %v", defs)
		}
	})
}

func TestLoadOverrides(t *testing.T) {
	t.Parallel()
	base := definitions(map[string]string{"painter": "actions: [Paint]\n", "writer": ""})
	own := definitions(map[string]string{"painter": "turns: 3\n"})
	defs, err := definition.Load(base, own)
	if err != nil {
		t.Fatal(err)
	}
	d, err := defs.Find("PAINTER")
	if err != nil || d.Turns != 3 || len(d.Actions) != 0 || len(defs.All()) != 2 {
		t.Errorf("got %+v, %v", d, err)
	}
	if w, _ := defs.Find("writer"); w.Turns != 20 || w.Prompt != "You are writer." || len(w.Hash) != 64 {
		t.Errorf("got %+v", w)
	}
	if _, err := defs.Find("x"); media.CodeOf(err) != media.CodeNotFound || !strings.Contains(err.Error(), "painter, writer") {
		t.Errorf("got %v", err)
	}
}

func TestLongCircleAndDuplicates(t *testing.T) {
	t.Parallel()
	_, err := definition.Load(definitions(map[string]string{"a": "agents: [b]\n", "b": "agents: [c]\n", "c": "agents: [a]\n"}))
	if err == nil || !strings.Contains(err.Error(), "a → b → c → a") {
		t.Errorf("got %v", err)
	}
	f := definitions(map[string]string{"a": ""})
	f["z.yaml"] = f["a.yaml"]
	if _, err := definition.Load(f); err == nil || !strings.Contains(err.Error(), "already defined in a.yaml at line 1") {
		t.Errorf("got %v", err)
	}
}

func TestShippedAgents(t *testing.T) {
	t.Parallel()
	defs, err := definition.Load(agents.FS())
	if err != nil {
		t.Fatal(err)
	}
	var slugs []string
	for _, d := range defs.All() {
		slugs = append(slugs, d.Slug)
		for _, a := range d.Agents {
			if _, err := defs.Find(a.Slug); err != nil {
				t.Errorf("%s: %v", d.Slug, err)
			}
		}
		if len(d.Prompt) < 500 {
			t.Errorf("%s has a prompt of %d bytes", d.Slug, len(d.Prompt))
		}
	}
	if got := strings.Join(slugs, " "); got != "database-research-agent file-research-agent infographic-agent kb-research-agent research-agent research-report-writer sage web-research-agent" {
		t.Errorf("shipped: %s", got)
	}
	writer, err := defs.Find("Research Report Writer")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"${media:REF}", "alt", "figcaption", "1536x1024", "Sources", "Generate Image", "Create SVG Chart"} {
		if !strings.Contains(writer.Prompt, want) {
			t.Errorf("the writer's prompt lacks %q", want)
		}
	}
}

// TestKeysAreDocumented compares the documented keys with those that the reader lists when it refuses one.
func TestKeysAreDocumented(t *testing.T) {
	t.Parallel()
	documented := map[string]string{}
	for _, k := range definitiontest.Keys() {
		where, key, _ := strings.Cut(strings.ReplaceAll(k.Path, "[]", ""), ".")
		if key == "" {
			where, key = "", where
		}
		documented[where] += " " + key
		if k.Type == "" || k.Default == "" || !strings.HasSuffix(k.Description, ".") {
			t.Errorf("key %s is not described", k.Path)
		}
	}
	for where, yaml := range map[string]string{"": "zzz: 1\n", "actions": "actions: [{name: Paint, zzz: 1}]\n", "agents": "agents: [{slug: painter, zzz: 1}]\n", "vision_context": "vision_context: {zzz: 1}\n"} {
		_, err := definition.Load(definitions(map[string]string{"painter": yaml}))
		_, list, ok := strings.Cut(fmt.Sprint(err), `unknown field "zzz": use `)
		if !ok {
			t.Fatalf("got %v", err)
		}
		list, _, _ = strings.Cut(list, "\n")
		known := strings.Split(list, ", ")
		have := strings.Fields(documented[where])
		slices.Sort(have)
		if !slices.Equal(known, have) {
			t.Errorf("%q: the reader knows %v, Keys documents %v", where, known, have)
		}
	}
}
