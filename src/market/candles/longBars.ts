/** Bars of a window from what the tape holds and, for what is older, from the store. */
import { Effect } from "effect"
import { type Mint, SOL } from "../../domain/Address.ts"
import type { TradeStoreUnavailable } from "../../domain/market/Trade.ts"
import { type ChartWindow, nextBucket } from "./chartWindow.ts"
import type { BarPage, BarWindow } from "./foldBars.ts"
import { solWindow } from "./solBars.ts"
import type { StoredBars } from "../store/StoredBars.ts"
import type { TradeTape } from "../tape/TradeTape.ts"

/** What the store adds to a chart. */
export interface OlderBars {
  /** By token; of those that are missing the tape has everything there is. */
  readonly of: ReadonlyMap<Mint, StoredBars>
  /** Whether something older is stored that the store did not give in time. */
  readonly isMissing: boolean
}

const NO_BARS: BarPage = { bars: [], unpriced: 0, truncated: false, trimmed: false }
/** Nobody draws more bars of SOL than this beside those of a token. */
const MOST_SOL = 50_000

/** The bars of a token in a window. */
export const barsOf = ({ state }: TradeTape["Service"], older: OlderBars, mint: Mint, window: BarWindow): BarPage =>
  state.bars(mint, window, older.of.get(mint)) ?? NO_BARS

/** Up to where the store is to be asked: what begins there or later is on the tape. Null when nothing is older. */
const storeEnd = (tape: TradeTape["Service"], mint: Mint, { from, resolution, to }: BarWindow, nowMs: number) => {
  const held = Math.min(tape.heldSince(mint, resolution), nextBucket(resolution, Math.floor(nowMs / 1000)))
  const createdAtMs = tape.launches.of(mint)?.createdAtMs ?? null
  const began = createdAtMs === null ? tape.firstRead() : Math.floor(createdAtMs / 1000)
  const before = Math.min(held, to ?? held)
  return before > Math.max(from ?? began, began) ? before : null
}

/** What the store has of a window that the tape does not hold; null when there is nothing to ask for. */
const olderOf = (
  tape: TradeTape["Service"],
  mint: Mint,
  window: BarWindow,
  nowMs: number
): Effect.Effect<StoredBars | null, TradeStoreUnavailable> => {
  const stored = tape.stored()
  const before = storeEnd(tape, mint, window, nowMs)
  const held = tape.state.bars(mint, window)
  return stored === null || before === null || held?.truncated === true
    ? Effect.succeed(null)
    : stored.bars({ mint, resolution: window.resolution, from: window.from, before, limit: window.limit + 1 })
}

/** Everything that a chart needs from the store. While the store is away, that is nothing. */
export const olderBars = Effect.fnUntraced(
  function* (tape: TradeTape["Service"], mint: Mint, window: ChartWindow, inSol: boolean, nowMs: number) {
    const own = yield* olderOf(tape, mint, window, nowMs)
    const found = new Map<Mint, StoredBars>(own === null ? [] : [[mint, own]])
    const beside =
      inSol && mint !== SOL ? solWindow(barsOf(tape, { of: found, isMissing: false }, mint, window), window) : null
    const sol = beside === null ? null : yield* olderOf(tape, SOL, { ...beside, limit: MOST_SOL }, nowMs)
    if (sol !== null) {
      found.set(SOL, sol)
    }
    return { of: found, isMissing: false }
  },
  Effect.catchTag("TradeStoreUnavailable", () => Effect.succeed({ of: new Map<Mint, StoredBars>(), isMissing: true }))
)
