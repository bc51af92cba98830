import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import type { Address, Mint } from "../domain/Address.ts"
import type { Rational } from "../domain/rational.ts"
import type { WalletPnlHistory, WalletPositions } from "../domain/wallets/WalletPositions.ts"
import type { Bar } from "../market/candles/foldBars.ts"
import { type MarketStateReads, TradeTape } from "../market/tape/TradeTape.ts"
import { type WalletRow, type WalletRows, WalletsUnavailable } from "../domain/wallets/WalletSummary.ts"
import { within } from "../storage/deadline.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { identityOf } from "./identity.ts"
import { IdentityStore } from "./IdentityStore.ts"
import { type AccountedEvents, accountedEvents, accountedPositions } from "./accounts/accountedEvents.ts"
import { WalletAccounts } from "./accounts/WalletAccounts.ts"
import { isOpen, type Position } from "./ledger.ts"
import { backfillBody, joinHistory } from "./joinHistory.ts"
import { faultOf, LedgerReader } from "./LedgerReader.ts"
import { linkedEvents } from "./ownerLinks.ts"
import { WalletIndex, type WalletIndexUnavailable } from "./WalletIndex.ts"
import { shareOfBatch, type WalletShare } from "./walletShare.ts"
import { dailyPnl, type HistoryRequest, unitPrice } from "./pnlHistory.ts"
import { walletPosition } from "./walletPositions.ts"
import { type Holdings, positionsThatCount, walletSummary } from "./walletSummary.ts"

const CONCURRENT_READS = 4
const MOST_MARKS = 64
/** Open mints marked for a single wallet. */
const MOST_MARKS_OF_ONE = 1000
const DEADLINE = Duration.millis(1500)

class DeadlinePassed extends Schema.TaggedError<DeadlinePassed>()("DeadlinePassed", {}) {}

/** Options of a read. */
export interface WalletReadOptions {
  /** Begins to read the histories of the wallets from the chain. The answer does not wait for it. */
  readonly backfill?: boolean | undefined
}

/**
 * Identities and profits of wallets, from data already held. Reading starts tracking no wallet, and loads nothing unless a
 * backfill is asked for.
 */
export class WalletReader extends Context.Service<
  WalletReader,
  {
    /**
     * One row for each of 1 to 100 different wallets, in request order. Parts that cannot be read within 1.5 s are left
     * out of their row. Fails when nothing can be read.
     */
    rowsOf(wallets: ReadonlyArray<Address>, options?: WalletReadOptions): Effect.Effect<WalletRows, WalletsUnavailable>
    /** The most recently traded positions of a wallet, at most `limit`. Same deadline and failure. */
    positionsOf(
      wallet: Address,
      limit: number,
      options?: WalletReadOptions
    ): Effect.Effect<WalletPositions, WalletsUnavailable>
    /** Profit of a wallet on each of the last `days` UTC days, by its held trades. Same deadline and failure. */
    pnlHistoryOf(
      wallet: Address,
      days: number,
      options?: WalletReadOptions
    ): Effect.Effect<WalletPnlHistory, WalletsUnavailable>
  }
