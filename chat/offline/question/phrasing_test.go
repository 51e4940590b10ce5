package question_test

import "testing"

func TestPhrasesOfOffices(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"till": "Date|date,Item|text,Units sold|integer,Unit price|number\n2024-01-01,Roll,9,1\n2024-01-02,Loaf,5,3\n2024-01-02,Loaf,6,3\n2024-01-03,Cake,8,4\n"}).expect([]inquiry{
		{"What were our two best sellers by number of units sold?", "Loaf (11) and Roll (9)"},
		{"What were our two best days?", "-"},
	})
	load(t, map[string]string{"stock": "sku|text,on_hand|integer,reorder_level|integer\nA1,0,5\nA2,3,5\nA3,0,2\n"}).expect([]inquiry{
		{"How many items have a stock on hand of zero?", "2 of 3"},
		{"How many items have a stock on hand of 3?", "1 of 3"},
	})
	load(t, map[string]string{"visitor_survey": "Response|integer,Age|integer,Satisfaction|integer\n1,30,5\n2,,4\n3,,3\n"}).expect([]inquiry{
		{"How many people left the age field empty?", "2 of 3"},
		{"How many people left the museum early?", "-"},
	})
	load(t, map[string]string{"angebote": "Objekt|text,Ort|text,Zimmer|integer,Kaufpreis EUR|number|€\nW1,Leipzig,3,100\nW2,Leipzig,3,200\nW3,Halle,3,900\nW4,Leipzig,2,50\n"}).expect([]inquiry{
		{"Was kostet im Durchschnitt eine Wohnung mit 9 Zimmern in Leipzig?", "-"},
	})
	load(t, map[string]string{"effectifs": "Matricule|text,Service|text,Contrat|text,Salaire mensuel|number\nM1,Marketing,CDD,1\nM2,Marketing,CDI,2\nM3,Achats,CDD,3\n"}).expect([]inquiry{
		{"How many people in the Marketing department are on a CDD contract?", "1 of 3"},
	})
}

func TestDaysWithoutAYear(t *testing.T) {
	t.Parallel()
	one := "Buchungstag|date,Kategorie|text,Betrag|number\n2023-03-31,Auto,-1\n2023-04-01,Auto,-20\n2023-09-30,Auto,-300\n2023-10-01,Auto,-4000\n"
	load(t, map[string]string{"konto": one}).expect([]inquiry{
		{"Wie viel habe ich zwischen dem 1. April und dem 30. September 2023 für Auto bezahlt?", "−320"},
		{"Wie viel habe ich zwischen dem 1. April und dem 30. September für Auto bezahlt?", "−320"},
		{"Wie viel habe ich zwischen dem 1. Oktober und dem 30. September 2023 für Auto bezahlt?", "-"},
		{"How much did I pay for Auto on 1 April?", "−20"},
	})
	load(t, map[string]string{"konto": one + "2024-04-01,Auto,-7\n"}).expect([]inquiry{
		{"How much did I pay for Auto on 1 April?", "-u"}, // there are two such years
	})
}

func TestPlacesOfQuestions(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"weather": "date|date,tmax_c|number,tmin_c|number\n2023-01-01,5,-9\n2023-08-09,29,15\n2023-08-10,28,17\n"}).expect([]inquiry{
		{"Which day was the hottest of the year?", "9 August 2023"},
		{"Which day was the coldest?", "1 January 2023"},
	})
	load(t, map[string]string{"rechnungen": "Rechnungsnummer|text,Betrag|number,Status|text\nR1,10,offen\nR2,30,offen\nR3,50,bezahlt\n"}).expect([]inquiry{
		{"Welche offene Rechnung hat den höchsten Betrag? Bitte die Rechnungsnummer nennen.", "R2"},
	})
	load(t, map[string]string{
		"ausleihen": "AusleihNr|text,BuchNr|text\nA1,B1\nA2,B2\nA3,B2\n", "buecher": "BuchNr|text,Titel|text\nB1,Momo\nB2,Effi\n",
	}).expect([]inquiry{{"Welches Buch wurde am häufigsten ausgeliehen?", "Effi"}})
	load(t, map[string]string{"penguins": "species|text,sex|text,mass_g|number|g\nAdelie,male,4000\nAdelie,female,3400\nGentoo,male,5000\n"}).expect([]inquiry{
		{"On average, how much heavier are male Adelie penguins than female ones?", "600"},
	})
}
