package question_test

import "testing"

func TestVerbsThatRestrictNothing(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"receipts": "no|text,receipt_date|date,category|text,net|number,vat|number,gross|number\nR1,2023-01-02,Travel,10,2,12\nR2,2023-02-02,Office supplies,20,4,24\nR3,2022-02-02,Office supplies,40,8,48\n"}).expect([]inquiry{
		{"How much VAT did we hide on office supplies in 2023?", "-"},
	})
	load(t, map[string]string{"tips": "receipt|text,date|date,drink|text,cups|integer,tip|number,payment|text\nA,2024-01-01,Latte,2,1,card\nB,2024-01-02,Mocha,1,3,card\nC,2024-02-02,Latte,4,9,cash\n"}).expect([]inquiry{
		{"What's the median tip when people pay by card?", "2"},
	})
	load(t, map[string]string{"till": "receipt|text,date|date,drink|text,cups|integer,total|number,payment|text\nA,2024-01-01,Latte,2,10,card\nB,2024-01-02,Mocha,1,3,card\nC,2024-01-02,Latte,4,9,cash\n"}).expect([]inquiry{
		{"Which drink brought in the most money?", "Latte"},
	})
	load(t, map[string]string{"loans": "loan_id|text,title|text,branch|text,lent_on|date,days_out|integer\n1,Emma,East,2024-01-02,4\n2,Momo,West,2024-01-05,9\n3,Momo,East,2024-02-05,30\n"}).expect([]inquiry{
		{"How many books were eaten at the East branch?", "-"},
	})
	load(t, map[string]string{"ertrag": "Tag|date,Erzeugung (kWh)|number|kWh,Eigenverbrauch (kWh)|number|kWh\n2024-01-01,2,3\n2024-02-01,5,1\n2024-02-02,6,1\n"}).expect([]inquiry{
		{"In welchem Monat hat die Solaranlage am meisten Strom erzeugt?", "Februar 2024"},
		{"Wie viel Strom hat die Anlage im Januar verkauft?", "-"},
	})
}

func TestMoneyHasADirection(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"budget": "Date|date,Category|text,Outflow|number,Inflow|number\n2024-01-01,Salary,,900\n2024-01-02,Groceries,30,\n2024-01-05,Groceries,12,\n"}).expect([]inquiry{
		{"How much did we spend on groceries?", "42"},
	})
	load(t, map[string]string{"einnahmen": "Datum|date,Art|text,Einnahmen|number|€\n2024-01-01,Bar,30\n2024-01-02,Karte,20\n2024-02-02,Bar,50\n"}).expect([]inquiry{
		{"Wie viel haben wir im Januar 2024 ausgegeben?", "-"},
	})
}

func TestWhatIsAskedForMayBeAValue(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"plants": "sku|text,plant|text,kind|text,in_stock|integer,reorder_level|integer,price|number\nP1,Hosta,perennial,10,30,3\nP2,Astilbe,perennial,12,30,4\nP3,Zinnia,annual,5,30,2\nP4,Phlox,perennial,50,30,9\n"}).expect([]inquiry{
		{"Which perennials have fallen below their reorder level?", "Astilbe; Hosta"},
		{"What is the most expensive perennial we have?", "Phlox"},
	})
	load(t, map[string]string{"issues": "key|text,title|text,severity|text,state|text,reported|date\nA1,Typo,low,open,2024-03-01\nA2,Crash,critical,closed,2024-01-01\nA3,Typo,critical,open,2024-02-01\nA4,Crash,critical,open,2024-04-01\n"}).expect([]inquiry{
		{"What is the newest critical issue?", "A4"},
	})
	load(t, map[string]string{"ci": "time|datetime,build|integer,branch|text,status|text,duration_s|integer\n" +
		"2024-01-01 00:00:00,4100,main,passed,100\n2024-01-01 01:00:00,4101,main,failed,1900\n2024-01-01 02:00:00,4102,dev,failed,50\n2024-01-01 03:00:00,4103,dev,failed,2500\n2024-01-01 04:00:00,4104,dev,passed,60\n2024-01-01 05:00:00,4105,dev,passed,70\n" +
		"2024-01-01 06:00:00,4106,dev,passed,80\n2024-01-01 07:00:00,4107,dev,passed,81\n2024-01-01 08:00:00,4108,dev,passed,82\n2024-01-01 09:00:00,4109,dev,passed,83\n2024-01-01 10:00:00,4110,dev,passed,84\n2024-01-01 11:00:00,4111,dev,passed,85\n"}).expect([]inquiry{
		{"Which build on the main branch took the longest?", "4101"},
		{"How many builds failed on the dev branch?", "2"},
		{"Which branch fails most often?", "dev"},
	})
}