>()("fathom/wallets/WalletReader") {
  static readonly layer: Layer.Layer<
    WalletReader,
    never,
    WalletIndex | IdentityStore | LedgerReader | PriceBook | TradeTape | WalletAccounts
  > = Layer.effect(
    WalletReader,
    Effect.gen(function* () {
      const index = yield* WalletIndex
      const identities = yield* IdentityStore
      const ledger = yield* LedgerReader
      const prices = yield* PriceBook
      const accounts = yield* WalletAccounts
      const tape = yield* TradeTape

      /** The projection of a wallet; null when the ledger is unavailable or its answer is inconsistent. */
      const projectionOf = (wallet: Address, nowMs: number) =>
        ledger.read(wallet).pipe(
          Effect.flatMap((projection) => {
            const fault = projection && faultOf(projection, wallet, nowMs)
            return fault === null
              ? Effect.succeed(projection)
              : Effect.as(Effect.logWarning(`A ledger projection was rejected: ${fault}`, { wallet }), null)
          }),
          Effect.catch(({ cause }) => Effect.as(Effect.logWarning("The wallet ledger is unavailable", cause), null))
        )

      /** The history read from the chain; null when there is none or it cannot be read. */
      const historyOf = (wallet: Address, limit: number) =>
        Effect.catch(ledger.historyOf(wallet, limit), ({ cause }) =>
          Effect.as(Effect.logWarning("The history of a wallet is unavailable", cause), null)
        )

      /** Begins the backfill that the options ask for. */
      const begin = (wallets: ReadonlyArray<Address>, { backfill = false }: WalletReadOptions) =>
        backfill
          ? Effect.catch(ledger.backfill(wallets), ({ cause }) =>
              Effect.logWarning("The history of wallets cannot be asked for", cause)
            )
          : Effect.void

      /** Other wallets of the owners; none when the identities are unavailable. */
      const linksOf = (wallets: ReadonlyArray<Address>) =>
        Effect.catch(identities.linkedTo(wallets), ({ cause }) =>
          Effect.as(
            Effect.logWarning("Wallets of one owner are unavailable", cause),
            new Map<Address, ReadonlyArray<Address>>()
          )
        )

      const historyWith = Effect.fnUntraced(function* (wallet: Address, share: WalletShare) {
        const observed = yield* index.read(wallet, share)
        const past = yield* historyOf(wallet, share.events)
        const history = past === null ? observed : joinHistory(observed, past, share)
        return { history, backfill: past?.progress ?? null }
      })

      const holdingsOf = Effect.fnUntraced(function* (
        wallet: Address,
        linked: ReadonlyArray<Address>,
        share: WalletShare,
        nowMs: number
      ) {
        const projection = yield* projectionOf(wallet, nowMs)
        const { backfill, history } = yield* historyWith(wallet, share)
        const own = accountedEvents(tape, accounts, { wallet, history, progress: backfill })
        const others = yield* Effect.forEach(own.events.length === 0 ? [] : linked, (other) =>
          Effect.map(historyWith(other, share), (found) => {
            const held = { wallet: other, history: found.history, progress: found.backfill }
            return [other, accountedEvents(tape, accounts, held)] as const
          })
        )
        const events = withLots(wallet, own, others)
        const positions = projection === null ? accountedPositions(events, own) : []
        return { projection, history, events, positions, backfill, accounts: own }
      })

      /** Holdings that were read in time. Fails when every read failed; a timeout alone is not a failure. */
      const holdingsOfAll = Effect.fnUntraced(function* (
        wallets: ReadonlyArray<Address>,
        share: WalletShare,
        nowMs: number
      ) {
        const found = new Map<Address, Holdings>()
        const failures: Array<WalletIndexUnavailable> = []
        const readOne = (links: ReadonlyMap<Address, ReadonlyArray<Address>>) => (wallet: Address) =>
          Effect.match(holdingsOf(wallet, links.get(wallet) ?? [], share, nowMs), {
            onFailure: (failure) => void failures.push(failure),
            onSuccess: (holdings) => void found.set(wallet, holdings)
          })
        yield* linksOf(wallets).pipe(
          Effect.flatMap((links) =>
            Effect.forEach(wallets, readOne(links), { concurrency: CONCURRENT_READS, discard: true })
          ),
          within(DEADLINE, () => new DeadlinePassed()),
          Effect.catchTag("DeadlinePassed", () => Effect.logWarning("Wallet summaries exceeded their deadline"))
        )
        const [failure] = failures
        if (failure !== undefined && found.size === 0) {
          return yield* failure
        }
        if (failure !== undefined) {
          yield* Effect.logWarning(`${failures.length} of ${wallets.length} wallets could not be read`, failure.cause)
        }
        return new Map(found)
      })

      const rowsOf = Effect.fn("WalletReader.rowsOf")(
        function* (wallets: ReadonlyArray<Address>, options: WalletReadOptions = {}) {
          yield* begin(wallets, options)
          const startedMs = yield* Clock.currentTimeMillis
          const share = shareOfBatch(wallets.length)
          const [records, holdings] = yield* Effect.all(
            [identities.of(wallets), holdingsOfAll(wallets, share, startedMs)],
            { concurrency: 2 }
          )
          const nowMs = yield* Clock.currentTimeMillis
          const marks = marksOf(
            prices,
            wallets.flatMap((wallet) => holdings.get(wallet) ?? []),
            nowMs
          )
          return inRows(wallets, (wallet) => {
            const held = holdings.get(wallet)
            return {
              identity: identityOf(wallet, records.get(wallet) ?? [], nowMs),
              summary: held === undefined ? null : walletSummary(held, { marks, nowMs, share }),
              backfill: backfillBody(held?.backfill ?? null, held?.history ?? null, options.backfill === true)
            }
          })
        },
        Effect.mapError((cause) => new WalletsUnavailable({ cause }))
      )

      /** Data held of one wallet, marked; null when nothing is held or it was not read in time. */
      const stateOf = Effect.fnUntraced(
        function* (wallet: Address, options: WalletReadOptions) {
          yield* begin([wallet], options)
          const share = shareOfBatch(1)
          const found = yield* holdingsOfAll([wallet], share, yield* Clock.currentTimeMillis)
          const nowMs = yield* Clock.currentTimeMillis
          const holdings = found.get(wallet)
          const marks = marksOf(prices, holdings === undefined ? [] : [holdings], nowMs, MOST_MARKS_OF_ONE)
          const summary = holdings === undefined ? null : walletSummary(holdings, { marks, nowMs, share })
          const { backfill = null, history = null } = holdings ?? {}
          const state = {
            wallet,
            status: summary === null ? UNAVAILABLE : PARTIAL,
            summary,
            backfill: backfillBody(backfill, history, options.backfill === true)
          }
          return { holdings, marks, nowMs, state }
        },
        Effect.mapError((cause) => new WalletsUnavailable({ cause }))
      )

      const positionsOf = Effect.fn("WalletReader.positionsOf")(function* (
        wallet: Address,
        limit: number,
        options: WalletReadOptions = {}
      ) {
        const { holdings, marks, state } = yield* stateOf(wallet, options)
        const all = holdings === undefined ? [] : positionsThatCount(holdings)
        const positions = all
          .toSorted((a, b) => (b.lastAtMs ?? 0) - (a.lastAtMs ?? 0) || (a.mint < b.mint ? -1 : 1))
          .slice(0, limit)
          .map((position) => walletPosition(position, marks.get(position.mint) ?? null))
        return { ...state, positions, truncated: all.length > limit }
      })

      const pnlHistoryOf = Effect.fn("WalletReader.pnlHistoryOf")(function* (
        wallet: Address,
        days: number,
        options: WalletReadOptions = {}
      ) {
        const { holdings, marks, nowMs, state } = yield* stateOf(wallet, options)
        const candles = dailyCloses(tape.state, nowMs, days)
        const priceAt: HistoryRequest["priceAt"] = (position, dayMs) =>
          nowMs - dayMs < DAY_MS ? (marks.get(position.mint) ?? null) : candles(position, dayMs)
        const { isUnread, units } = holdings?.accounts ?? { isUnread: () => false, units: null }
        const unitsOf = (mint: Mint) => units?.get(mint) ?? null
        return { ...state, days: dailyPnl(holdings?.events ?? [], { days, nowMs, priceAt, isUnread, unitsOf }) }
      })

      return WalletReader.of({ rowsOf, positionsOf, pnlHistoryOf })
    })
  )
}

