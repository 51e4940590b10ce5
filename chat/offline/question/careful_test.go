package question_test

import "testing"

func TestFiguresThatACarelessReaderFinds(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"bank": "Date|date,Description|text,Category|text,Amount|number\n2024-01-02,Job,Income,2000\n2024-01-03,Shop,Food,-50\n2024-02-03,Flat,Rent,-700\n2024-02-04,Shop,Food,-60\n"}).expect([]inquiry{
		{"How much did I spend on food?", "is 110"},
		{"How much money came in?", "-a"},
	})
	load(t, map[string]string{"sales_h1": "Order ID|text,Order Date|date,Product|text,Qty|integer,Amount (USD)|number|$,Sales Rep|text\nS1,2024-01-02,Desk,7,70,Omar\nS2,2024-01-03,Lamp,1,10,Omar\nS3,2024-02-03,Desk,5,900,Kim\n"}).expect([]inquiry{
		{"How many desks did we sell?", "12"},
		{"Which sales rep had the highest sales?", "Kim"},
		{"Who made the most sales?", "-"},
		{"What was the best month for sales?", "February 2024"},
		{"How many orders were there in March 2025?", "-empty"},
		{"What were the average sales per week?", "-"},
	})
	load(t, map[string]string{"trips": "Linie|text,Fahrt|text,Verspätung (min)|integer|min\nRE1,F1,4\nRE1,F2,12\nRE2,F3,30\n"}).expect([]inquiry{
		{"Wie viele Fahrten hatten mehr als 10 Minuten Verspätung?", "2 Fahrten (Verspätung > 10), von insgesamt 3"},
	})
	load(t, map[string]string{"orders": "order_id|text,customer.name|text,total|number\n1,Ann,10\n2,Ann,25\n3,Ben,30\n"}).expect([]inquiry{
		{"Who spent the most?", "Ann"},
	})
	load(t, map[string]string{"q4": "Tracking no.|text,Carrier|text,Delivery|text\nJ1,Post,late\nJ2,Post,late\nJ3,Fox,late\nJ4,Fox,on time\n"}).expect([]inquiry{
		{"Which carrier delivered the most parcels late?", "Post"},
	})
	load(t, map[string]string{"weather": "date|date,tmin_c|number,tmax_c|number,rain_mm|number|mm\n2024-01-01,-3,2,0\n2024-01-02,1,4,6\n2024-01-03,-1,3,2\n"}).expect([]inquiry{
		{"What was the average temperature in January?", "-ambiguous"},
	})
}
