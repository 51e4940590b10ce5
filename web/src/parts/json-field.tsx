import { Textarea } from "@mantine/core";
import { errorId } from "@rjsf/utils";
import type { FieldProps, RJSFSchema } from "@rjsf/utils";
import { useState } from "react";

/** A field for values that no control fits, written as JSON. */
export function JsonField({ fieldPathId, formData, onChange, rawErrors, required, name, schema, uiSchema, disabled, readonly }: FieldProps<unknown, RJSFSchema>) {
  const known = JSON.stringify(formData) ?? "";
  const [text, setText] = useState(known);
  const [before, setBefore] = useState(known);
  const [broken, setBroken] = useState(false);
  if (known !== before) {
    setBefore(known);
    if (known !== compact(text)) { // undone, or changed in another tab
      setText(known);
      setBroken(false);
    }
  }
  const change = (now: string) => {
    setText(now);
    try {
      onChange(now.trim() ? JSON.parse(now) : undefined, fieldPathId.path);
      setBroken(false);
    } catch {
      setBroken(true);
    }
  };
  const error = broken ? 'This is not valid JSON yet, for example ["one", "two"].' : rawErrors?.join("\n");
  return (
    <Textarea
      id={fieldPathId.$id} label={schema.title ?? uiSchema?.["ui:title"] ?? name} description={schema.description ?? "As JSON"} required={required ?? false} autosize minRows={2} maxRows={10} disabled={(disabled || readonly) ?? false}
      value={text} error={error} errorProps={{ id: errorId(fieldPathId) }} onChange={(e) => change(e.currentTarget.value)}
    />
  );
}

/** Returns JSON text without its whitespace; undefined if it is invalid. */
function compact(text: string): string | undefined {
  try {
    return text.trim() ? JSON.stringify(JSON.parse(text)) : "";
  } catch {
    return undefined;
  }
}
