import { Clock, Config, Context, Effect, Layer, PubSub, Stream } from "effect"
import { type Mint, SOL } from "../domain/Address.ts"
import { type Coverage, incomplete } from "../domain/Scalar.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { Continuity } from "./Continuity.ts"
import { Launches } from "./Launches.ts"
import { SolPrice } from "./SolPrice.ts"
import { type Applied, Tape, type TapeLimits } from "./Tape.ts"
import { tapeTradesOf } from "./tapeTrades.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { type TradeBatch, TradeFeed } from "./TradeFeed.ts"

/** The tape is out of date once no block has been heard of for this long, in milliseconds. */
export const STALE_AFTER_MS = 30_000

/** What one block did, with its trades priced. */
export interface PricedBatch extends TradeBatch {
  /** In the order of the chain: by slot, then by index. */
  readonly trades: ReadonlyArray<TapeTrade>
}

/** What may be asked of the tape. Everything is read synchronously, and nothing is written meanwhile. */
export type TapeReading = Pick<
  Tape,
  | "bars"
  | "has"
  | "heldFrom"
  | "lastPrice"
  | "markets"
  | "mintOfToken"
  | "now"
  | "scan"
  | "seen"
  | "tokens"
  | "topTraders"
  | "window"
>

/** Everything that trades make, in memory. One writer; everyone reads synchronously. */
export class TradeTape extends Context.Service<
  TradeTape,
  {
    readonly tape: TapeReading
    readonly launches: Pick<Launches, "of" | "all">
    /** Whether the feed tells of launches at all. */
    readonly tellsLaunches: () => boolean
    /** Decimals of a token, as the last of its trades that told them; null when none did. */
    readonly decimalsOf: (mint: Mint) => number | null
    /** When a block was last heard of, by our clock; null before the first. */
    readonly heardAtMs: () => number | null
    /** The first second from which on every block was read; infinite before the first block. */
    readonly since: () => number
    /** Whether every block since this second was read, and why not: for what is kept longer than the windows. */
    readonly readFrom: (second: number) => Coverage
    /** Whether everything from this second until now was seen and is still held, and why not: for the windows. */
    readonly coverageFrom: (second: number, nowMs: number) => Coverage
    /** Takes the trades of the next block. For one writer at a time. */
    apply(batch: PricedBatch): Effect.Effect<Applied>
    /** Every batch from the moment of subscription, once it is on the tape. Who is more than 1,024 behind loses the oldest. */
    readonly applied: Stream.Stream<PricedBatch>
  }
>()("fathom/market/TradeTape") {
  /** A tape that is written by whoever calls `apply`. */
  static readonly layerManual = (limits: TapeLimits = defaultLimits): Layer.Layer<TradeTape> =>
    Layer.effect(
      TradeTape,
      Effect.suspend(() => makeTape(limits))
    )

  /**
   * A tape that follows the feed. Settings: `TAPE_TOKENS` (60,000), `TAPE_BARS` (2,000,000 of each stored width),
   * `TAPE_TRADES` (2,000,000 of the last day) and `TAPE_WALLETS` (1,000,000) bound what it keeps.
   */
  static readonly layer: Layer.Layer<TradeTape, Config.ConfigError, TradeFeed | PriceBook> = Layer.effect(
    TradeTape,
    Effect.gen(function* () {
      const feed = yield* TradeFeed
      const prices = yield* PriceBook
      const tape = yield* makeTape(yield* limits)
      const sol = new SolPrice()

      const price = (batch: TradeBatch, nowMs: number): PricedBatch => {
        for (const { legs } of batch.transactions) {
          legs.forEach((leg) => sol.observe(leg, batch.timeMs))
        }
        const { isStale, lifetime, of } = prices.at(nowMs)
        const each = isStale ? null : (of(SOL)?.usd ?? null)
        const now = each === null || lifetime === null ? null : { price: each, observedAtMs: lifetime.observedAtMs }
        const moment = { timeMs: batch.timeMs, microPerLamport: sol.at(batch.timeMs, now) }
        return { ...batch, trades: batch.transactions.flatMap((decoded) => tapeTradesOf(decoded, moment)) }
      }

      yield* feed.batches.pipe(
        Stream.runForEach((batch) =>
          Effect.flatMap(Clock.currentTimeMillis, (nowMs) => tape.apply(price(batch, nowMs)))
        ),
        Effect.tapDefect((defect) => Effect.logError("The tape stopped: a block could not be applied", defect)),
        Effect.forkScoped({ startImmediately: true })
      )
      return tape
    })
  )
}

