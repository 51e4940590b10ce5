import { useSubActions } from "../../api/workflow-queries";
import type { WorkflowRun } from "../../api/workflows";
import { isObject } from "../../schema/pointer";
import { OpenablePicture } from "./values";

/** The outcome of a run: its state, with the generated pictures that it names. */
export function Outcome({ run }: { run: WorkflowRun }) {
  const jobs = useSubActions(run.id).data?.items ?? [];
  const contents = jobs.flatMap((j) => j.contents ?? []);
  const mentioned = new Set<string>();
  collectStrings(run.state, mentioned);
  const chosen = contents.filter((c) => mentioned.has(c.id) || mentioned.has(c.media_id));
  return (
    <section aria-labelledby="outcome" className="outcome">
      <h2 id="outcome">{run.status === "succeeded" ? "Result" : run.status === "failed" ? "Why it failed" : "Cancelled"}</h2>
      {run.error?.message && (run.status === "failed" ? <p className="error" role="alert">{run.error.message}</p> : <p className="muted">{run.error.message}</p>)}
      {chosen.length > 0 && <div className="node-grid">{chosen.map((c) => <OpenablePicture key={c.id} url={`/media/${c.media_id}`} name="Chosen picture" />)}</div>}
      <details open={chosen.length === 0}><summary>State</summary><pre className="node-code" tabIndex={0} aria-label="State">{JSON.stringify(run.state ?? {}, null, 2)}</pre></details>
    </section>
  );
}

/** Collects the strings in a value. */
function collectStrings(v: unknown, out: Set<string>) {
  if (typeof v === "string") out.add(v);
  else if (Array.isArray(v)) for (const e of v) collectStrings(e, out);
  else if (isObject(v)) for (const e of Object.values(v)) collectStrings(e, out);
}
