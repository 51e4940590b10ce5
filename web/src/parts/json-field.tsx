import { Textarea } from "@mantine/core";
import { errorId } from "@rjsf/utils";
import type { FieldProps, RJSFSchema } from "@rjsf/utils";
import { useState } from "react";

/** A field for values that no control fits, written as JSON. Invalid text keeps the value before it and is marked, so that
 * a form is not submitted with that value. */
export function JsonField({ fieldPathId, formData, onChange, rawErrors, required, name, schema, uiSchema, disabled, readonly }: FieldProps<unknown, RJSFSchema>) {
  const serialized = JSON.stringify(formData) ?? "";
  const [text, setText] = useState(serialized);
  const [previous, setPrevious] = useState(serialized);
  const [isInvalid, setInvalid] = useState(false);
  if (serialized !== previous) {
    setPrevious(serialized);
    if (serialized !== minify(text)) { // undone, or changed in another tab
      setText(serialized);
      setInvalid(false);
    }
  }
  const change = (now: string) => {
    setText(now);
    const isValid = minify(now) !== undefined;
    setInvalid(!isValid);
    if (isValid) onChange(now.trim() ? JSON.parse(now) : undefined, fieldPathId.path);
  };
  const error = isInvalid ? 'This is not valid JSON yet, for example ["one", "two"].' : rawErrors?.join("\n");
  return (
    <Textarea
      id={fieldPathId.$id} label={schema.title ?? uiSchema?.["ui:title"] ?? name} description={schema.description ?? "As JSON"} required={required ?? false} autosize minRows={2} maxRows={10} disabled={(disabled || readonly) ?? false}
      data-invalid-json={isInvalid || undefined} value={text} error={error} errorProps={{ id: errorId(fieldPathId) }} onChange={(e) => change(e.currentTarget.value)}
    />
  );
}

/** Returns JSON text without its whitespace; undefined if it is invalid. */
function minify(text: string): string | undefined {
  try {
    return text.trim() ? JSON.stringify(JSON.parse(text)) : "";
  } catch {
    return undefined;
  }
}
