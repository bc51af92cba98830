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

/** Milliseconds between two reads while the market is being read, and afterwards. */
const SOON_MS = 3000
const LATER_MS = 30_000

const listeners = new Set<(progress: Progress | null) => void>()
let known: Progress | null = null
let timer: ReturnType<typeof setTimeout> | undefined

const read = async (): Promise<Progress | null> => {
  const { data } = await call("GET /freshness")
  const feed = data.find(({ source }) => source === "block_feed")
  return feed?.reason === "backfill_running" && feed.share !== undefined
    ? { share: feed.share, leftMs: feed.leftMs ?? null }
    : null
}

const repeat = async (): Promise<void> => {
  if (!document.hidden) {
    // Where the service does not answer, the reads of the page say so.
    known = await read().catch(() => known)
    listeners.forEach((listener) => listener(known))
  }
  if (listeners.size > 0) {
    timer = setTimeout(() => void repeat(), known === null ? LATER_MS : SOON_MS)
  }
}

/** The progress of reading the market; null once the market is whole. */
export const useProgress = (): Progress | null => {
  const [progress, setProgress] = useState(known)
  useEffect(() => {
    listeners.add(setProgress)
    if (listeners.size === 1) {
      clearTimeout(timer)
      void repeat()
    }
    return () => {
      listeners.delete(setProgress)
      if (listeners.size === 0) {
        clearTimeout(timer)
      }
    }
  }, [])
  return progress
}
