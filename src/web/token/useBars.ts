/**
 * Live candles of one token. The first read returns all bars, the socket brings the bars that change, and later reads
 * start at the newest bar.
 */
import { useEffect, useState } from "preact/hooks"
import { call } from "../data/request.ts"
import type { MarketTerms } from "../data/marketStream.ts"
import { useMarket } from "../data/useLive.ts"
import { type Read, useReading } from "../data/useRead.ts"
import { type Bar, type ChartAnswer, type ChartChoice, mergedBars, MOST_BARS, withBar } from "./bars.ts"

/** All bars read so far, with the metadata of the last answer. */
export interface Bars {
  readonly token: ChartAnswer["data"]["token"]
  readonly bars: ReadonlyArray<Bar>
  /** Width of a bar in milliseconds. */
  readonly stepMs: number
  readonly meta: ChartAnswer["meta"]
}

/** Milliseconds between two reads: while the socket brings the bars, and while it does not. */
const LIVE_MS = 60_000
const POLL_MS = 3000
const FIRST = 500

/** The subscription of a chart. The socket has no bars of market values. */
const termsOf = ({ denom, mint, mode, pool, resolution }: ChartChoice): MarketTerms | null =>
  mode === "mcap" ? null : { channel: "candles", resolution, denom, ...(pool === "" ? { mint } : { pool }) }

/** Reads a chart and keeps its bars current. `everyMs` is the time until it counts as late. */
export const useBars = (
  choice: ChartChoice
): { readonly read: Read<Bars>; readonly everyMs: number; readonly isLive: boolean } => {
  const key = JSON.stringify(choice)
  const [kept, setKept] = useState<{ readonly key: string; readonly bars: ReadonlyArray<Bar> }>({ key, bars: [] })
  const bars = kept.key === key ? kept.bars : []
  const change = (next: (before: ReadonlyArray<Bar>) => ReadonlyArray<Bar>) =>
    setKept((before) => ({ key, bars: next(before.key === key ? before.bars : []) }))
  const isLive = useMarket(termsOf(choice), (event) => {
    // Before the first answer there is nothing to join a bar to. The answer has the bar too.
    if (event.type === "candle" || event.type === "candle_closed") {
      change((before) => (before.length === 0 ? before : withBar(before, event.data)))
    }
  })
  const everyMs = isLive ? LIVE_MS : POLL_MS
  const { mint, ...selectors } = choice
  const read = useReading(
    key,
    async (signal) => {
      const last = bars.at(-1)
      const span = last === undefined ? { limit: FIRST } : { from: Math.floor(last.t / 1000), limit: MOST_BARS }
      return call("GET /api/v1/market/chart/:token", {
        path: { token: mint },
        query: { ...selectors, ...span },
        signal
      })
    },
    () => everyMs
  )
  const { answer } = read
  useEffect(() => {
    if (answer !== null) {
      change((before) => mergedBars(before, answer.data.bars))
    }
  }, [answer])
  const shown =
    answer === null
      ? null
      : {
          token: answer.data.token,
          bars: bars.length === 0 ? answer.data.bars : bars,
          stepMs: answer.data.resolutionMs,
          meta: answer.meta
        }
  return { read: { ...read, answer: shown }, everyMs, isLive }
}
