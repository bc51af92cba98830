import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

/** A field for a number, with what is wrong with it below. */
export const TypedField = ({
  fault,
  label,
  onInput,
  value
}: {
  readonly label: ComponentChildren
  readonly value: string
  readonly fault: string | null
  readonly onInput: (value: string) => void
}) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>
        <span>{label}</span>
      </label>
      <input
        id={id}
        value={value}
        inputMode="decimal"
        autocomplete="off"
        aria-invalid={fault !== null}
        aria-describedby={`${id}-fault`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <span class="field-error" id={`${id}-fault`} role="status">
        {fault}
      </span>
    </div>
  )
}
