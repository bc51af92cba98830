/** A labelled control with its hint and its error. */
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import type { RequestFailed } from "../data/request.ts"

/** Attributes that tie a control to the label, hint and error of its field. */
export interface ControlAttributes {
  readonly id: string
  readonly name: string
  readonly "aria-describedby": string | undefined
  readonly "aria-invalid": boolean | undefined
}

const issues: Readonly<Record<string, string>> = {
  missing: "is required",
  repeated: "is given twice",
  unknown: "is unknown",
  type: "has the wrong type",
  format: "is malformed",
  out_of_range: "is out of range",
  too_long: "is too long",
  conflict: "conflicts with another field",
  duplicate: "is a duplicate"
}

/** What is wrong, in words that follow the name of a field. */
export const issueWords = (issue: string | undefined): string => issues[issue ?? ""] ?? "is invalid"

/** What is wrong with one field, in words that follow its name. Null when the failure does not name the field. */
export const faultOf = (failure: RequestFailed | null, field: string): string | null => {
  const detail = failure?.details.find((each) => each.field === field)
  if (failure === null || detail === undefined) {
    return null
  }
  const sentence = failure.message.split(/(?<=\.)\s/u).find((each) => each.startsWith(`${field} `))
  return detail.message ?? sentence?.slice(field.length + 1) ?? `${issueWords(detail.issue)}.`
}

/** True when the failure names only these fields: then nothing is left to show above the form. */
export const isAtFields = (failure: RequestFailed, fields: ReadonlyArray<string>): boolean =>
  failure.details.length > 0 && failure.details.every(({ field }) => field !== undefined && fields.includes(field))

/** A control with label, hint and error. `children` renders the control with the attributes that it is given. */
export const Field = ({
  children,
  failure = null,
  field,
  hint,
  label,
  name
}: {
  readonly label: string
  readonly name: string
  readonly hint?: string
  readonly failure?: RequestFailed | null
  /** Path of the field in the request, where it differs from `name`. */
  readonly field?: string
  readonly children: (attributes: ControlAttributes) => ComponentChildren
}) => {
  const id = useId()
  const fault = faultOf(failure, field ?? name)
  const notes = [hint === undefined ? null : `${id}-hint`, fault === null ? null : `${id}-fault`].filter(
    (each) => each !== null
  )
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        "aria-describedby": notes.length === 0 ? undefined : notes.join(" "),
        "aria-invalid": fault === null ? undefined : true
      })}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault !== null && (
        <span class="field-error" id={`${id}-fault`}>
          {label} {fault}
        </span>
      )}
    </div>
  )
}

/** A field with a list of values to choose from. */
export const SelectField = <Value extends string>({
  onChoose,
  options,
  value,
  ...field
}: Omit<Parameters<typeof Field>[0], "children"> & {
  readonly options: ReadonlyArray<readonly [value: Value, name: string]>
  /** The chosen value. By default the first. */
  readonly value?: Value | undefined
  readonly onChoose?: (value: Value) => void
}) => (
  <Field {...field}>
    {(attributes) => (
      <select
        {...attributes}
        onChange={({ currentTarget: { selectedIndex } }) => {
          const chosen = options[selectedIndex]
          if (chosen !== undefined) {
            onChoose?.(chosen[0])
          }
        }}
      >
        {options.map(([key, name]) => (
          <option key={key} value={key} selected={key === value}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
)
