package question_test

import "testing"

func TestPricesAreNoPayments(t *testing.T) {
	t.Parallel()
	load(t, map[string]string{"courses": "Course|text,Teacher|text,Room|text,Seats|integer,Price (€)|number|€,Hours|integer|h,Starts|date\nYoga,Ann,R1,20,60,10,2024-01-02\nClay,Bo,R2,8,120,20,2024-02-02\nJazz,Ann,R1,15,90,15,2024-03-02\n"}).expect([]inquiry{
		{"How many seats are open in Yoga?", "-"},
		{"Is Yoga still open?", "-"},
		{"How much does Clay cost?", "120"},
		{"What did we spend on Clay?", "-"},
		{"How much did Ann earn?", "-"},
		{"How many weeks does Yoga last?", "-"},
		{"How many students took Yoga?", "-"},
		{"Who is the best paid teacher?", "-"},
		{"Who teaches Clay?", "Bo"},
		{"Which course is the longest?", "Clay"},
		{"How many people booked Jazz?", "-"},
		{"How much money did Yoga make?", "-"},
		{"What is the fastest course?", "-"},
		{"How much did we charge for Jazz?", "-"},
		{"Which course sold best?", "-"},
	})
}
