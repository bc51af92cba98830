/** A reader of HTML that is stricter than any browser: what it takes, every browser reads the same way. */

/** One element as it was written. */
export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
}

/** A page, taken apart. */
export interface Markup {
  readonly elements: ReadonlyArray<Element>
  /** Text between tags, decoded and joined. */
  readonly text: string
}

const VOID = new Set(["meta", "link", "img"])
const TAG = /^<(\/?)([a-z][a-z0-9]*)((?: [a-z:-]+="[^"<>]*")*)( \/)?>/u
const ATTRIBUTE = / ([a-z:-]+)="([^"<>]*)"/gu
const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#96;": "`"
}

/** Text without markup: every ampersand begins one of the few entities that we write. */
const decode = (text: string): string =>
  text.replaceAll(/&[#a-z0-9]*;?/gu, (entity) => {
    const meant = ENTITIES[entity]
    if (meant === undefined) {
      throw new Error(`${entity} is not a known entity`)
    }
    return meant
  })

/** Reads a page. Throws at whatever is not plainly balanced tags with quoted attributes, and text. */
export const readMarkup = (page: string): Markup => {
  const start = "<!doctype html>"
  if (!page.startsWith(start)) {
    throw new Error("no doctype")
  }
  const elements: Array<Element> = []
  const open: Array<string> = []
  let text = ""
  let rest = page.slice(start.length)
  while (rest !== "") {
    const tag = TAG.exec(rest)
    if (tag === null) {
      const plain = /^[^<>]+/u.exec(rest)?.[0]
      if (plain === undefined) {
        throw new Error(`a stray bracket: ${rest.slice(0, 60)}`)
      }
      text += decode(plain)
      rest = rest.slice(plain.length)
      continue
    }
    const [whole, closing, name = "", attributes = "", isVoid] = tag
    if ((isVoid !== undefined) !== VOID.has(name)) {
      throw new Error(`${whole} has to be closed like the others`)
    }
    rest = rest.slice(whole.length)
    if (closing === "/") {
      const expected = open.pop()
      if (expected !== name || attributes !== "") {
        throw new Error(`</${name}> closes ${expected}`)
      }
      continue
    }
    const found = Array.from(
      attributes.matchAll(ATTRIBUTE),
      ([, key = "", value = ""]) => [key, decode(value)] as const
    )
    if (new Set(found.map(([key]) => key)).size !== found.length) {
      throw new Error(`an attribute twice in ${whole}`)
    }
    elements.push({ name, attributes: Object.fromEntries(found) })
    if (!VOID.has(name)) {
      open.push(name)
    }
  }
  if (open.length > 0) {
    throw new Error(`${open.join(" ")} is left open`)
  }
  return { elements, text }
}
