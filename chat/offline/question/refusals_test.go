package question_test

import "testing"

func TestEverydayNeighbours(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"inspections": "id|integer,restaurant|text,city|text,date|date,score|integer,result|text,inspector|text\n1,Roma,Linz,2023-05-01,88,pass,Ott\n2,Wok,Graz,2023-06-01,61,fail,Ott\n3,Roma,Linz,2024-05-01,92,pass,Uhl\n4,Deli,Linz,2024-06-01,75,pass,Uhl\n"}).expect([]inquiry{
		{"Which restaurant failed in 2023?", "Wok"},
		{"How many inspections did Ott do?", "2"},
		{"What was the average score in Linz?", "85"},
		{"Which restaurant had the lowest score?", "Wok"},
		{"Who did the most inspections?", "-"},
		{"How many cockroaches were found?", "-"},
		{"What share of inspections passed?", "75"},
		{"How did Roma's score change from 2023 to 2024?", "88"},
		{"Who owns Roma?", "-"},
	})
	load(t, map[string]string{"strom": "Monat|date,Verbrauch (kWh)|number|kWh,Kosten (€)|number|€,Einspeisung (kWh)|number|kWh\n2024-01-01,300,95.5,20\n2024-02-01,250,80,60\n2024-03-01,240,77,140\n"}).expect([]inquiry{
		{"Wie viel Strom haben wir im Februar 2024 verbraucht?", "250"},
		{"Wie viel haben wir 2024 für Strom bezahlt?", "252,5"},
		{"Wie viele kWh waren es im Januar 2024?", "-"},
		{"Wie viel Gas haben wir verbraucht?", "-"},
		{"Um wie viel Prozent ist der Verbrauch von Januar 2024 auf März 2024 gesunken?", "20"},
	})
	load(t, map[string]string{"budget": "Department|text,Planned 2024|number|€,Actual 2024|number|€,Manager|text\nIT,100,120,Kim\nHR,50,40,Lee\nOps,300,310,Roy\n"}).expect([]inquiry{
		{"Who manages Ops?", "Roy"},
		{"How much did IT spend in 2023?", "-"},
	})
	load(t, map[string]string{"matches": "Date|date,Home|text,Away|text,Home goals|integer,Away goals|integer,Attendance|integer\n2024-01-01,Reds,Blues,2,1,900\n2024-01-08,Blues,Greens,0,0,700\n2024-01-15,Greens,Reds,1,3,800\n"}).expect([]inquiry{
		{"How many goals did the Reds score?", "-"},
		{"How many matches did the Reds win?", "-"},
		{"What was the highest attendance?", "900"},
		{"How many home goals were scored?", "3"},
		{"Which match had the most spectators?", "-"},
		{"How many goals were scored altogether?", "-"},
	})
	load(t, map[string]string{"donations": "Donor|text,Amount|number|€,Date|date,Project|text\nIda,50,2024-01-01,Well\nJon,20,2024-01-05,School\nIda,30,2024-02-01,School\n"}).expect([]inquiry{
		{"Who donated the most money?", "Ida"},
		{"How much was donated to the School?", "50"},
		{"What percentage of the donations went to the Well?", "-"},
		{"How much did Ida donate in February 2024?", "30"},
		{"How much was donated to the Hospital?", "-"},
	})
}
