/** Lists that the API gives page by page. */
import { useEffect, useRef, useState } from "preact/hooks"
import { type Action, useAction } from "./useAction.ts"
import { type Read, useReading } from "./useRead.ts"

/** One page of a list. */
export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly nextCursor: string | null
}

/** A list: its first page, read again and again, with what stands beside its items, and the pages after it that were asked for. */
export interface Pages<Item, Beside = unknown> {
  readonly read: Read<Page<Item> & Beside>
  readonly items: ReadonlyArray<Item>
  /** Reads the next page; null at the end. */
  readonly more: (() => void) | null
  readonly next: Action
  /** Begins again with the first page, after a change of the list. */
  readonly again: () => void
}

interface Later<Item> extends Page<Item> {
  readonly key: string
}

/** Most pages that are read to join a first page with what is shown. */
const MOST_JOINS = 4

/** Reads a list whose items are distinguished by `idOf`; a change of `key` begins again. See `useReading`. */
export const usePages = <Item, Beside = unknown>(
  key: string,
  readPage: (cursor: string | undefined, signal?: AbortSignal) => Promise<Page<Item> & Beside>,
  idOf: (item: Item) => string,
  everyMs?: number
): Pages<Item, Beside> => {
  const [kept, setLater] = useState<Later<Item> | null>(null)
  const next = useAction()
  const later = kept?.key === key ? kept : null
  const shown = useRef(later)
  shown.current = later
  /** The first page, and as many after it as lead to what is shown already. */
  const readFirst = async (signal: AbortSignal) => {
    const ids = new Set(shown.current?.items.map(idOf))
    const first = await readPage(undefined, signal)
    const joined = [...first.items]
    let { nextCursor } = first
    let last = first.items
    for (let joins = 0; ids.size > 0 && nextCursor !== null && joins < MOST_JOINS; joins++) {
      if (last.some((item) => ids.has(idOf(item)))) {
        break
      }
      const page = await readPage(nextCursor, signal)
      joined.push(...page.items)
      last = page.items
      nextCursor = page.nextCursor
    }
    return { ...first, items: joined, nextCursor }
  }
  const read = useReading(key, readFirst, everyMs)
  const first = read.answer?.items ?? []
  const known = new Set(first.map(idOf))
  const items = [...first, ...(later?.items ?? []).filter((item) => !known.has(idOf(item)))]
  useEffect(() => {
    if (later !== null && first.length > 0) {
      // Pages that share nothing with what was read before would leave out what lies between.
      const isJoined = later.items.some((item) => known.has(idOf(item)))
      setLater(isJoined ? { ...later, items } : null)
    }
  }, [read.answer])
  const cursor = later === null ? (read.answer?.nextCursor ?? null) : later.nextCursor
  const load = (from: string) =>
    next.run(
      () => readPage(from),
      (page) => setLater({ key, items: [...items, ...page.items], nextCursor: page.nextCursor })
    )
  const again = () => {
    setLater(null)
    read.again()
  }
  return { read, items, more: cursor === null ? null : () => load(cursor), next, again }
}
