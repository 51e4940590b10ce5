import Form from "@rjsf/mantine";
import { toErrorSchema } from "@rjsf/utils";
import type { Experimental_DefaultFormStateBehavior, RJSFSchema } from "@rjsf/utils";
import { useId, useMemo } from "react";
import type { FieldError } from "../../api/contract";
import { withTitles } from "../../schema/form";
import { buildFormUiSchema } from "../../schema/form-ui-schema";
import type { Block } from "../../schema/layout";
import { pathOf } from "../../schema/pointer";
import type { JSONValue } from "../../schema/pointer";
import { formError, formErrors, validator } from "../../schema/validator";
import { JsonField } from "../json-field";
import { FieldErrorTemplate } from "../schema-form";
import { LayoutTemplate } from "./layout-template";
import { widgets } from "./widgets";

interface Props {
  schema: object;
  layout?: Block[] | undefined;
  value: JSONValue | undefined;
  /** The label of a form with a single input. */
  label?: string;
  /** The server's errors; pointers are relative to the form's value. */
  fieldErrors?: FieldError[];
  disabled?: boolean;
  /** Whether nothing was entered yet: what is missing is no error then. */
  pristine?: boolean;
  onChange: (value: JSONValue | undefined) => void;
}

// Opening a form changes nothing: missing data stays empty.
const defaults: Experimental_DefaultFormStateBehavior = { emptyObjectFields: "skipDefaults", arrayMinItems: { populate: "never" }, allOf: "skipDefaults", mergeDefaultsIntoFormData: "useFormDataIfPresent" };

/** The form of a part of an interaction. It is validated on every change and has no submit button. */
export default function DataForm({ schema: given, layout, value, label, fieldErrors = [], disabled = false, pristine = false, onChange }: Props) {
  const schema = useMemo(() => withTitles(given as RJSFSchema), [given]);
  const ui = useMemo(() => ({ ...buildFormUiSchema(schema, layout, label), "ui:submitButtonOptions": { norender: true } }), [schema, layout, label]);
  const errors = useMemo(() => {
    const own = pristine ? [] : formErrors(schema, value);
    const others = fieldErrors.map((f) => formError(pathOf(f.pointer), f.detail)).filter((e) => !own.some((o) => o.property === e.property)); // the same error in the server's words
    return toErrorSchema([...own, ...others]);
  }, [schema, value, fieldErrors, pristine]);
  return (
    <div className="data-form">
      <Form
        tagName="div" schema={schema} uiSchema={ui} validator={validator} formData={value} disabled={disabled} extraErrors={errors} noValidate idPrefix={useId()} showErrorList={false}
        fields={{ json: JsonField }} templates={{ ObjectFieldTemplate: LayoutTemplate, FieldErrorTemplate }} widgets={widgets} experimental_defaultFormStateBehavior={defaults}
        onChange={(e, field) => { if (field !== undefined) onChange(e.formData as JSONValue | undefined); }}
      />
    </div>
  );
}
