package action
import ("testing";"strings";"encoding/json";"encoding/base64";"encoding/hex";"net/url")
func TestZZ(t *testing.T) {
	pic := noise(t, 150, 150, 77)
	s := b64(pic)
	chunks := []any{}
	for i := 0; i < len(s); i += 4000 { chunks = append(chunks, s[i:min(len(s), i+4000)]) }
	for name, v := range map[string]any{
		"plain": s, "prose": "see "+s+" end", "path": "see https://cdn.example/"+s+" end", "dirpath": "data/"+s, "dash": "a-"+s, "eq": "file="+s, "chunks": chunks,
		"fold76": fold(s, "\n"), "foldprose": "x\n"+fold(s, "\r\n")+"\ny", "url": base64.URLEncoding.EncodeToString(pic), "raw": base64.RawStdEncoding.EncodeToString(pic),
		"offset1": "see "+base64.StdEncoding.EncodeToString(pic[1:])+" end", "offsetwhole": base64.StdEncoding.EncodeToString(pic[1:]), "esc": strings.ReplaceAll(s, "/", `\/`), "esc2": "x "+strings.ReplaceAll(s, "/", `\/`),
		"u002f": "x "+strings.ReplaceAll(s, "/", `\u002f`), "jsonInJSON": func() string { b,_ := json.Marshal(map[string]string{"a": s}); c,_ := json.Marshal(string(b)); return string(c) }(),
		"xml": "<img>"+s+"</img>", "query": "x="+url.QueryEscape(s), "hex": hex.EncodeToString(pic), "spaces": strings.Join(strings.SplitAfter(fold(s,"\n"), "\n"), " "),
		"indent": "x:\n"+strings.ReplaceAll("\n"+fold(s, "\n"), "\n", "\n    "), "dataurlupper": "DATA:image/png;BASE64,"+s, "datacharset":"x data:image/png;charset=utf-8;base64,"+s+" y", "comma": "image,"+s, "bytesarr": func() any { o := make([]int, len(pic)); for i, b := range pic { o[i] = int(b) }; return o }(),
		"backtick": "```\n"+s+"\n```", "quoted": `he said "`+base64.StdEncoding.EncodeToString(pic[1:])+`"`, "single": `'`+base64.StdEncoding.EncodeToString(pic[1:])+`'`, "xmlunsigned": "<img>"+base64.StdEncoding.EncodeToString(pic[1:])+"</img>",
	} {
		r := newRoom(t, nil, giving(Param{Name: "X", Direction: Output, ValueType: Other}, v))
		out := r.run(t, "Give", nil)
		b, _ := json.Marshal(out)
		text := string(b)
		leak := 0
		for i := 0; i+48 <= len(s); i += 4 { if strings.Contains(text, s[i:i+48]) { leak++ } }
		t.Logf("%-14s media=%d leaks=%d len=%d %s", name, len(out.Media), leak, len(text), clip(text, 160))
	}
}
