/** Stored blocks, read one stretch of time after the other: no query holds the database for long. */
import { Effect, Option, Stream } from "effect"
import type { TradeStoreUnavailable } from "../../domain/market/Trade.ts"
import type { Broken } from "../../storage/deadline.ts"
import type { TapeTrade } from "../tape/TapeTrade.ts"
import type { RestoreRequest, StoredBatch, StoredLaunch } from "./StoredBatch.ts"
import type { TradeProgress } from "./TradeProgress.ts"
import type { makeTradeTable } from "./tradeTable.ts"

const MINUTE_MS = 60_000
/** Trades read at a time: more would keep other work waiting while they are decoded. */
const STRETCH = 2000

interface Minute {
  readonly at: Date
  readonly trades: number
}

/** The beginnings of stretches of about so many trades, in milliseconds, oldest first, back to the `most`-newest trade. */
const stretchesOf = (newestFirst: ReadonlyArray<Minute>, fromMs: number, most: number): ReadonlyArray<number> => {
  const edges: Array<number> = []
  let room = most
  let held = STRETCH
  for (const { at, trades } of newestFirst) {
    const parts = Math.ceil(trades / STRETCH)
    if (parts === 1 && held + trades <= STRETCH) {
      edges.pop()
      held += trades
    } else {
      held = trades
    }
    for (let part = parts - 1; part >= 0; part--) {
      edges.push(Math.max(fromMs, at.getTime() + Math.floor((part * MINUTE_MS) / parts)))
    }
    room -= trades
    if (room <= 0) {
      return edges.toReversed()
    }
  }
  // Launches may be older than the oldest trade.
  return [...(edges.at(-1) === fromMs ? [] : [fromMs]), ...edges.toReversed()]
}

/** One block after the other, from its trades and its launches, both in the order of the chain. */
const blocksOf = (
  trades: ReadonlyArray<TapeTrade>,
  launches: ReadonlyArray<StoredLaunch>
): ReadonlyArray<StoredBatch> => {
  const traded = Map.groupBy(trades, ({ slot }) => slot)
  const launched = Map.groupBy(launches, ({ slot }) => slot)
  const slots = Array.from(new Set([...traded.keys(), ...launched.keys()])).toSorted((a, b) => a - b)
  return slots.map((slot) => {
    const [of, began] = [traded.get(slot) ?? [], launched.get(slot) ?? []]
    const timeMs = of[0]?.timeMs ?? began[0]?.timeMs ?? 0
    return { slot, timeMs, trades: of, launches: began.map(({ launch }) => launch), afterGap: false }
  })
}

type Ask = <A>(effect: Effect.Effect<A, Broken>) => Effect.Effect<A, TradeStoreUnavailable>

/** See `TradeStore.since`. */
export const restoreBlocks = (
  table: ReturnType<typeof makeTradeTable>,
  chain: number,
  progress: TradeProgress | null,
  { after, most, second }: RestoreRequest,
  ask: Ask
): Stream.Stream<StoredBatch, TradeStoreUnavailable> => {
  if (progress === null) {
    return Stream.empty
  }
  const fromMs = second * 1000
  const endMs = progress.timeMs + 1
  const read = (edges: ReadonlyArray<number>, at: number) =>
    Effect.gen(function* () {
      const [from = endMs, to = endMs] = [edges[at], edges[at + 1]]
      const span = { chain, fromMs: from, toMs: to }
      const trades = yield* ask(table.between(span))
      const launches = yield* ask(table.launchesBetween(span))
      const blocks = blocksOf(trades, launches).filter(({ slot }) => slot > after)
      return [blocks, at + 1 < edges.length ? Option.some(at + 1) : Option.none<number>()] as const
    })
  return Stream.unwrap(
    Effect.map(ask(table.perMinute({ chain, fromMs })), (minutes) => {
      const edges = stretchesOf(minutes, fromMs, most)
      return Stream.paginate(0, (at: number) => read(edges, at))
    })
  )
}
