/** Bars that lack blocks, at the edges of the record or in a gap. */
import type { Mint } from "../../domain/Address.ts"
import type { Gaps } from "../model/Gaps.ts"
import { nextBucket } from "./chartWindow.ts"
import type { Resolution } from "../model/resolutions.ts"
import type { Market } from "../tape/Market.ts"

/** What is known about the blocks behind bars. Unix seconds. */
export interface BarRecord {
  /** The first second from which on blocks were read. */
  readonly firstRead: number
  /** The blocks since then that were not read, in the order of the chain. */
  readonly gaps: Gaps
  /** From this second on the trades behind the bars are kept. */
  readonly keptFrom: number
  /** The creation of the token; null when it was not seen. Blocks before it have no trade of it. */
  readonly created: number | null
}

/** The record behind bars that come from memory alone, or from memory and the store. */
export const barRecord = (
  tape: Market["Service"],
  mint: Mint,
  resolution: Resolution,
  { isStored, keptFrom }: { readonly isStored: boolean; readonly keptFrom: number }
): BarRecord => {
  const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
  return {
    firstRead: tape.firstRead(),
    gaps: tape.gaps(),
    keptFrom: isStored ? keptFrom : Math.max(keptFrom, tape.heldSince(mint, resolution)),
    created: createdAtMs === null ? null : Math.floor(createdAtMs / 1000)
  }
}

/** Returns the bars that lack blocks or trades, by their first second. `starts` come oldest first. */
export const cutBars = (
  starts: ReadonlyArray<number>,
  resolution: Resolution,
  { created, firstRead, gaps, keptFrom }: BarRecord
): ReadonlySet<number> => {
  const cut = new Set<number>()
  let gap = 0
  for (const start of starts) {
    const begin = Math.max(start, created ?? start)
    // The creation itself was read, so earlier blocks of its second do not count.
    const isRead = begin >= firstRead || (created !== null && begin === created && created + 1 >= firstRead)
    while (gap < gaps.length && (gaps[gap]?.toSecond ?? 0) < begin) {
      gap++
    }
    const isSeen = (gaps[gap]?.fromSecond ?? Number.POSITIVE_INFINITY) >= nextBucket(resolution, start)
    if (!isRead || !isSeen || begin < keptFrom) {
      cut.add(start)
    }
  }
  return cut
}
