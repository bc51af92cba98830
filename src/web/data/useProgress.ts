/** How far the service has read the market, for every part of a page that shows it. One timer reads for all. */
import { useEffect, useState } from "preact/hooks"
import { call } from "./request.ts"

/** Reading the market's history that is still going on. */
export interface Progress {
  /** The finished part, from 0 to 1. */
  readonly share: number
  /** Milliseconds until it is done; null while unknown. */
  readonly leftMs: number | null
}

/** Blocks, and the trades in them, that are older than they should be. */
export interface LateBlocks {
  /** The age of the newest one in milliseconds; null when none has been read. */
  readonly lagMs: number | null
}

/** Whether the market is whole and current. Null stands for yes. */
interface Market {
  readonly progress: Progress | null
  readonly late: LateBlocks | null
}

/** Milliseconds between two reads while the market is late, and afterwards. */
const SOON_MS = 3000
const LATER_MS = 30_000

const listeners = new Set<(market: Market) => void>()
let known: Market = { progress: null, late: null }
let timer: ReturnType<typeof setTimeout> | undefined

const read = async (): Promise<Market> => {
  const { data } = await call("GET /freshness")
  const feed = data.find(({ source }) => source === "block_feed")
  // What alerts compare. The source `trades` tells of the store, which may be away while blocks are read.
  const blocks = data.find(({ source }) => source === "blocks")
  return {
    progress:
      feed?.reason === "backfill_running" && feed.share !== undefined
        ? { share: feed.share, leftMs: feed.leftMs ?? null }
        : null,
    late: blocks?.status === "stale" || blocks?.status === "unavailable" ? { lagMs: blocks.lagMs } : null
  }
}

const repeat = async (): Promise<void> => {
  if (!document.hidden) {
    // Where the service does not answer, the reads of the page say so.
    known = await read().catch(() => known)
    listeners.forEach((listener) => listener(known))
  }
  if (listeners.size > 0) {
    timer = setTimeout(() => void repeat(), known.progress === null && known.late === null ? LATER_MS : SOON_MS)
  }
}

const useMarket = (): Market => {
  const [market, setMarket] = useState(known)
  useEffect(() => {
    listeners.add(setMarket)
    if (listeners.size === 1) {
      clearTimeout(timer)
      void repeat()
    }
    return () => {
      listeners.delete(setMarket)
      if (listeners.size === 0) {
        clearTimeout(timer)
      }
    }
  }, [])
  return market
}

/** The progress of reading the market; null once the market is whole. */
export const useProgress = (): Progress | null => useMarket().progress

/** How late the blocks are; null while they are current. */
export const useLateBlocks = (): LateBlocks | null => useMarket().late
