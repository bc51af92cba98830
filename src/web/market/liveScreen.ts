/** A screen that the market socket keeps current. */
import type { MarketEvent } from "../data/marketStream.ts"

/** The rows of a screen, and what it says beside them. */
export type LiveScreen = Extract<MarketEvent, { readonly type: "snapshot"; readonly channel: "screen" }>["data"]
export type ScreenChange = Extract<MarketEvent, { readonly type: "screen" }>["data"]

/** The screen after a change, in the order of its ranks. */
export const afterChange = ({ rows, sort }: LiveScreen, change: ScreenChange): LiveScreen => {
  const { changed, entered, left, ...about } = change
  const known = new Map(rows.map((row) => [row.token.address, row]))
  left.forEach((mint) => known.delete(mint))
  for (const row of [...entered, ...changed]) {
    known.set(row.token.address, row)
  }
  return { rows: Array.from(known.values()).toSorted((a, b) => a.rank - b.rank), sort, ...about }
}
