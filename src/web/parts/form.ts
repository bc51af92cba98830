/** Reading of forms. */

/** The trimmed text of each control of a submitted form; the submission itself is stopped. */
export const textsOf = (event: Event): ((name: string) => string) => {
  event.preventDefault()
  const form = event.currentTarget instanceof HTMLFormElement ? new FormData(event.currentTarget) : new FormData()
  return (name) => {
    const value = form.get(name)
    return typeof value === "string" ? value.trim() : ""
  }
}

/** The values of the checked boxes of a name. */
export const checkedOf = (event: Event, name: string): ReadonlyArray<string> =>
  event.currentTarget instanceof HTMLFormElement
    ? new FormData(event.currentTarget).getAll(name).filter((value) => typeof value === "string")
    : []

/** A body's entry for an optional text: left out when it is empty. */
export const optional = <Name extends string>(name: Name, text: string): { readonly [K in Name]?: string } =>
  (text === "" ? {} : { [name]: text }) as { readonly [K in Name]?: string }
