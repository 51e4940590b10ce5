package question_test

import "testing"

func TestWhoPaysDecidesWhatIsSpent(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"fees": "member_no|text,name|text,club|text,joined|date,fee|number|€\nM1,Ann,North,2020-01-02,40\nM2,Bo,South,2021-01-02,50\nM3,Cy,North,2022-01-02,60\n"}).expect([]inquiry{
		{"How much did we spend on the North club?", "-"},
		{"How much did the North club cost us?", "-"},
		{"What is the total fee of the North club?", "100"},
	})
	load(t, map[string]string{"expenses": "date|date,category|text,shop|text,amount|number|€\n2024-01-02,Food,Aldi,40\n2024-02-02,Rent,Home,50\n2024-03-02,Food,Aldi,60\n"}).expect([]inquiry{
		{"How much did we spend on food?", "100"},
		{"How much did we earn?", "-"},
		{"How much did we take in from food?", "-"},
	})
	load(t, map[string]string{"orders": "order_id|text,date|date,customer|text,product|text,total|number|€\nO1,2024-01-02,Ann,Mug,40\nO2,2024-02-02,Bo,Mug,50\nO3,2024-03-02,Ann,Pen,70\n"}).expect([]inquiry{
		{"How much did we spend on mugs?", "-"},
		{"What did the mugs cost us?", "-"},
		{"How much did Ann spend?", "110"},
	})
	load(t, map[string]string{"jobs": "job|text,date|date,work|text,parts_cost|number|€,invoice_total|number|€\nJ1,2024-01-02,Brakes,40,90\nJ2,2024-02-02,Tyres,50,80\nJ3,2024-03-02,Brakes,70,99\n"}).expect([]inquiry{
		{"How much did the brakes cost us?", "-"},
		{"How much did we spend on parts for brakes?", "110"},
	})
}

func TestWhatThereIsIsNoKindOfAnEvent(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"bookings": "booking_id|text,guest|text,room|text,arrival|date,nights|integer\nB1,Ann,Double,2024-01-02,2\nB2,Bo,Single,2024-01-03,1\nB3,Cy,Double,2024-01-04,2\n"}).expect([]inquiry{
		{"How many rooms do we have?", "-"},
		{"How many bookings do we have?", "3"},
	})
	load(t, map[string]string{"loans": "loan_id|text,title|text,borrower|text,borrowed_on|date,returned_on|date\nL1,Dune,Ann,2024-01-02,2024-02-02\nL2,Emma,Bo,2024-01-03,\nL3,Dune,Bo,2024-01-04,\n"}).expect([]inquiry{
		{"How many books do we have?", "-"},
		{"How many loans do we have?", "3"},
	})
}

func TestStockIsWorthItsPiecesTimesAPrice(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"stock": "sku|text,item|text,category|text,quantity|integer,unit_cost|number|€,retail_price|number|€,stock_minimum|integer\nS1,Pot,Kitchen,2,3,5,1\nS2,Pan,Kitchen,0,4,9,1\nS3,Rake,Garden,10,2,4,20\n"}).expect([]inquiry{
		{"What is our stock worth?", "-"},
		{"How many items are out of stock?", "1 "},
	})
}

func TestOneRowByItsAmountAndMeansOfMarks(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"expenses": "date|date,category|text,amount|number|€\n2024-01-02,Food,40\n2024-02-02,Rent,50\n2024-03-02,Food,60\n"}).expect([]inquiry{
		{"Which category has the biggest expense?", "-"},
	})
	load(t, map[string]string{"grades": "student|text,subject|text,points|integer\nAnn,Maths,10\nBo,Maths,13\nAnn,English,14\nBo,English,13\n"}).expect([]inquiry{
		{"What is the average in maths?", "11.5"},
	})
}
