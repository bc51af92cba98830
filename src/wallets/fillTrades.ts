/**
 * Fills of a replay as the trades of their wallet. They reach the ledger as a history of the wallet, the tracker, and
 * nothing else: no volume, candle or holder counts them.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { NetTrade, TradeStoreUnavailable } from "../api/schemas/Trade.ts"
import type { Rational } from "../domain/rational.ts"
import { Signature } from "../domain/Signature.ts"
import { isMoney } from "../domain/stables.ts"
import { SOL } from "../domain/Address.ts"
import { MOST_SWAPS } from "../market/model/SolPrice.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { tapeTradesOf } from "../market/model/tapeTrades.ts"
import { TradeHistory } from "../market/model/TradeHistory.ts"
import type { Fill } from "../past/FillBook.ts"
import { ReplayFills } from "../past/ReplayFills.ts"
import { NOT_BEGUN } from "./historyProgress.ts"
import { solPriceBy } from "./historyTrades.ts"
import { type LedgerHistory, LedgerReader, LedgerUnavailable } from "./LedgerReader.ts"
import { WalletAccounts } from "./WalletAccounts.ts"

/** A filled swap as the net trade of its wallet. */
const netOf = (fill: Fill): NetTrade => {
  const { amount, amountOut, inputMint, outputMint } = fill
  const given = { mint: inputMint, amount, decimals: null }
  const received = { mint: outputMint, amount: amountOut ?? 0n, decimals: null }
  const isBuy = !isMoney(outputMint) || (isMoney(inputMint) && outputMint === SOL)
  const [only, ...others] = fill.hops
  const pool = only !== undefined && others.length === 0 ? only : null
  return {
    signature: Signature.make(fill.signature),
    slot: fill.slot,
    blockTime: fill.atMs === null ? null : Math.floor(fill.atMs / 1000),
    indexInBlock: fill.rank ?? 0,
    outer: 0,
    inner: null,
    feeLamports: 0n,
    wallet: fill.wallet,
    side: isBuy ? "buy" : "sell",
    token: isBuy ? received : given,
    quote: isBuy ? given : received,
    index: 0,
    legs: [],
    pool: pool?.pool ?? null,
    dex: pool?.dex ?? null,
    held: { token: null, quote: null },
    fees: [],
    priorityLamports: null
  }
}

/** The trades of each filled swap, in micro-dollars for a lamport at each. */
export const fillTradesOf = (
  fills: ReadonlyArray<Fill>,
  prices: ReadonlyArray<Rational | null>
): ReadonlyArray<ReadonlyArray<TapeTrade>> =>
  fills.map((fill, at) => {
    const price = { timeMs: fill.atMs ?? 0, microPerLamport: prices[at] ?? null }
    return tapeTradesOf({ legs: [], nets: [netOf(fill)], unresolved: 0 }, price)
  })

/** A price of SOL that was looked up. */
interface LookedUp {
  readonly price: Rational | null
  /** When it is looked up again. */
  readonly againMs: number
}

/** Blocks come some slots after the accounts. A price that is missing this long after its slot stays missing. */
export const SETTLED_MS = 60_000
/** Until then it is looked up again after this. */
const AGAIN_MS = 5000
/** Lookups at a time. */
const LOOKUPS = 4

export interface FillTrades {
  /** The trades of each filled swap, at the SOL price of its slot. Without that price their value is unknown. */
  readonly of: (
    fills: ReadonlyArray<Fill>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<TapeTrade>>, TradeStoreUnavailable>
}

const unpriced: FillTrades = { of: (fills) => Effect.succeed(fillTradesOf(fills, [])) }

/** Fills as trades. Each slot has one price for all readers, so that they agree. */
export const FillTrades = Context.Reference<FillTrades>("fathom/wallets/FillTrades", { defaultValue: () => unpriced })

/** Fills at the price of SOL by the stored blocks. */
export const layerPriced: Layer.Layer<never, never, TradeHistory> = Layer.effect(
  FillTrades,
  Effect.gen(function* () {
    const { solSwaps } = yield* TradeHistory
    const known = new Map<number, LookedUp>()
    /** Looks up micro-dollars for a lamport at the slot of a fill, once for the slot. */
    const lookUp = Effect.fnUntraced(function* ({ atMs, slot }: Fill) {
      const nowMs = yield* Clock.currentTimeMillis
      const found = known.get(slot)
      if (found !== undefined && nowMs < found.againMs) {
        return
      }
      const timeMs = atMs ?? 0
      const price = solPriceBy(yield* solSwaps(slot, MOST_SWAPS), timeMs)
      if ((known.get(slot)?.price ?? null) !== null) {
        // Another reader was faster. Its price stays.
        return
      }
      const isFinal = price !== null || nowMs >= timeMs + SETTLED_MS
      known.set(slot, { price, againMs: isFinal ? Number.POSITIVE_INFINITY : nowMs + AGAIN_MS })
    })
    return {
      of: Effect.fnUntraced(function* (fills: ReadonlyArray<Fill>) {
        const slots = new Map(fills.map((fill) => [fill.slot, fill]))
        yield* Effect.forEach(slots.values(), lookUp, { concurrency: LOOKUPS, discard: true })
        return fillTradesOf(
          fills,
          fills.map(({ slot }) => known.get(slot)?.price ?? null)
        )
      })
    }
  })
)

/** Ledgers in which a wallet with fills has them as its history. Its earlier trades are not known. */
export const layerWithFills = Layer.effect(
  LedgerReader,
  Effect.gen(function* () {
    const inner = yield* LedgerReader
    const fillTrades = yield* FillTrades
    const { filledBy } = yield* ReplayFills
    const historyOfFills = Effect.fnUntraced(
      function* (fills: ReadonlyArray<Fill>) {
        const trades = (yield* fillTrades.of(fills)).flat()
        const throughMs = yield* Clock.currentTimeMillis
        const history: LedgerHistory = {
          progress: { ...NOT_BEGUN, state: "done", read: fills.length, fromMs: fills[0]?.atMs ?? null, throughMs },
          trades: trades.toReversed()
        }
        return history
      },
      Effect.mapError((cause) => new LedgerUnavailable({ cause }))
    )
    return LedgerReader.of({
      ...inner,
      historyOf: (wallet, limit) => {
        const fills = filledBy(wallet)
        return fills.length === 0 ? inner.historyOf(wallet, limit) : historyOfFills(fills.slice(-limit))
      }
    })
  })
)

/** A wallet with fills has no accounts on any chain: its trades name all that it holds. */
export const accountsWithFills = Layer.effect(
  WalletAccounts,
  Effect.gen(function* () {
    const inner = yield* WalletAccounts
    const { filledBy } = yield* ReplayFills
    return WalletAccounts.of({ ...inner, of: (wallet) => (filledBy(wallet).length > 0 ? "named" : inner.of(wallet)) })
  })
)
