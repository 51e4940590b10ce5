package question_test

import "testing"

// TestRestrictionsThatTheDataDoesNotHold: a word that restricts rows by what no column holds is never ignored.
func TestRestrictionsThatTheDataDoesNotHold(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"sessions": "entered_at|datetime,left_at|datetime,car_park|text,paid_gbp|number|£,payment|text\n2024-06-03 06:08:00,2024-06-03 10:17:00,Castle Hill,5,app\n2024-06-03 08:30:00,2024-06-03 11:56:00,Riverside,4.1,app\n2024-06-04 08:45:00,2024-06-04 15:08:00,Castle Hill,7.7,coin\n"}).expect([]inquiry{
		{"How many foreign cars came in?", "-"},
		{"How many electric cars came in?", "-"},
		{"How many cars came in without a ticket?", "-"},
		{"How many cars came in late?", "-"},
		{"How many cars came in twice?", "-"},
		{"On which day did the most foreign cars come in?", "-"},
		{"How much did foreign cars pay?", "-"},
		{"How much was paid excluding VAT?", "-"},
		{"How much was paid before tax?", "-"},
		{"How many cars were towed?", "-"},
		{"How many bicycles came in?", "-"},
		{"How many cars did not pay?", "-"},
		{"How many cars overstayed?", "-"},
	})
	load(t, map[string]string{"admissions": "day|date,audience|integer,format|text,film|text,screen|integer\n2024-07-01,60,2D,Moon,3\n2024-07-02,100,3D,Moon,2\n2024-07-03,80,3D,Fog,1\n"}).expect([]inquiry{
		{"How many returning people came?", "-"},
		{"How many people came back?", "-"},
		{"How many young people came?", "-"},
		{"How many people came with children?", "-"},
		{"How many people came by bus?", "-"},
		{"How many people left early?", "-"},
		{"How many more adults come to a 3D screening than to a 2D one?", "-"},
		{"Which film had the best reviews?", "-"},
		{"How many people paid full price?", "-"},
	})
	load(t, map[string]string{"rides": "ride_id|text,started|datetime,duration_min|number,from|text\nr1,2024-05-01T06:00:00,30.7,Docks\nr2,2024-05-01T08:00:00,12,Docks\nr3,2024-06-01T08:00:00,125,Mill\n"}).expect([]inquiry{
		{"How many rides were longer than 2 km?", "-"},
		{"How many rides lasted more than 20 minutes?", "2 "},
		{"How many rides ended in a crash?", "-"},
		{"How many free rides were there?", "-"},
		{"How many rides started at night?", "-"},
		{"How many rides did tourists take?", "-"},
	})
	load(t, map[string]string{"hives": "hive|text,strain|text,site|text\nH1,Carniolan,Heath\nH2,Buckfast,Garden\n", "honey": "extracted|date,hive|text,kg|number,type|text\n2023-05-27,H1,4,heather\n2023-05-28,H2,10,heather\n2023-06-01,H1,6,blossom\n"}).expect([]inquiry{
		{"How many kilos of honey have the hives on the Heath given us?", "10"},
		{"How many kilos of honey have the hives on the Moor given us?", "-"},
		{"How many kilos of wax have the hives on the Heath given us?", "-"},
		{"How many kilos of honey did we sell?", "-"},
		{"How many kilos of organic honey did we extract?", "-"},
	})
	load(t, map[string]string{"pegel": "Tag|date,Pegel (cm)|integer|cm,Wassertemperatur (°C)|number|°C\n2024-01-01,246,3\n2024-01-02,574,4\n2024-01-03,300,5\n"}).expect([]inquiry{
		{"An welchem Tag war die Wassertemperatur am höchsten, und wie hoch war der Pegel?", "3. Januar"},
	})
	load(t, map[string]string{"bugs": "id|integer,title|text,severity|text,state|text,assignee|text\n1,A,critical,open,Ann\n2,B,minor,open,Bo\n3,C,critical,closed,Ann\n"}).expect([]inquiry{
		{"How many critical bugs are still open?", "1 "},
		{"How many critical bugs are unpaid?", "-"},
		{"How many security bugs are still open?", "-"},
		{"How many critical bugs are duplicates?", "-"},
		{"How many bugs did customers report?", "-"},
		{"How many bugs were reopened?", "-"},
	})
	load(t, map[string]string{"reservations": "Booking Ref|text,Room Type|text,Check-in|date,Total (EUR)|number|EUR,Status|text\nB1,Double,2024-01-01,300,Confirmed\nB2,Suite,2024-01-02,500,Cancelled\nB3,Suite,2024-01-03,100,Confirmed\n"}).expect([]inquiry{
		{"Excluding cancelled bookings, which room type brought in the most money?", "Double"},
		{"Which room type brought in the most money?", "Suite"},
		{"Leaving no-shows aside, which room type brought in the most money?", "-"},
		{"Excluding breakfast, which room type brought in the most money?", "-"},
		{"Without VAT, what is the total?", "-"},
		{"What is the total excluding VAT?", "-"},
	})
	load(t, map[string]string{"readings": "time|datetime,station|text,pm25|number,no2|number\n2024-01-15T00:00,Harbour,,13\n2024-01-15T01:00,Harbour,5,\n2024-01-15T00:00,Ring,6,34\n"}).expect([]inquiry{
		{"How many PM10 readings are missing at the Harbour station?", "-"},
		{"How many readings are missing at the Harbour station?", "-"},
		{"How many PM2.5 readings at the Harbour station were rejected?", "-"},
	})
	load(t, map[string]string{"einsatzliste": "Datum|date,Einsatzart|text,Ort|text,Kräfte|integer\n2022-01-03,Sturm,Bühl,3\n2023-01-03,Sturm,Bühl,3\n2023-02-03,Sturm,Bühl,3\n2023-02-04,Brand,Bühl,3\n"}).expect([]inquiry{
		{"Wie viele Nachteinsätze gab es 2023?", "-"},
		{"Wie viele Einsätze gab es nachts?", "-"},
	})
}