const defaultLimits: TapeLimits = { tokens: 60_000, bars: 2_000_000, trades: 2_000_000, traders: 1_000_000 }

const limits = Config.all({
  tokens: Config.Int("TAPE_TOKENS").pipe(Config.withDefault(defaultLimits.tokens)),
  bars: Config.Int("TAPE_BARS").pipe(Config.withDefault(defaultLimits.bars)),
  trades: Config.Int("TAPE_TRADES").pipe(Config.withDefault(defaultLimits.trades)),
  traders: Config.Int("TAPE_WALLETS").pipe(Config.withDefault(defaultLimits.traders))
})

/** How many batches who follows the tape may be behind before the oldest are lost. */
export const BEHIND = 1024

const makeTape = Effect.fnUntraced(function* (bounds: TapeLimits) {
  const tape = new Tape(bounds, crypto.randomUUID())
  const launches = new Launches(bounds.tokens)
  const continuity = new Continuity()
  const decimals = rememberDecimals(tape)
  const published = yield* PubSub.sliding<PricedBatch>(BEHIND)
  const tells = { launches: false }
  const heard: { atMs: number | null } = { atMs: null }

  const take = (batch: PricedBatch, nowMs: number): Applied => {
    continuity.read(Math.floor(batch.timeMs / 1000), batch.afterGap)
    const applied = tape.apply(batch.trades, nowMs)
    tells.launches = batch.launches !== null
    for (const launch of batch.launches ?? []) {
      launches.add(launch, batch.timeMs)
      tape.addLaunch(launch.event, launch.launchpad, batch.timeMs)
    }
    tape.advance(batch.timeMs)
    decimals.note(batch.trades)
    heard.atMs = nowMs
    return applied
  }

  return TradeTape.of({
    tape,
    launches,
    tellsLaunches: () => tells.launches,
    decimalsOf: decimals.of,
    heardAtMs: () => heard.atMs,
    since: () => continuity.since,
    readFrom: (second) => continuity.coverageFrom(second),
    coverageFrom: (second, nowMs) => {
      if (heard.atMs === null || nowMs - heard.atMs > STALE_AFTER_MS) {
        return incomplete(heard.atMs === null ? "not_captured" : "source_stale")
      }
      return second < tape.heldFrom && second >= continuity.since
        ? incomplete("limit_clipped")
        : continuity.coverageFrom(second)
    },
    apply: Effect.fnUntraced(function* (batch: PricedBatch) {
      const applied = take(batch, yield* Clock.currentTimeMillis)
      yield* PubSub.publish(published, batch)
      return applied
    }),
    applied: Stream.fromPubSub(published)
  })
})

/** Decimals of the tokens on the tape. Those that left it are forgotten now and then. */
const rememberDecimals = (tape: TapeReading) => {
  const known = new Map<Mint, number>()
  const note = (trades: ReadonlyArray<TapeTrade>): void => {
    for (const trade of trades) {
      if (trade.decimals !== null) {
        known.set(trade.mint, trade.decimals)
      }
    }
    if (known.size > 2 * tape.tokens + BEHIND) {
      Array.from(known.keys())
        .filter((mint) => !tape.has(mint))
        .forEach((mint) => known.delete(mint))
    }
  }
  return { note, of: (mint: Mint) => known.get(mint) ?? null }
}
