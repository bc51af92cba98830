/** Lists that the API gives page by page. */
import { useState } from "preact/hooks"
import { type Action, useAction } from "./useAction.ts"
import { type Read, useReading } from "./useRead.ts"

/** One page of a list. */
export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly nextCursor: string | null
}

/** A list: its first page, read again and again, and the pages after it that were asked for. */
export interface Pages<Item> {
  readonly read: Read<Page<Item>>
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

/** Reads a list whose items are distinguished by `idOf`; a change of `key` begins again. See `useReading`. */
export const usePages = <Item>(
  key: string,
  readPage: (cursor: string | undefined, signal?: AbortSignal) => Promise<Page<Item>>,
  idOf: (item: Item) => string,
  everyMs?: number
): Pages<Item> => {
  const read = useReading(key, (signal) => readPage(undefined, signal), everyMs)
  const [kept, setLater] = useState<Later<Item> | null>(null)
  const next = useAction()
  const later = kept?.key === key ? kept : null
  const first = read.answer?.items ?? []
  const known = new Set(first.map(idOf))
  const items = [...first, ...(later?.items ?? []).filter((item) => !known.has(idOf(item)))]
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