// TestDeedsThatTheDataDoesNotHold: what was sold, closed, needed or generated is no figure of what is there, was opened
// or was consumed.
func TestDeedsThatTheDataDoesNotHold(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"tickets": "id|integer,status|text,agent|text,opened|date\n1,closed,Mo,2025-04-30\n2,open,Kai,2025-05-02\n3,closed,Mo,2025-05-09\n"}).expect([]inquiry{
		{"How many tickets were closed in May 2025?", "-"},
		{"How many tickets were opened in May 2025?", "2 "},
		{"How many tickets are closed?", "2 "},
	})
	load(t, map[string]string{"cellar": "wine|text,country|text,bottles|integer\nRocca Alta,Spain,24\nPoggio,Italy,51\n"}).expect([]inquiry{
		{"How many bottles of Poggio were sold?", "-"},
		{"How many bottles of Poggio are there?", "51"},
	})
	load(t, map[string]string{"lager": "Artikel|text,Bestand|integer\nLampen,7\nStühle,12\n"}).expect([]inquiry{
		{"Wie viele Lampen brauchen wir?", "-"},
		{"Wie viele Lampen haben wir?", "7"},
	})
	load(t, map[string]string{"verbrauch": "Monat|date,Haus kWh|number\n2023-01-01,195\n2023-02-01,364\n"}).expect([]inquiry{
		{"Wie viel kWh hat das Haus 2023 erzeugt?", "-"},
		{"Wie viel kWh hat das Haus 2023 verbraucht?", "559"},
	})
	load(t, map[string]string{"sales": "date|date,item|text,unit_price|number,total|number\n2024-04-26,Croissant,2.8,28\n2024-04-27,Sourdough,6.5,65\n"}).expect([]inquiry{
		{"How much did the croissants cost us?", "-"},
		{"How much did we sell in the last month?", "-"},
	})
	load(t, map[string]string{"beetles": "caught|date,species|text\n2024-07-01,stag\n2024-07-02,rose\n"}).expect([]inquiry{
		{"How many beetles were released in July 2024?", "-"},
		{"How many beetles were caught in July 2024?", "2 "},
	})
}
