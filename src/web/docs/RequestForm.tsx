/** The form that fills a request, for trying it out and for the code beside it. */
import type { OperationInfo, Parameter, Schemas } from "./document.ts"
import { resolve } from "./schema.ts"

/** The value of each parameter, and the body. */
export interface FormValues {
  readonly values: Readonly<Record<string, string>>
  readonly body: string | null
}

const Choice = ({
  choices,
  id,
  isRequired,
  onChange,
  value
}: {
  readonly id: string
  readonly choices: ReadonlyArray<string>
  readonly isRequired: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}) => (
  <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
    {!isRequired && <option value="">left out</option>}
    {choices.map((choice) => (
      <option key={choice} value={choice}>
        {choice}
      </option>
    ))}
  </select>
)

const Input = ({
  onChange,
  parameter: { name, required, schema },
  schemas,
  value
}: {
  readonly parameter: Parameter
  readonly schemas: Schemas
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const id = `value-${name}`
  const { enum: listed, type } = resolve(schemas, schema).schema
  const choices = type === "boolean" ? [true, false] : listed
  return (
    <label for={id}>
      <span>
        <code>{name}</code>
        {required && <span class="need"> required</span>}
      </span>
      {choices === undefined ? (
        <input
          id={id}
          value={value}
          required={required}
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        <Choice id={id} choices={choices.map(String)} isRequired={required} value={value} onChange={onChange} />
      )}
    </label>
  )
}

const rowsOf = (body: string): number => Math.min(16, body.split("\n").length + 1)

/** A control for each parameter of an operation, and one for its body. */
export const RequestForm = ({
  form: { body, values },
  onChange,
  operation: { parameters = [] },
  schemas
}: {
  readonly operation: OperationInfo
  readonly schemas: Schemas
  readonly form: FormValues
  readonly onChange: (form: FormValues) => void
}) => (
  <div class="inputs">
    {parameters.map((parameter) => (
      <Input
        key={parameter.name}
        parameter={parameter}
        schemas={schemas}
        value={values[parameter.name] ?? ""}
        onChange={(value) => onChange({ body, values: { ...values, [parameter.name]: value } })}
      />
    ))}
    {body !== null && (
      <label for="value-body" class="wide">
        Body as JSON
        <textarea
          id="value-body"
          class="code"
          rows={rowsOf(body)}
          spellcheck={false}
          value={body}
          onInput={({ currentTarget }) => onChange({ values, body: currentTarget.value })}
        />
      </label>
    )}
  </div>
)
