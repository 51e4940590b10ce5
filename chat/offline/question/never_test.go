package question_test

import "testing"

func TestReadingsOfACounterAreSubtracted(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"zaehlerstaende": "Datum|date,Gas (m³)|number|m³,Bemerkung|text\n2024-01-01,10633.6,\n2024-02-01,10790,\n2025-01-01,11568.1,\n"}).expect([]inquiry{
		{"Wie viel Gas haben wir im Februar 2024 verbraucht?", "-"},
		{"Wie viel Gas haben wir 2023 verbraucht?", "-"},
	})
	load(t, map[string]string{"van": "Date|date,Odometer (km)|integer|km\n2024-01-01,52000\n2024-02-01,53100\n"}).expect([]inquiry{
		{"What is the total odometer in 2024?", "-"},
	})
}

func TestTheNounBehindWhichIsAskedFor(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"till": "Sold|date,Wine|text,Country|text,Amount|number|£\n2023-01-01,Rioja,Spain,40\n2023-01-02,Champagne,France,60\n2023-01-03,Cava,Spain,35\n"}).expect([]inquiry{
		{"Wines from which country have the highest total amount?", "Spain"},
		{"Which wine has the highest total amount?", "Champagne"},
	})
}

func TestAUnitInANameSaysWhatIsMeasured(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"puffins": "ring|text,sex|text,wing_mm|integer|mm,mass_g|integer|g\nA1,M,160,400\nA2,F,150,380\nA3,M,170,420\n"}).expect([]inquiry{
		{"What is the mean wing length of the male puffins?", "165"},
		{"What is the mean tail length of the puffins?", "-"},
	})
	load(t, map[string]string{"personal": "Name|text,Abteilung|text,Eintritt|date,Austritt|date\nAbel,Lager,2022-02-01,\nBock,Lager,2021-02-01,2022-05-31\nCern,Büro,2022-09-01,\n"}).expect([]inquiry{
		{"Wie viele Leute sind 2022 bei uns eingetreten?", "2 "},
	})
}
