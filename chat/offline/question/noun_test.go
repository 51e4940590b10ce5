package question_test

import (
	"fmt"
	"testing"
)

func TestRowsAreCalledWhatTheirColumnsSay(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"q4": "Tracking no.|text,Carrier|text,Delivery|text\nJ1,Post,late\nJ2,Post,on time\nJ3,Fox,late\nJ4,Fox,on time\n"}).expect([]inquiry{
		{"What share of our parcels was delivered late?", "50"},
		{"How many parcels did Fox carry?", "2"},
		{"How many parcels did Max carry?", "-"},
		{"How many letters were late?", "-"},
	})
	load(t, map[string]string{"liste": "Mitgl.-Nr.|text,Name|text,Abteilung|text\n01,Abel,Turnen\n02,Bock,Judo\n03,Cern,Turnen\n"}).expect([]inquiry{
		{"Wie viele Mitglieder hat die Abteilung Turnen?", "2 Mitglieder (Abteilung: Turnen), von insgesamt 3"},
	})
	load(t, map[string]string{"beitraege": "Mitgl.-Nr.|text,Abteilung|text,Monat|text\n01,Turnen,Mai\n02,Judo,Mai\n01,Turnen,Juni\n"}).expect([]inquiry{
		{"Wie viele Mitglieder hat die Abteilung Turnen?", "-"}, // a member has several rows
	})
	load(t, map[string]string{"export": "Ring|text,Species|text,Mass|number\nA,Robin,20\nB,Wren,9\n"}).expect([]inquiry{
		{"How many individuals are there?", "2"},
		{"How many birds are there?", "-"}, // a kind does not name the rows
	})
}

func TestWideTables(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"wahl": "Wahlbezirk|text,Gültige Stimmen|integer,Bürgerliste|integer,Grüne Mitte|integer,Soziale Union|integer\nAltstadt,100,50,30,20\nNordstadt,90,20,40,30\nSüdend,80,60,10,10\n"}).expect([]inquiry{
		{"Welche Partei bekam in der Weststadt die meisten Stimmen?", "-"},
	})
	load(t, map[string]string{"traffic": "Date|date,Organic|integer,Social|integer,Newsletter|integer\n2024-01-01,10,30,5\n2024-01-02,20,5,5\n2024-01-03,20,5,45\n"}).expect([]inquiry{
		{"Which channel was strongest in February 2024?", "-"},
	})
}

func TestTopicsNameTheColumnOfTheirUnit(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"power": "Year|integer,Source|text,Generation (GWh)|number|GWh\n2020,Wind,50\n2020,Solar,30\n2021,Wind,70\n2021,Solar,50\n"}).expect([]inquiry{
		{"How much electricity came from wind in 2021?", "70 GWh"},
		{"What percentage of the electricity in 2020 was solar?", "37.5"},
		{"How much water came from wind in 2021?", "-"},
	})
	load(t, map[string]string{"heating": "Month|date,Gas (kWh)|number|kWh\n2020-01-01,50\n2020-02-01,30\n"}).expect([]inquiry{
		{"How much electricity did we use in January 2020?", "-"}, // the column says that it is gas
	})
}

func TestRatingsBesideWhatIsRated(t *testing.T) {
	t.Parallel()
	rows := "Respondent|integer,Department|text,Workload|integer,Management|integer\n1,IT,5,1\n2,IT,4,2\n3,HR,2,5\n4,HR,1,4\n5,IT,3,3\n6,HR,2,4\n7,IT,1,2\n8,IT,2,2\n9,HR,3,5\n10,HR,3,4\n"
	load(t, map[string]string{"pulse": rows}).expect([]inquiry{
		{"How did people rate the canteen on average?", "-"},
	})
}

func TestCodesAndCompounds(t *testing.T) {
	t.Parallel()
	rows := "SKU|text,Item|text,Cost price|number|€,Selling price|number|€\n"
	for i := range 30 {
		rows += fmt.Sprintf("ZX-2%02d,Tool %[1]d,%[1]d.25,%[1]d.5\n", i+10)
	}
	load(t, map[string]string{"inventory": rows}).expect([]inquiry{
		{"What is the selling price of ZX-225?", "25.5"},
		{"What is the selling price of ZX-260?", "-"},
	})
	load(t, map[string]string{"ernte": "Sorte|text,Ertrag (kg)|number|kg\nGala,10\nElstar,5\nElstar,7\n"}).expect([]inquiry{
		{"Welche Apfelsorte brachte insgesamt den höchsten Ertrag?", "Elstar"},
	})
}
