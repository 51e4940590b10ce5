package question_test

import "testing"

// TestEverydayFigures: questions as people ask them, and figures that a careless reader would get wrong.
func TestEverydayFigures(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"attendance": "date|date,class|text,instructor|text,booked|integer,attended|integer,capacity|integer\n2024-01-02,Spin,Kofi,20,18,25\n2024-01-03,Yoga,Ana,25,20,25\n2024-01-09,Spin,Kofi,22,22,25\n2024-01-10,Yoga,Ana,12,10,25\n"}).expect([]inquiry{
		{"Which class is the most popular?", "-ambiguous"},
		{"Which instructor had the highest average attendance?", "-"},
		{"How many people attended Spin classes?", "40"},
		{"How many first-timers attended?", "-"},
	})
	load(t, map[string]string{"till": "sold_at|datetime,item|text,category|text,qty|integer,price|number|£,paid_by|text\n2024-06-07T09:10:00,Latte,drink,1,3.2,card\n2024-06-07T12:10:00,Bagel,food,2,4,cash\n2024-06-08T12:30:00,Latte,drink,2,3.2,card\n"}).expect([]inquiry{
		{"How many items were sold on Fridays?", "3"},
		{"Which item sells best?", "Latte"},
		{"At what time of day are we busiest?", "-"},
		{"How many drinks were refunded?", "-"},
	})
	load(t, map[string]string{"verbrauch": "Monat|date,Strom (kWh)|number|kWh,Kosten (€)|number|€\n2023-01-01,300,180\n2023-02-01,280,160\n2024-01-01,310,190\n"}).expect([]inquiry{
		{"Wie viel Strom verbrauchen wir im Schnitt pro Monat?", "296,67"},
	})
	load(t, map[string]string{"mitglieder": "Nr|integer,Name|text,Sparte|text,Beitrag|number|€\n1,Abel,Judo,45\n2,Bock,Judo,45\n3,Cern,Judo,45\n4,Dorn,Tennis,60\n"}).expect([]inquiry{
		{"Wie hoch ist der Beitrag im Judo?", "-ambiguous"},
		{"Wie viel nehmen wir an Beiträgen insgesamt ein?", "195"},
	})
	load(t, map[string]string{"calls": "time|datetime,caller|text,extension|text,minutes|number|min,cost|number|£,type|text\n2024-05-03T09:00:00,Ann,201,12,1.2,local\n2024-05-03T10:00:00,Bo,202,3,4.1,international\n2024-05-04T10:30:00,Ann,201,40,9.5,international\n"}).expect([]inquiry{
		{"How long was the longest call?", "40"},
		{"Which extension made the most calls?", "201 has the most calls: 2"},
		{"How many calls lasted under a minute?", "-"},
		{"How many missed calls were there?", "-"},
	})
	load(t, map[string]string{"gifts": "date|date,donor|text,amount|number|£,campaign|text\n2024-01-02,Ann,50,Roof\n2024-02-02,Bo,20,Roof\n2024-03-02,Ann,100,Food\n"}).expect([]inquiry{
		{"How much did new donors give?", "-"},
	})
	load(t, map[string]string{"stock": "sku|text,plant|text,bench|text,in_stock|integer,unit_price|number|£\nP1,Rose,A,5,4.5\nP2,Fern,A,2,3\nP3,Ivy,B,90,2\n"}).expect([]inquiry{
		{"Which bench holds the most plants?", "-"},
		{"What is the stock worth in total?", "208.50"},
	})
	load(t, map[string]string{"bookings": "ref|text,room|text,nights|integer\nB1,Double,3\nB2,Suite,2\n"}).expect([]inquiry{
		{"How many rooms were double-booked?", "-"},
	})
	load(t, map[string]string{"frogs": "species|text,snout_vent_mm|number|mm,mass_g|number|g\nMarsh,90,40\nPool,60,20\nMarsh,88,41\n"}).expect([]inquiry{
		{"Which frog eats the most, and what is that average mass?", "-"},
		{"Which frog eats the most, and what is the average mass?", "-"},
		{"Which species has the highest average mass, and what is that average mass?", "Marsh"},
	})
	load(t, map[string]string{"loans": "loan_date|date,title|text,branch|text,borrower|text,returned|date\n2024-01-02,Emma,Central,B1,2024-01-20\n2024-01-03,Dune,North,B2,\n2024-02-03,Emma,North,B1,2024-02-20\n"}).expect([]inquiry{
		{"How many overdue books are there?", "-"},
	})
}
