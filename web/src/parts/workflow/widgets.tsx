import { Input, MultiSelect, NumberInput, Slider } from "@mantine/core";
import { enumOptionsIndexForValue, enumOptionsValueForIndex, errorId, labelValue, rangeSpec } from "@rjsf/utils";
import type { WidgetProps } from "@rjsf/utils";
import { dateWidgets } from "../date-widgets";
import { MediaInput } from "./media-input";

const errorText = (errors: string[] | undefined) => (errors && errors.length > 0 ? errors.join("\n") : undefined);

/** A slider with a box for the exact number. */
function SliderWidget({ id, value, label, hideLabel, required, disabled, readonly, schema, options, rawErrors, onChange }: WidgetProps) {
  const { min = 0, max = 100, step = schema.type === "integer" ? 1 : 0.01 } = rangeSpec(schema);
  const isDisabled = (disabled || readonly) ?? false;
  const take = (v: string | number) => onChange(v === "" ? undefined : v);
  return (
    <Input.Wrapper id={id} label={labelValue(label, hideLabel, false)} labelElement="div" required={required ?? false} description={options.description} error={errorText(rawErrors)} errorProps={{ id: errorId(id) }}>
      <div className="slider">
        <Slider className="grow" min={min} max={max} step={step} value={typeof value === "number" ? value : min} onChange={take} disabled={isDisabled} label={null} thumbLabel={label} thumbProps={{ "aria-label": label }} />
        <NumberInput id={id} aria-label={`${label}, exact value`} size="xs" w={92} min={min} max={max} step={step} clampBehavior="none" value={typeof value === "number" ? value : ""} onChange={take} disabled={isDisabled} />
      </div>
    </Input.Wrapper>
  );
}

/** A choice of several values from a list. */
function MultiWidget({ id, value, label, hideLabel, required, disabled, readonly, options, rawErrors, onChange }: WidgetProps) {
  const all = options.enumOptions ?? [];
  const chosen = enumOptionsIndexForValue(value ?? [], all, true) as string[];
  return (
    <MultiSelect
      id={id} label={labelValue(label, hideLabel, false)} required={required ?? false} disabled={(disabled || readonly) ?? false} description={options.description} error={errorText(rawErrors)} errorProps={{ id: errorId(id) }} clearable
      data={all.map((o, i) => ({ value: String(i), label: o.label }))} value={chosen.map(String)} onChange={(c) => onChange(enumOptionsValueForIndex(c, all, []))}
    />
  );
}

/** Pictures and other media by id: one, or several if the field is a list. */
function MediaWidget({ id, value, label, hideLabel, required, disabled, readonly, schema, options, rawErrors, onChange }: WidgetProps) {
  const many = schema.type === "array";
  const ids = (Array.isArray(value) ? value : value ? [value] : []) as string[];
  return (
    <Input.Wrapper id={id} labelElement="div" label={labelValue(label, hideLabel, false)} required={required ?? false} description={options.description} error={errorText(rawErrors)} errorProps={{ id: errorId(id) }}>
      <MediaInput name={label} ids={ids} max={many ? (schema.maxItems ?? 16) : 1} disabled={(disabled || readonly) ?? false} onChange={(next) => onChange(many ? next : (next[0] ?? options.emptyValue))} />
    </Input.Wrapper>
  );
}

export const widgets = { ...dateWidgets, slider: SliderWidget, multi: MultiWidget, media: MediaWidget };
