import { useSubActions } from "../../api/workflow-queries";
import type { WorkflowRun } from "../../api/workflows";
import { isObject } from "../../schema/pointer";
import { Shown } from "./values";

/** The outcome of a run: its state, with the generated pictures that it names. */
export function Outcome({ run }: { run: WorkflowRun }) {
  const jobs = useSubActions(run.id).data?.items ?? [];
  const contents = jobs.flatMap((j) => j.contents ?? []);
  const named = new Set<string>();
  collect(run.state, named);
  const chosen = contents.filter((c) => named.has(c.id) || named.has(c.media_id));
  return (
    <section aria-labelledby="outcome" className="outcome">
      <h2 id="outcome">{run.status === "succeeded" ? "What came of it" : run.status === "failed" ? "Why it failed" : "Cancelled"}</h2>
      {run.error?.message && <p className="bad" role="alert">{run.error.message}</p>}
      {chosen.length > 0 && <div className="node-grid">{chosen.map((c) => <Shown key={c.id} url={`/media/${c.media_id}`} name="Chosen picture" />)}</div>}
      <details open={chosen.length === 0}><summary>State</summary><pre className="node-code" tabIndex={0} aria-label="State">{JSON.stringify(run.state ?? {}, null, 2)}</pre></details>
    </section>
  );
}

/** All texts in a value. */
function collect(v: unknown, out: Set<string>) {
  if (typeof v === "string") out.add(v);
  else if (Array.isArray(v)) for (const e of v) collect(e, out);
  else if (isObject(v)) for (const e of Object.values(v)) collect(e, out);
}
