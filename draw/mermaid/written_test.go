package mermaid_test

import (
	"testing"

	"atelier/draw/mermaid"
	"atelier/draw/svgtest"
)

// written returns sources as models write them: with directives, classes, breaks, quotes, semicolons, comments and
// styles.
func written() map[string]string {
	return map[string]string{
		"flow with directive": "%%{init: {'theme': 'base', 'themeVariables': { 'primaryColor': '#ff0000'}}}%%\nflowchart TD\n  A[Start]:::green --> B{Is it<br/>working?}\n  B -- Yes --> C[\"Great! (really)\"];\n  B -->|No| D[Debug #amp; fix];\n  D --> B;\n  classDef green fill:#9f6,stroke:#333,stroke-width:2px;\n  class A,C green;\n  style B fill:#f9f,stroke:#333\n  linkStyle 0 stroke:#ff3,stroke-width:4px\n  click A \"https://example.com\" \"Tip\"\n  %% the end",
		"flow over lines":     "%%{init: {\n  'theme': 'dark'\n}}%%\ngraph LR;\n  A([\"Ünïcode – 日本\"]) ==> B[(Database)] & C[[Sub]];\n  B -.-> D((Circle)); C -. maybe .-> D\n  D <--> E{{Hex}}\n  E --o F>Flag]\n  E --x G[/Slant/]\n  G ~~~ H(((Double)))\n  A --> |\"quoted (text)\"| H",
		"flow with subgraphs": "flowchart TB\n  subgraph one [\"First group (A)\"]\n    direction LR\n    a1 --> a2\n  end\n  subgraph two[Second]\n    b1 --> b2\n    subgraph inner\n      c1\n    end\n  end\n  one --> two\n  a1 --> b2\n  style one fill:#eee",
		"flow with keywords":  "flowchart LR\n    User -->|clicks| UI[\"Web UI\"]\n    UI --> API[\"API (v2) #1\"]\n    API --> end1[End]\n    A@{ shape: cyl, label: \"Store\" } e1@--> API\n    B[\"`**bold** text`\"] --> A\n    e1@{ animate: true }\n",
		"flow dashed ids":     "flowchart TD\n  step-1[\"One\"] --> step-2[\"Two\"]\n  step-2 --> step_3[\"Three: a, b; c\"]\n  step_3-->step.4\n  step-1---step.4",
		"sequence":            "%%{init: {'theme':'forest'}}%%\nsequenceDiagram\n  autonumber\n  actor U as User<br/>(browser)\n  participant S as \"Server\"\n  box Aqua Group\n  participant D as DB\n  end\n  U->>+S: GET /items?id=1;\n  S->>+D: SELECT * FROM t\n  D-->>-S: rows\n  alt found\n    S-->>U: 200 OK\n  else missing\n    S-->>U: 404\n  end\n  opt cached\n    U->>U: reuse\n  end\n  loop every minute\n    U-)S: ping\n  end\n  par a\n    S->>D: x\n  and b\n    S->>D: y\n  end\n  critical connect\n    S->>D: z\n  option timeout\n    S->>S: log\n  end\n  break when down\n    S-->>U: 503\n  end\n  rect rgb(191, 223, 255)\n  Note over U,S: A note<br>on two lines\n  end\n  Note right of D: side\n  create participant X\n  S->>X: new\n  destroy X\n  S-xX: bye\n  deactivate S\n  links U: {\"a\": \"https://x\"}\n",
		"pie":                 "pie showData title Pets\n  \"Dogs\" : 386\n  'Cats' : 85.5\n  Rats : 15%\n",
		"pie with title":      "%%{init: {\"pie\": {\"textPosition\": 0.5}} }%%\npie\n  title Budget, 2024 (M€)\n  \"R&D\" : 1,200\n  \"Sales; marketing\" : 85.9",
		"class":               "classDiagram\n  direction LR\n  note \"From Duck till Zebra\"\n  Animal <|-- Duck\n  note for Duck \"can fly\\ncan swim\"\n  Animal : +int age\n  Animal : +isMammal()\n  class Duck{\n    +String beakColor\n    +swim()\n    +quack() void\n    -List~int~ eggs\n  }\n  class Shape~T~ {\n    <<interface>>\n    draw(x: int, y: int) bool*\n  }\n  <<enumeration>> Color\n  namespace Farm {\n    class Barn\n  }\n  Duck \"1\" --> \"*\" Shape~T~ : has\n  Duck ..|> Shape\n  Barn *-- Duck\n  Barn o-- Color\n  Color ..> Duck : depends\n  class Duck:::styled\n  classDef styled fill:#f00\n  cssClass \"Barn\" styled\n  style Barn fill:#f9f",
		"state":               "stateDiagram-v2\n  direction LR\n  [*] --> Still\n  Still --> Moving : starts; goes\n  state \"A long name\" as long\n  Moving --> long\n  state if_state <<choice>>\n  long --> if_state\n  if_state --> Still: if n < 0\n  if_state --> Crash : if n >= 0\n  state fork_state <<fork>>\n  Crash --> fork_state\n  state Active {\n    [*] --> NumLockOff\n    NumLockOff --> NumLockOn : EvNumLockPressed\n    --\n    [*] --> Caps\n  }\n  fork_state --> Active\n  note right of Moving\n    A note\n    on lines\n  end note\n  note left of Still : short\n  Still:::bad --> [*]\n  classDef bad fill:#f00\n  class Moving bad\n  Crash : It crashed\n",
		"er":                  "---\ntitle: Orders\n---\nerDiagram\n  CUSTOMER ||--o{ ORDER : places\n  ORDER ||--|{ LINE-ITEM : \"contains many\"\n  CUSTOMER }|..|{ DELIVERY_ADDRESS : uses\n  CUSTOMER {\n    int id PK \"the key\"\n    string name\n    string[] tags\n    varchar(255) email UK\n    decimal(10,2) total FK, UK\n  }\n  p[Person] {\n    string first\n  }\n  p one or more to zero or many CUSTOMER : is\n  \"Quoted name\" |o--o| ORDER : \"\"\n  style CUSTOMER fill:#f9f\n  classDef big fill:#f00\n",
		"gantt":               "gantt\n  title A plan\n  dateFormat  YYYY-MM-DD\n  axisFormat %d %b\n  tickInterval 1week\n  excludes weekends\n  todayMarker off\n  section Design\n  Research :done, des1, 2024-01-06, 2024-01-08\n  Draft :active, crit, des2, 2024-01-09, 3d\n  Review : des3, after des2, 5d\n  Launch :milestone, m1, after des3, 0d\n  section Build; test\n  Code :crit, after des2 des3, 2w\n  More : 48h\n  click des1 href \"https://x\"\n",
	}
}

func TestSourcesAsModelsWriteThem(t *testing.T) {
	t.Parallel()
	for name, code := range written() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svgtest.CheckRepeatable(t, mermaid.Draw, map[string]any{"Code": code})
			svgtest.CheckRepeatable(t, mermaid.Draw, map[string]any{"Code": "```mermaid\r\n" + code + "\r\n```"})
		})
	}
}
