/** Checks the arguments of a tool call before they become a request, which would alter some of them unnoticed. */
import { answerBytes, type ReadTool } from "./tools.ts"

type Args = Readonly<Record<string, unknown>>

const entriesOf = (value: object): ReadonlyArray<readonly [string, unknown]> =>
  Array.isArray(value) ? value.map((each, index) => [String(index), each] as const) : Object.entries(value)

/** The fault of a value that JSON or a URL cannot carry unchanged: half a character, or a number that was rounded. */
const faultOf = (path: string, value: unknown): string | null => {
  if (typeof value === "string") {
    return value.isWellFormed() ? null : `${path} holds half of a surrogate pair.`
  }
  if (typeof value === "number") {
    const isExact = Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER
    return isExact ? null : `${path} is too large for an exact number: send it as text.`
  }
  if (typeof value !== "object" || value === null) {
    return null
  }
  for (const [key, each] of entriesOf(value)) {
    const fault = key.isWellFormed() ? faultOf(`${path}.${key}`, each) : `A name in ${path} holds half of a pair.`
    if (fault !== null) {
      return fault
    }
  }
  return null
}

const rangeFault = (name: string, value: unknown, least: number, most: number): string | null =>
  value === undefined || (Number.isInteger(value) && Number(value) >= least && Number(value) <= most)
    ? null
    : `${name} must be an integer from ${least} to ${most}.`

/** The largest index that `fromElement` takes. */
const MOST_ELEMENTS = 1_000_000

/** What is wrong with the arguments, naming the argument; null when they make a request. */
export const argumentFault = ({ inputSchema: { properties, required } }: ReadTool, args: Args): string | null => {
  for (const [name, value] of Object.entries(args)) {
    if (!Object.hasOwn(properties, name)) {
      return `${name.toWellFormed()} is unknown.`
    }
    if (name !== "body" && typeof value === "object" && value !== null) {
      return `${name} must be text, a number or a boolean.`
    }
    const fault = faultOf(name, value)
    if (fault !== null) {
      return fault
    }
  }
  const missing = required.find((name) => args[name] === undefined || args[name] === null)
  return missing === undefined
    ? (rangeFault("maxBytes", args["maxBytes"], answerBytes.least, answerBytes.most) ??
        rangeFault("fromElement", args["fromElement"], 0, MOST_ELEMENTS))
    : `${missing} is missing.`
}
