/** Lists that the API gives page by page. */
import { useEffect, useRef, useState } from "preact/hooks"
import { type Action, useAction } from "./useAction.ts"
import { type Read, useReading } from "./useRead.ts"

/** One page of a list. */
export interface Page<Item> {
  readonly data: ReadonlyArray<Item>
  readonly nextCursor: string | null
}

/** A list: its first page, read repeatedly, and the pages after it that were asked for. */
export interface Pages<Item, First extends Page<Item> = Page<Item>> {
  /** The first page with the other fields of its answer. */
  readonly read: Read<First>
  readonly items: ReadonlyArray<Item>
  /** Reads the next page. Null at the end of the list. */
  readonly more: (() => void) | null
  readonly next: Action
  /** Starts again with the first page, after the list changed. */
  readonly again: () => void
}

interface Later<Item> extends Page<Item> {
  readonly key: string
}

/** Most further pages that are read to connect a new first page with the items shown. */
const MOST_JOINS = 4

/** Reads a list. `idOf` tells items apart; a new `key` starts again. See `useReading`. */
export const usePages = <Item, First extends Page<Item>>(
  key: string,
  readPage: (cursor: string | undefined, signal: AbortSignal | undefined) => Promise<First & Page<Item>>,
  idOf: (item: Item) => string,
  every?: number | (() => number)
): Pages<Item, First> => {
  const [kept, setLater] = useState<Later<Item> | null>(null)
  const next = useAction()
  const later = kept?.key === key ? kept : null
  const shown = useRef(later)
  shown.current = later
  /** Reads the first page, and further pages until they reach an item that is already shown. */
  const readFirst = async (signal: AbortSignal) => {
    const ids = new Set(shown.current?.data.map(idOf))
    const first = await readPage(undefined, signal)
    const joined = [...first.data]
    let { nextCursor } = first
    let last = first.data
    for (let joins = 0; ids.size > 0 && nextCursor !== null && joins < MOST_JOINS; joins++) {
      if (last.some((item) => ids.has(idOf(item)))) {
        break
      }
      const page = await readPage(nextCursor, signal)
      joined.push(...page.data)
      last = page.data
      nextCursor = page.nextCursor
    }
    return { ...first, data: joined, nextCursor }
  }
  const read = useReading(key, readFirst, every)
  const first = read.answer?.data ?? []
  const known = new Set(first.map(idOf))
  const items = [...first, ...(later?.data ?? []).filter((item) => !known.has(idOf(item)))]
  useEffect(() => {
    if (later !== null && first.length > 0) {
      // If the new pages share no item with the old ones, items in between may be missing. Then drop the old pages.
      const isJoined = later.data.some((item) => known.has(idOf(item)))
      setLater(isJoined ? { ...later, data: items } : null)
    }
  }, [read.answer])
  const cursor = later === null ? (read.answer?.nextCursor ?? null) : later.nextCursor
  const load = (from: string) =>
    next.run(
      () => readPage(from, undefined),
      (page) => setLater({ key, data: [...items, ...page.data], nextCursor: page.nextCursor })
    )
  const again = () => {
    setLater(null)
    read.again()
  }
  return { read, items, more: cursor === null ? null : () => load(cursor), next, again }
}