func TestTimesOfDayAndDirections(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"appointments": "id|text,date|date,time|text,vet|text,animal|text\n1,2024-01-01,9:15,Dr. Petri,cat\n2,2024-01-01,11:59,Dr. Petri,dog\n3,2024-01-02,12:00,Dr. Sommer,cat\n4,2024-01-02,18:30,Dr. Sommer,cat\n"}).expect([]inquiry{
		{"How many appointments were between 9 and 11 o'clock?", "-"},
		{"Who treated the most cats?", "Dr. Sommer"},
	})
	load(t, map[string]string{"rides": "ride|text,date|date,from_station|text,to_station|text,minutes|integer\n1,2024-01-01,Harbour,Park,40\n2,2024-01-02,Park,Harbour,10\n3,2024-01-02,Harbour,Park,20\n4,2024-01-02,Park,Park,90\n"}).expect([]inquiry{
		{"At which station do most rides end?", "Park"},
	})
	load(t, map[string]string{"ergebnisse": "Startnr|integer,Schwimmer|text,Jahrgang|integer,Strecke|text,Zeit|text\n1,Emma,2012,100 m Freistil,\"1:30,86\"\n2,Lukas,2013,50 m Brust,\"0:46,42\"\n3,Marie,2012,100 m Freistil,\"0:56,00\"\n"}).expect([]inquiry{
		{"Wie viele Starts gab es über 50 m Brust?", "1"},
	})
}

func TestHeadersThatAreSentences(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"umfrage": "Antwort ID|text,Wie zufrieden waren Sie mit der Sauberkeit? (1-5)|integer,Wie zufrieden waren Sie mit dem Frühstück? (1-5)|integer\n1,1,5\n2,2,5\n3,3,4\n4,5,4\n5,5,4\n6,5,1\n7,5,1\n8,5,1\n9,5,1\n10,4,1\n"}).expect([]inquiry{
		{"Wie haben die Gäste die Sauberkeit im Durchschnitt bewertet?", "4"},
		{"Wie haben die Gäste den Service im Durchschnitt bewertet?", "-"},
	})
}

func TestFiguresThatAreNotMeant(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"air": "date|date,site|text,no2|number\n2024-01-01,Ring,80\n2024-01-02,Ring,5\n"}).expect([]inquiry{
		{"What was the worst NO2 reading at Ring?", "-"},
	})
	load(t, map[string]string{"items": "order|text,customer|text,date|date,sku|text,qty|integer,price|number\nO1,Acme,2024-01-01,pen,4,2\nO2,Acme,2024-01-02,pen,6,2\nO3,Bolt,2024-01-02,ink,1,9\n"}).expect([]inquiry{
		{"How many pens did Acme order?", "10"},
	})
	load(t, map[string]string{"trips": "trip_date|date,destination|text,traveller|text,flight_cost|number\n2024-01-01,Oslo,Cem,10\n2024-01-01,Oslo,Cem,20\n2024-01-05,Rome,Ann,5\n"}).expect([]inquiry{
		{"How many trips did Cem make to Oslo?", "2"},
		{"Who travelled the most?", "-"},
	})
	load(t, map[string]string{"visits": "id|text,date|date,vet|text,cups|integer,fee|number\n1,2024-01-01,Dr. Petri,2,10\n2,2024-01-02,Dr. Petri,1,20\n3,2024-01-03,Dr. Sommer,4,40\n"}).expect([]inquiry{
		{"What was the total fee of Dr. Petri?", "30"},
		{"How much did we pay Dr. Petri?", "-"},
		{"How much did Dr. Petri earn?", "-"},
		{"How many cups did we buy?", "-"},
	})
}
