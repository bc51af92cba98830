/** Reads what is held of wallets: observed trades, histories, projections and balances. */
import { Duration, Effect, Fiber, Schema } from "effect"
import type { Address } from "../domain/Address.ts"
import { Market } from "../market/tape/Market.ts"
import { within } from "../storage/deadline.ts"
import { type AccountedEvents, accountedEvents, accountedPositions } from "./accountedEvents.ts"
import { IdentityStore } from "./IdentityStore.ts"
import { joinHistory } from "./joinHistory.ts"
import { faultOf, LedgerReader, type LedgerUnavailable } from "./LedgerReader.ts"
import { linkedEvents } from "./ownerLinks.ts"
import { WalletAccounts } from "./WalletAccounts.ts"
import { tradingHistory, WalletIndex, type WalletIndexUnavailable } from "./WalletIndex.ts"
import { shareOfBatch, type WalletShare } from "./walletShare.ts"
import type { Holdings } from "./walletSummary.ts"

const CONCURRENT_READS = 4
const DEADLINE = Duration.millis(1500)

class DeadlinePassed extends Schema.TaggedError<DeadlinePassed>()("DeadlinePassed", {}) {}

/** Options of a read. */
export interface WalletReadOptions {
  /** Starts reading the histories of the wallets from the chain. The reply does not wait for it. */
  readonly backfill?: boolean | undefined
  /** The caller that requests histories. Callers take turns. */
  readonly caller?: string
}

/** Logs a failure and returns the fallback. */
const otherwise =
  <B>(message: string, fallback: B) =>
  <A, E extends { readonly cause: unknown }>(effect: Effect.Effect<A, E>): Effect.Effect<A | B> =>
    Effect.catch(effect, ({ cause }) => Effect.as(Effect.logWarning(message, cause), fallback))

/** The events of a wallet with the lots that came from wallets of its owner whose balances are known. */
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

export const makeHoldings = Effect.gen(function* () {
  const index = yield* WalletIndex
  const identities = yield* IdentityStore
  const ledger = yield* LedgerReader
  const accounts = yield* WalletAccounts
  const tape = yield* Market

  /** The projection of a wallet; null when the ledger is unavailable or its answer is inconsistent. */
  const projectionOf = (wallet: Address, nowMs: number) =>
    ledger.read(wallet).pipe(
      Effect.flatMap((projection) => {
        const fault = projection && faultOf(projection, wallet, nowMs)
        return fault === null
          ? Effect.succeed(projection)
          : Effect.as(Effect.logWarning(`A ledger projection was rejected: ${fault}`, { wallet }), null)
      }),
      otherwise("The wallet ledger is unavailable", null)
    )

  /** Starts the backfill that the options request. */
  const begin = (wallets: ReadonlyArray<Address>, { backfill = false, caller = "" }: WalletReadOptions) =>
    backfill
      ? ledger.backfill(wallets, caller).pipe(otherwise("The history of wallets cannot be asked for", undefined))
      : Effect.void

  /** Other wallets of the owners; none when the identities are unavailable. */
  const linksOf = (wallets: ReadonlyArray<Address>) =>
    identities
      .linkedTo(wallets)
      .pipe(otherwise("Wallets of one owner are unavailable", new Map<Address, ReadonlyArray<Address>>()))

  const historyWith = Effect.fnUntraced(function* (wallet: Address, share: WalletShare) {
    const [observed, past] = yield* Effect.all([index.read(wallet, share), ledger.historyOf(wallet, share.events)], {
      concurrency: 2
    })
    const history = past === null ? observed : joinHistory(observed, past, share)
    return { history, backfill: past?.progress ?? null }
  })

  /** The same; without a trade there is no history. */
  const tradingWith = (wallet: Address, share: WalletShare) =>
    Effect.map(historyWith(wallet, share), (found) => ({ ...found, history: tradingHistory(found.history) }))

  const holdingsOf = Effect.fnUntraced(function* (
    wallet: Address,
    links: Fiber.Fiber<ReadonlyMap<Address, ReadonlyArray<Address>>>,
    share: WalletShare,
    nowMs: number
  ) {
    const projection = yield* projectionOf(wallet, nowMs)
    const { backfill, history } = yield* tradingWith(wallet, share)
    const own = accountedEvents(tape, accounts, { wallet, history, progress: backfill })
    const linked = own.events.length === 0 ? [] : ((yield* Fiber.join(links)).get(wallet) ?? [])
    const others = yield* Effect.forEach(linked, (other) =>
      Effect.map(tradingWith(other, share), (found) => {
        const held = { wallet: other, history: found.history, progress: found.backfill }
        return [other, accountedEvents(tape, accounts, held)] as const
      })
    )
    const events = withLots(wallet, own, others)
    const positions = projection === null ? accountedPositions(events, own) : []
    return { projection, history, events, positions, backfill, accounts: own }
  })

  /** Holdings that were read in time. Fails when none were. A wallet without trades has holdings, without a history. */
  const holdingsOfAll = Effect.fnUntraced(function* (
    wallets: ReadonlyArray<Address>,
    share: WalletShare,
    nowMs: number
  ) {
    const found = new Map<Address, Holdings>()
    const failures: Array<WalletIndexUnavailable | LedgerUnavailable | DeadlinePassed> = []
    const readOne = (links: Fiber.Fiber<ReadonlyMap<Address, ReadonlyArray<Address>>>) => (wallet: Address) =>
      Effect.match(holdingsOf(wallet, links, share, nowMs), {
        onFailure: (failure) => void failures.push(failure),
        onSuccess: (holdings) => void found.set(wallet, holdings)
      })
    // The links are looked up while the trades are read.
    yield* Effect.forkChild(linksOf(wallets)).pipe(
      Effect.flatMap((links) =>
        Effect.forEach(wallets, readOne(links), { concurrency: CONCURRENT_READS, discard: true })
      ),
      within(DEADLINE, () => new DeadlinePassed()),
      Effect.catchTag("DeadlinePassed", (late) => Effect.sync(() => void failures.push(late)))
    )
    const [failure] = failures
    if (failure !== undefined && found.size === 0) {
      return yield* failure
    }
    if (failure !== undefined) {
      yield* Effect.logWarning(`${wallets.length - found.size} of ${wallets.length} wallets were not read`, failure)
    }
    return new Map(found)
  })

  /** The trades and transfers of one wallet, without its positions and balances. Fails when they were not read in time. */
  const rowsOf = (wallet: Address) =>
    historyWith(wallet, shareOfBatch(1)).pipe(within(DEADLINE, () => new DeadlinePassed()))

  return { begin, holdingsOfAll, rowsOf }
})
