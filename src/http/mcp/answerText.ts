/** Shortens a JSON answer for a model, and states how well its numbers are known. */

/** The part of the answer that is wanted. */
export interface TextBounds {
  readonly maxBytes: number
  /** Index of the first shown element of the longest list. */
  readonly fromElement: number
}

interface LongList {
  readonly path: ReadonlyArray<string>
  readonly list: ReadonlyArray<unknown>
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Every list of the answer that is not inside another list. */
const listsOf = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<LongList> => {
  if (Array.isArray(value)) {
    return [{ path, list: value }]
  }
  return isRecord(value) ? Object.entries(value).flatMap(([key, inner]) => listsOf(inner, [...path, key])) : []
}

const replaced = (value: unknown, [key, ...rest]: ReadonlyArray<string>, by: unknown): unknown =>
  key === undefined || !isRecord(value) ? by : { ...value, [key]: replaced(value[key], rest, by) }

/** As many elements as fit, from an index on; at least one. */
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

type Counts = ReadonlyMap<string, number>

/** Counts of states: of numbers, which have a `value` beside the state, and of rows and other parts. */
interface States {
  readonly numbers: Map<string, number>
  readonly parts: Map<string, number>
}

const isState = (status: unknown): status is string => typeof status === "string" && STATES.includes(status)

/** Counts of the states in an answer. */
const statesIn = (value: unknown, states: States = { numbers: new Map(), parts: new Map() }): States => {
  if (Array.isArray(value)) {
    value.forEach((each) => statesIn(each, states))
  } else if (isRecord(value)) {
    const { status } = value
    if (isState(status)) {
      const counts = "value" in value ? states.numbers : states.parts
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
    Object.values(value).forEach((each) => statesIn(each, states))
  }
  return states
}

const counted = (name: string, counts: Counts): ReadonlyArray<string> => {
  const each = STATES.flatMap((state) => (counts.has(state) ? [`${counts.get(state)} ${state}`] : []))
  return each.length === 0 ? [] : [`${name}: ${each.join(", ")}.`]
}

/** The state of the whole answer from its `meta`, with the reason when it is not fully known. */
const wholeState = (meta: unknown): ReadonlyArray<string> => {
  if (!isRecord(meta) || !isState(meta["status"])) {
    return []
  }
  const { coverage, status } = meta
  const reason = isRecord(coverage) && typeof coverage["reason"] === "string" ? ` (${coverage["reason"]})` : ""
  return [`Answer: ${status}${reason}.`]
}

/**
 * The states of an answer in one line: of the whole, then counts over its numbers and parts. Empty when it has none.
 */
const knowledge = (answer: unknown): string => {
  const { meta = null, ...rest } = isRecord(answer) ? answer : { rest: answer }
  const { numbers, parts } = statesIn(rest)
  const line = [...wholeState(meta), ...counted("Numbers", numbers), ...counted("Parts", parts)]
  return line.length === 0 ? "" : `${line.join(" ")}\n`
}

/** Room for the notes around the JSON. */
const NOTES = 200

/** The text cut to at most `bytes`, between characters. */
const cut = (text: string, bytes: number): string =>
  Buffer.byteLength(text) <= bytes
    ? text
    : `${Buffer.from(text)
        .subarray(0, bytes - 3)
        .toString("utf8")
        .replace(/\uFFFD+$/u, "")}...`

const longestList = (answer: unknown): LongList | undefined =>
  listsOf(answer).toSorted((a, b) => sizeOf(b.list) - sizeOf(a.list))[0]

/** The number of elements of the longest list; 0 without a list. */
export const listLength = (answer: unknown): number => longestList(answer)?.list.length ?? 0

/** An answer of a tool in its parts. */
export interface ShownAnswer {
  /** The states of its numbers; empty when it has none. */
  readonly known: string
  /** The answer without the elements that are left out; null when it had to be cut inside an element. */
  readonly shown: { readonly answer: unknown } | null
  /** Which elements are shown; empty when all are. */
  readonly leftOut: string
  /** All of it as text. */
  readonly text: string
}

/** An answer within bounds: the state of its numbers, its JSON, and which elements are left out. */
export const showAnswer = (answer: unknown, { fromElement, maxBytes }: TextBounds): ShownAnswer => {
  const head = knowledge(answer)
  const known = head.trimEnd()
  const room = maxBytes - Buffer.byteLength(head)
  if (sizeOf(answer) <= room && fromElement === 0) {
    return { known, shown: { answer }, leftOut: "", text: head + JSON.stringify(answer) }
  }
  const cutTo = (value: unknown, note: string): ShownAnswer => {
    const json = JSON.stringify(value)
    const text = cut(json, room - Buffer.byteLength(note))
    const leftOut = text === json ? note.trimStart() : `The answer is longer than maxBytes.${note.replace("\n", " ")}`
    return { known, shown: text === json ? { answer: value } : null, leftOut, text: head + text + note }
  }
  const longest = longestList(answer)
  if (longest === undefined) {
    return cutTo(answer, "")
  }
  const { list, path } = longest
  const others = sizeOf(replaced(answer, path, []))
  const shown = fitting(list, fromElement, room - NOTES - others)
  const end = fromElement + shown.length
  const name = path.length === 0 ? "the answer" : path.join(".")
  const more = end < list.length ? `; call again with fromElement ${end} for more` : ""
  return cutTo(
    replaced(answer, path, shown),
    `\nElements ${fromElement} to ${end - 1} of ${list.length} of ${name}${more}.`
  )
}
