package question_test

import "testing"

func TestNounsThatOnlySayWhose(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"orders": "order_id|text,customer.name|text,customer.country|text,total|number\n1,Ben,Canada,10\n2,Ann,Canada,20\n3,Ben,Mexico,40\n4,Ann,Canada,5\n"}).expect([]inquiry{
		{"What's the total value of the orders from customers in Canada?", "35"},
		{"What's the total value of the orders from customers in Peru?", "-"},
	})
	load(t, map[string]string{"till": "Sold on|date,Wine|text,Colour|text,Bottles|integer\n2023-12-01,Cava,sparkling,3\n2023-12-02,Rioja,red,4\n2023-12-03,Cava,sparkling,5\n2023-12-04,Rioja,red,1\n"}).expect([]inquiry{
		{"How many bottles of sparkling wine went over the counter in December 2023?", "8"},
		{"How many bottles of rosé wine went over the counter in December 2023?", "-"},
	})
}
