// The files of the examples.

const regions: [string, number, number][] = [["North", 42_000, 1.06], ["South", 38_500, 1.02], ["East", 29_000, 1.11], ["West", 51_000, 0.97]];

/** Returns a table of one year's sales. */
export function salesFile(): File {
  const lines = ["month,region,orders,revenue"];
  for (let month = 1; month <= 12; month++) {
    for (const [region, base, growth] of regions) {
      const revenue = Math.round(base * growth ** (month - 1) * (1 + 0.08 * Math.sin(month)));
      lines.push(`2025-${String(month).padStart(2, "0")},${region},${Math.round(revenue / 85)},${revenue}`);
    }
  }
  return new File([`${lines.join("\n")}\n`], "sales-2025.csv", { type: "text/csv" });
}

const survey = `# Customer survey, spring 2026

We asked four hundred customers. Most of them came back because delivery was quick.
Some customers complain about the packaging, which arrives torn. Nobody asked for more emails.
Prices were judged fair by most people. Customers who live in the countryside wish for evening delivery.
`;

/** Returns the results of a survey. */
export function surveyFile(): File {
  return new File([survey], "survey-2026.md", { type: "text/markdown" });
}
