/** Reads JSON in which no object has a key twice. The text is checked, because parsing drops duplicates. */
import type { Issue } from "../../api/errors/Problem.ts"

/** An accepted JSON body. */
export interface JsonDocument {
  readonly text: string
  readonly value: unknown
  /** The digits of a number in the root object, as they were sent. Parsing keeps at most seventeen. */
  readonly numberText: (key: string) => string | undefined
}

/** A fault in a body, and its place. */
export interface Flaw {
  /** Dotted path of the key; empty for the body as a whole. */
  readonly field: string
  readonly issue: Issue
}

/** An object or array that has not ended yet. */
interface Open {
  /** Keys seen so far; null inside an array. */
  readonly keys: Set<string> | null
  readonly path: string
  /** The key being read, or the index of the element. */
  at: string | number
}

// A string with the colon that makes it a key, or one structural character.
const TOKEN = /"(?:[^"\\]|\\.)*"(?<colon>[\t\n\r ]*:)?|[{}[\],]/gu

const within = (open: Open | undefined): string =>
  open === undefined ? "" : open.path === "" ? String(open.at) : `${open.path}.${open.at}`

const readKey = (literal: string, open: Open): Flaw | undefined => {
  const key: unknown = JSON.parse(literal)
  open.at = String(key)
  // An own `__proto__` is invisible to code that copies objects, so no schema would see it.
  const issue: Issue | undefined =
    open.at === "__proto__" ? "unknown" : open.keys?.has(open.at) ? "duplicate" : undefined
  open.keys?.add(open.at)
  return issue && { field: within(open), issue }
}

/**
 * The first key of valid JSON that occurs twice in its object, or is `__proto__`. Fills `members` with the place where
 * the value of each root key begins.
 */
const flawedKey = (text: string, members: Map<string, number>): Flaw | undefined => {
  const stack: Array<Open> = []
  for (const { 0: token, groups, index } of text.matchAll(TOKEN)) {
    const open = stack.at(-1)
    if (token === "{" || token === "[") {
      stack.push({ keys: token === "{" ? new Set() : null, path: within(open), at: 0 })
    } else if (token === "}" || token === "]") {
      stack.pop()
    } else if (token === ",") {
      if (open?.keys === null) {
        open.at = Number(open.at) + 1
      }
    } else if (groups?.["colon"] !== undefined && open !== undefined) {
      const flaw = readKey(token.slice(0, -groups["colon"].length), open)
      if (flaw !== undefined) {
        return flaw
      }
      if (stack.length === 1) {
        members.set(String(open.at), index + token.length)
      }
    }
  }
  return undefined
}

// A byte order mark is kept and then rejected, because JSON text must not begin with one.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const NUMBER = /^[\t\n\r ]*(?<digits>-?[0-9][0-9.Ee+-]*)/u

/** The JSON body in these bytes, parsed once, or its first flaw. An empty body counts as missing. */
export const readJson = (bytes: Uint8Array): JsonDocument | Flaw => {
  if (bytes.length === 0) {
    return { field: "", issue: "missing" }
  }
  try {
    const text = utf8.decode(bytes)
    const value: unknown = JSON.parse(text)
    const members = new Map<string, number>()
    const numberText = (key: string) => NUMBER.exec(text.slice(members.get(key) ?? text.length))?.groups?.["digits"]
    return flawedKey(text, members) ?? { text, value, numberText }
  } catch {
    return { field: "", issue: "format" }
  }
}
