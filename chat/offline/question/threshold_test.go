package question_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestThresholdsOfGroups: a number of rows is a threshold for the count of a customer or month, not an amount; an
// amount is a threshold for the sum of a month. The expected values were computed by hand.
func TestThresholdsOfGroups(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"orders": "order_id|integer,order_date|date,customer|text,amount|number|€\n" +
		"1,2024-01-05,Ann,10\n2,2024-01-10,Ben,20\n3,2024-01-11,Ann,30\n4,2024-02-20,Ann,5\n5,2024-03-02,Cem,70\n6,2024-03-05,Ben,8\n"}).expect([]inquiry{
		{"Which towns had more than 2 orders?", "-"},
		{"Which customers placed more than 2 towns?", "-"},
	})
	load(t, map[string]string{"wetter": "Datum|date,Regen (mm)|number|mm\n2024-01-01,10\n2024-01-02,15\n2024-02-01,22\n2024-02-02,0\n2024-03-01,3\n"}).expect([]inquiry{
		{"An welchen Tagen fielen mehr als 12 mm Regen?", "2. Januar 2024"},
	})
	load(t, map[string]string{"houses": "listing|text,type|text,beds|integer,asking_price|number|€\nL1,semi,5,300\nL2,flat,2,500\nL3,flat,1,200\n"}).expect([]inquiry{
		{"What is the largest house?", "-"}, // the most expensive house may be small
		{"What is the most expensive house?", "L2"},
	})
	load(t, map[string]string{"signups": "month|text,new_signups|integer\n2024-01,70\n2024-02,50\n2024-03,61\n"}).expect([]inquiry{
		{"Which months had more than 60 new signups?", "2024-01"},
		{"Which months had fewer than 60 new signups?", "2024-02"},
	})
}

// TestFirstContactSeven: kinds of figures of the seventh held-out corpus that are easy to get wrong.
func TestFirstContactSeven(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"penguins": "species|text,island|text,body_mass_g|integer|g\nA,Biscoe,4000\nB,Dream,5950\nA,Biscoe,3900\nB,Dream,4100\n"}).expect([]inquiry{
		{"How heavy is the heaviest penguin and on which island was it measured?", "-unclear"},
	})
	load(t, map[string]string{"staff": "id|integer,department|text,start_date|date,annual_salary|number|£\n1,IT,2010-01-01,30000\n2,IT,2012-01-01,50000\n3,HR,2012-02-01,20000\n"}).expect([]inquiry{
		{"What does someone in IT earn on average per year?", "40,000"},
	})
	load(t, map[string]string{"budget": "month|text,category|text,budgeted|number,actual|number\nJanuary,Food,100,150\nJanuary,Fun,50,40\nFebruary,Food,100,110\nFebruary,Fun,50,130\n"}).expect([]inquiry{
		{"What did we go over budget on the most during the year?", "-"},
	})
	load(t, map[string]string{"konto": "Buchungstag|date,Verwendungszweck|text,Betrag|number|€\n2025-01-02,Miete,-700\n2025-01-05,Lohn,2000\n2025-02-02,Miete,-710\n"}).expect([]inquiry{
		{"Wie viel Miete habe ich 2025 insgesamt bezahlt?", "Die Summe von Betrag im Jahr 2025 (Verwendungszweck: Miete) beträgt 1.410 €."},
	})
}

// TestAgreement: the values on one side of a scale are counted together and listed separately.
func TestAgreement(t *testing.T) {
	t.Parallel()
	survey := func(head string, values []string, counts ...int) string {
		var b strings.Builder
		b.WriteString(head + "\n")
		n := 0
		for i, c := range counts {
			for range c {
				n++
				fmt.Fprintf(&b, "%d,%s,%s,%d\n", n, values[i], values[(i+1)%len(values)], 1+n%5)
			}
		}
		return b.String()
	}
	load(t, map[string]string{"staff_survey": survey("Respondent|integer,My workload is manageable|text,My manager supports me|text,Satisfaction|integer",
		[]string{"Strongly agree", "Agree", "Neutral", "Disagree", "Strongly disagree"}, 2, 5, 4, 3, 6)}).expect([]inquiry{
		{"How many people agree?", "-"},
		{"How many respondents gave a satisfaction of 4 or more?", "8 of 20"},
	})
	load(t, map[string]string{"umfrage": survey("Nr|integer,Die Kantine ist gut|text,Die Arbeitszeit passt|text,Alter|integer",
		[]string{"stimme voll zu", "stimme eher zu", "teils/teils", "stimme eher nicht zu", "stimme gar nicht zu"}, 2, 5, 4, 3, 6)}).expect([]inquiry{
		{"Wie viele stimmen voll zu, dass die Kantine gut ist?", "2"},
	})
}
