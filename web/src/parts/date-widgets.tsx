import { getTemplate, localToUTC, utcToLocal } from "@rjsf/utils";
import type { WidgetProps } from "@rjsf/utils";

/** An input of a date or a time with the browser's own control. toControl and toValue convert between its text and the
 * value, which has the format of JSON Schema. */
function dateWidget(type: string, toControl: (value: string) => string, toValue: (text: string) => string | undefined) {
  return function DateOrTime(props: WidgetProps) {
    const Input = getTemplate("BaseInputTemplate", props.registry, props.options);
    return <Input {...props} type={type} value={props.value ? toControl(String(props.value)) : ""} onChange={(text: string) => props.onChange(text ? toValue(text) : undefined)} />;
  };
}

const same = (text: string) => text;

export const dateWidgets = {
  DateWidget: dateWidget("date", same, same),
  DateTimeWidget: dateWidget("datetime-local", utcToLocal, localToUTC),
  TimeWidget: dateWidget("time", (value) => value.slice(0, 5), (text) => `${text}:00Z`), // the format requires a time zone
};
