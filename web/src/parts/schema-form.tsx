import { Button, Group } from "@mantine/core";
import Form from "@rjsf/mantine";
import { errorId } from "@rjsf/utils";
import type { ErrorSchema, FieldErrorProps } from "@rjsf/utils";
import { useMemo, useState } from "react";
import type { ReactNode } from "react";
import type { FieldError } from "../api/contract";
import { answerSchema, buildUiSchema, withTitles } from "../schema/form";
import { serverErrors, validator } from "../schema/validator";
import { dateWidgets } from "./date-widgets";
import { JsonField } from "./json-field";

interface Props {
  schema: unknown;
  busy: boolean;
  submit: string;
  /** The server's errors, shown at the fields. */
  fieldErrors: FieldError[];
  onSubmit: (value: unknown) => void;
  /** Buttons besides the submit button. */
  children?: ReactNode;
}

/** The form of a JSON Schema, validated on submit, here and by the server. */
export default function SchemaForm({ schema, busy, submit, fieldErrors, onSubmit, children }: Props) {
  const formSchema = useMemo(() => withTitles(answerSchema(schema)), [schema]);
  const uiSchema = useMemo(() => buildUiSchema(formSchema), [formSchema]);
  const extraErrors = useMemo<ErrorSchema>(() => serverErrors(fieldErrors), [fieldErrors]);
  const [data, setData] = useState<unknown>();
  return (
    <Form
      className="schema-form" schema={formSchema} uiSchema={uiSchema} validator={validator} formData={data} onChange={(e) => setData(e.formData)} extraErrors={extraErrors} fields={{ json: JsonField }} widgets={dateWidgets} templates={{ FieldErrorTemplate }}
      onSubmit={(e, event) => { const invalid = (event.target as Element).querySelector<HTMLElement>("[data-invalid-json]"); if (invalid) invalid.focus(); else onSubmit(e.formData); }} onError={() => undefined} focusOnFirstError showErrorList={false} noHtml5Validate idPrefix="answer"
    >
      <Group gap="xs"><Button type="submit" loading={busy}>{submit}</Button>{children}</Group>
    </Form>
  );
}

/** The errors of lists and groups. Controls show their own errors. */
export function FieldErrorTemplate({ errors, fieldPathId, schema, uiSchema }: FieldErrorProps) {
  if (!errors?.length || uiSchema?.["ui:widget"] || uiSchema?.["ui:field"] || (schema.type !== "array" && schema.type !== "object")) return null;
  return <div id={errorId(fieldPathId)} className="error">{errors.map((e, i) => <p key={i}>{e}</p>)}</div>;
}
