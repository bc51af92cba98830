/** HTML templates that escape every value. */

/** Markup that is safe without escaping. Only `html` makes it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | null | Html | ReadonlyArray<Html>

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;"
}

/** Text as the content of an element or of a quoted attribute. */
const escaped = (text: string): string => text.replaceAll(/[&<>"'`]/gu, (character) => ENTITIES[character] ?? "")

const rendered = (part: Part | undefined): string => {
  if (part === null || part === undefined) {
    return ""
  }
  if (part instanceof Html) {
    return part.text
  }
  return typeof part === "object" ? part.map(({ text }) => text).join("") : escaped(String(part))
}

/**
 * A template that escapes its values, unless they are markup already; null is left out. Attributes have to be quoted,
 * and an address in one has to be checked, because escaping does not make `javascript:` harmless.
 */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(strings.map((markup, i) => markup + rendered(parts[i])).join(""))
