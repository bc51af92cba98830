/** A JSON answer as a text that is short enough for a model, and the state of the numbers in it. */

/** The part of the answer that is wanted. */
export interface TextBounds {
  readonly maxBytes: number
  /** Place of the first element shown of the longest list. */
  readonly fromElement: number
}

interface LongList {
  readonly path: ReadonlyArray<string>
  readonly list: ReadonlyArray<unknown>
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Every list of the answer outside of other lists. */
const listsOf = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<LongList> => {
  if (Array.isArray(value)) {
    return [{ path, list: value }]
  }
  return isRecord(value) ? Object.entries(value).flatMap(([key, inner]) => listsOf(inner, [...path, key])) : []
}

const replaced = (value: unknown, [key, ...rest]: ReadonlyArray<string>, by: unknown): unknown =>
  key === undefined || !isRecord(value) ? by : { ...value, [key]: replaced(value[key], rest, by) }

/** Elements from a place on, as many as fit; at least one. */
const fitting = (list: ReadonlyArray<unknown>, from: number, bytes: number): ReadonlyArray<unknown> => {
  const shown: Array<unknown> = []
  let left = bytes
  for (const element of list.slice(from)) {
    left -= sizeOf(element) + 1
    if (left < 0 && shown.length > 0) {
      break
    }
    shown.push(element)
  }
  return shown
}

const STATES = ["known", "partial", "stale", "unavailable"]

/** Counts of numbers by their state, over everything that carries a `status` and a `value`. */
const statesIn = (value: unknown, counts: Map<string, number> = new Map()): ReadonlyMap<string, number> => {
  if (Array.isArray(value)) {
    value.forEach((each) => statesIn(each, counts))
  } else if (isRecord(value)) {
    const { status } = value
    if (typeof status === "string" && "value" in value && STATES.includes(status)) {
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
    Object.values(value).forEach((each) => statesIn(each, counts))
  }
  return counts
}

/** The share of the numbers that is known, in words; empty where the answer has none that may be unknown. */
const knowledge = (answer: unknown): string => {
  const counts = statesIn(answer)
  const parts = STATES.flatMap((state) => (counts.has(state) ? [`${counts.get(state)} ${state}`] : []))
  return parts.length === 0 ? "" : `Numbers: ${parts.join(", ")}.\n`
}

/** Room for the notes beside the JSON. */
const NOTES = 200

/** A text of at most so many bytes, cut between characters. */
const cut = (text: string, bytes: number): string =>
  Buffer.byteLength(text) <= bytes
    ? text
    : `${Buffer.from(text)
        .subarray(0, bytes - 3)
        .toString("utf8")
        .replace(/\uFFFD+$/u, "")}...`

/** The text of an answer: the state of its numbers, its JSON, and where elements are left out, which. */
export const answerText = (answer: unknown, { fromElement, maxBytes }: TextBounds): string => {
  const head = knowledge(answer)
  const room = maxBytes - Buffer.byteLength(head)
  if (sizeOf(answer) <= room && fromElement === 0) {
    return head + JSON.stringify(answer)
  }
  const [longest] = listsOf(answer).toSorted((a, b) => sizeOf(b.list) - sizeOf(a.list))
  if (longest === undefined) {
    return head + cut(JSON.stringify(answer), room)
  }
  const { list, path } = longest
  const others = sizeOf(replaced(answer, path, []))
  const shown = fitting(list, fromElement, room - NOTES - others)
  const end = fromElement + shown.length
  const name = path.length === 0 ? "the answer" : path.join(".")
  const more = end < list.length ? `; call again with fromElement ${end} for more` : ""
  const note = `\nElements ${fromElement} to ${end - 1} of ${list.length} of ${name}${more}.`
  return head + cut(JSON.stringify(replaced(answer, path, shown)), room - Buffer.byteLength(note)) + note
}
