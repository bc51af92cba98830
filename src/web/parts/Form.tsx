/** Forms that run one change, and the values of their controls. */
import type { ComponentChildren } from "preact"
import type { Action } from "../data/useAction.ts"
import { isAtFields } from "./Field.tsx"
import { Failed } from "./States.tsx"

/** A form with one button. A failure that does not concern `fields` alone stands above the controls. */
export const Form = ({
  action: { failure, isBusy },
  children,
  fields,
  layout = "stack",
  onSubmit,
  submit
}: {
  readonly action: Action
  /** Paths of the fields that show what is wrong with them. */
  readonly fields: ReadonlyArray<string>
  readonly layout?: "stack" | "grid"
  /** The words on the button. */
  readonly submit: string
  readonly onSubmit: (event: Event) => void
  readonly children: ComponentChildren
}) => (
  <form class={layout} onSubmit={onSubmit}>
    {failure !== null && !isAtFields(failure, fields) && (
      <div class="wide">
        <Failed failure={failure} />
      </div>
    )}
    {children}
    <div class="row wide">
      <button class="main" type="submit" disabled={isBusy}>
        {submit}
      </button>
    </div>
  </form>
)

/** Stops the submission of a form and returns the trimmed text of each control by name. */
export const textsOf = (event: Event): ((name: string) => string) => {
  event.preventDefault()
  const form = event.currentTarget instanceof HTMLFormElement ? new FormData(event.currentTarget) : new FormData()
  return (name) => {
    const value = form.get(name)
    return typeof value === "string" ? value.trim() : ""
  }
}

/** The values of the checked boxes with this name. */
export const checkedOf = (event: Event, name: string): ReadonlyArray<string> =>
  event.currentTarget instanceof HTMLFormElement
    ? new FormData(event.currentTarget).getAll(name).filter((value) => typeof value === "string")
    : []

/** An object with one property for an optional text, or without it when the text is empty. */
export const optional = <Name extends string>(name: Name, text: string): { readonly [K in Name]?: string } =>
  (text === "" ? {} : { [name]: text }) as { readonly [K in Name]?: string }
