package question_test

import "testing"

// TestEverydayFigures: questions as people ask them, and the figures that a careless reader would state.
func TestEverydayFigures(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"attendance": "date|date,class|text,instructor|text,booked|integer,attended|integer,capacity|integer\n2024-01-02,Spin,Kofi,20,18,25\n2024-01-03,Yoga,Ana,25,20,25\n2024-01-09,Spin,Kofi,22,22,25\n2024-01-10,Yoga,Ana,12,10,25\n"}).expect([]inquiry{
		{"Which class is the most popular?", "-ambiguous"},
		{"Which instructor had the highest average attendance?", "-"},
		{"How many people attended Spin classes?", "40"},
		{"How many first-timers attended?", "-"},
	})
	load(t, map[string]string{"till": "sold_at|datetime,item|text,category|text,qty|integer,price|number|£,paid_by|text\n2024-06-07T09:10:00,Latte,drink,1,3.2,card\n2024-06-07T12:10:00,Bagel,food,2,4,cash\n2024-06-08T12:30:00,Latte,drink,2,3.2,card\n"}).expect([]inquiry{
		{"How many lattes did we sell?", "3"},
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
	load(t, map[string]string{"frogs": "species|text,snout_vent_mm|number|mm,mass_g|number|g\nMarsh,90,40\nPool,60,20\nMarsh,88,41\n"}).expect([]inquiry{
		{"Which frog eats the most, and what is that average mass?", "-"},
		{"Which frog eats the most, and what is the average mass?", "-"},
		{"Which species has the highest average mass, and what is that average mass?", "Marsh"},
	})
	load(t, map[string]string{"loans": "loan_date|date,title|text,branch|text,borrower|text,returned|date\n2024-01-02,Emma,Central,B1,2024-01-20\n2024-01-03,Dune,North,B2,\n2024-02-03,Emma,North,B1,2024-02-20\n"}).expect([]inquiry{
		{"How many books have not been returned?", "1 "},
		{"How many books are still out?", "1 "},
		{"How many overdue books are there?", "-"},
	})
}