/** The events of a wallet with the lots that came from wallets of its owner, of those whose balances are known. */
const withLots = (
  wallet: Address,
  own: AccountedEvents,
  others: ReadonlyArray<readonly [Address, AccountedEvents]>
): AccountedEvents["events"] => {
  const known = others.flatMap(([other, { events, isUnread }]) => {
    const whole = events.filter(({ mint }) => !isUnread(mint))
    return whole.length === 0 ? [] : [[other, whole] as const]
  })
  return known.length === 0 ? own.events : linkedEvents(wallet, new Map([[wallet, own.events], ...known]))
}

const [PARTIAL, UNAVAILABLE] = ["partial", "unavailable"] as const
const DAY_MS = 86_400_000

/** Prices at the ends of past days: the close of the last daily candle in memory that begins no later. */
const dailyCloses = (market: Pick<MarketStateReads, "bars">, nowMs: number, days: number) => {
  const known = new Map<Mint, ReadonlyArray<Bar>>()
  return ({ decimals, mint }: Position, dayMs: number): Rational | null => {
    const window = { resolution: "1d", from: null, to: Math.floor(nowMs / 1000), limit: days } as const
    const bars = known.get(mint) ?? market.bars(mint, window)?.bars ?? []
    known.set(mint, bars)
    const bar = bars.findLast(({ second }) => second * 1000 <= dayMs)
    return bar === undefined || decimals === null ? null : unitPrice(bar.close, decimals)
  }
}

/** Current marks of the first open mints. Mints without a price are left out, and all of them while prices are stale. */
const marksOf = (
  book: PriceBook["Service"],
  holdings: ReadonlyArray<Holdings>,
  nowMs: number,
  most = MOST_MARKS
): ReadonlyMap<Mint, Rational> => {
  const open = holdings.flatMap((held) => positionsThatCount(held).filter(isOpen))
  const mints = Array.from(new Set(open.map(({ mint }) => mint))).slice(0, most)
  const { isStale, of } = book.at(nowMs)
  return new Map(
    mints.flatMap((mint) => {
      const mark = isStale ? null : (of(mint)?.usd ?? null)
      return mark === null ? [] : [[mint, mark] as const]
    })
  )
}

const inRows = (
  wallets: ReadonlyArray<Address>,
  known: (wallet: Address) => Pick<WalletRow, "backfill" | "identity" | "summary">
): WalletRows => {
  const rows = wallets.map((wallet): WalletRow => {
    const { backfill, identity, summary } = known(wallet)
    const status = identity === null && summary === null ? "unavailable" : "partial"
    return { wallet, status, identity, summary, backfill }
  })
  return { complete: rows.every(({ summary }) => summary !== null), wallets: rows }
}
