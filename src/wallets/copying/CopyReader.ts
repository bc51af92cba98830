import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import type { Mint } from "../../domain/Address.ts"
import {
  type CopyFill,
  type CopyGrouping,
  type CopySlice,
  type CopyWindow,
  type FillSelection,
  type Follow,
  type FollowSelection,
  type FollowStoreUnavailable,
  UnknownFollow
} from "../../api/schemas/Copying.ts"
import type { CopyPnl, CopyPnlGroup } from "../../api/schemas/CopyPnl.ts"
import { PriceBook } from "../../tokens/PriceBook.ts"
import { isOpen } from "../ledger.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { CopyLedger } from "./CopyLedger.ts"
import { copyPnlOf, groupPositions, type Marks, type Span, spanOf } from "./copyPnl.ts"
import { FollowStore } from "./FollowStore.ts"
import type { CopyPosition } from "./positions.ts"

/** A fill with its realized profit. */
export interface ValuedFill {
  readonly fill: CopyFill
  /** Nano-dollars; null unless it is a filled sale with a known basis. */
  readonly realizedNanos: bigint | null
}

/** Start of a page of groups: after this key, in the window that ends at `throughMs`. */
export interface GroupPlace {
  readonly throughMs: number
  readonly key: string
}

/** A request for profit and loss. */
export interface CopyPnlRequest {
  readonly accountId: string
  readonly window: CopyWindow
  /** Null for all follows of the account. */
  readonly followId: string | null
  readonly groupBy: CopyGrouping
  readonly limit: number
  readonly after: GroupPlace | null
}

/** The sums of one window, and one page of their groups. */
export interface CopyPnlSlice extends Span {
  readonly total: CopyPnl
  readonly groups: ReadonlyArray<CopyPnlGroup>
  readonly next: GroupPlace | null
}

type Refusal = UnknownFollow | FollowStoreUnavailable

/** Follows of an account with their fills and profits. A follow of another account counts as unknown. */
export class CopyReader extends Context.Service<
  CopyReader,
  {
    /** One page of follows, newest first. */
    follows(selection: FollowSelection): Effect.Effect<CopySlice<Follow>, FollowStoreUnavailable>
    follow(accountId: string, id: string): Effect.Effect<Follow, Refusal>
    /** One page of fills. The fill of the newest leader's trade comes first. */
    fills(selection: FillSelection): Effect.Effect<CopySlice<ValuedFill>, Refusal>
    /** Profit and loss of a window, marked at current prices. */
    pnl(request: CopyPnlRequest): Effect.Effect<CopyPnlSlice, Refusal>
  }
>()("fathom/wallets/copying/CopyReader") {
  /**
   * Keeps the copies of requested accounts in memory, up to 500,000 in all, so that only new ones are read. The least
   * recently requested account is evicted first.
   */
  static readonly layer: Layer.Layer<CopyReader, never, FollowStore | PriceBook | TokenBook> = Layer.effect(
    CopyReader,
    Effect.suspend(() => make)
  )
}

/** The end of the window: now, or the newest copy where the chain's clock is ahead of the local one. */
const endOf = (positions: ReadonlyArray<CopyPosition>, nowMs: number): number =>
  positions.reduce((end, { sums }) => Math.max(end, sums.lastAtMs ?? 0), nowMs)

const MOST_COPIES = 500_000

/** One page of groups, and the place of the next. */
const pageOf = (
  positions: ReadonlyArray<CopyPosition>,
  span: Span,
  marks: Marks,
  { after, groupBy, limit }: CopyPnlRequest
) => {
  const groups = groupBy === "none" ? [] : groupPositions(positions, span, groupBy)
  const rest = groups.filter(([key]) => after === null || key > after.key)
  const parts = rest.slice(0, limit).flatMap(([key, own]) => {
    const [first] = own
    return first === undefined ? [] : [{ key, first, pnl: copyPnlOf(own, span, marks) }]
  })
  const last = parts.at(-1)
  const isMore = last !== undefined && rest.length > limit
  return { parts, next: isMore ? { throughMs: span.throughMs, key: last.key } : null }
}

/** A function that returns the current positions of an account. */
const makeLedgers = Effect.gen(function* () {
  const store = yield* FollowStore
  // Least recently requested first.
  const ledgers = new Map<string, { readonly ledger: CopyLedger; readonly turn: Semaphore.Semaphore }>()

  const evict = () => {
    let held = ledgers.values().reduce((sum, { ledger }) => sum + ledger.size, 0)
    for (const [accountId, { ledger }] of ledgers) {
      if (held <= MOST_COPIES || ledgers.size === 1) {
        return
      }
      ledgers.delete(accountId)
      held -= ledger.size
    }
  }

  return (accountId: string, followId: string | null) =>
    Effect.suspend(() => {
      const entry = ledgers.get(accountId) ?? {
        ledger: new CopyLedger(accountId, store),
        turn: Semaphore.makeUnsafe(1)
      }
      ledgers.delete(accountId)
      ledgers.set(accountId, entry)
      return Effect.map(entry.turn.withPermit(entry.ledger.catchUp), () => {
        evict()
        return entry.ledger.positions(followId)
      })
    })
})

const make = Effect.gen(function* () {
  const store = yield* FollowStore
  const prices = yield* PriceBook
  const tokens = yield* TokenBook
  const positionsOf = yield* makeLedgers

  const follow = Effect.fn("CopyReader.follow")(function* (accountId: string, id: string) {
    return (yield* store.find(accountId, id)) ?? (yield* new UnknownFollow())
  })

  const requireFollow = (accountId: string, followId: string | null) =>
    followId === null ? Effect.void : Effect.asVoid(follow(accountId, followId))

  const fills = Effect.fn("CopyReader.fills")(function* (selection: FillSelection) {
    const { accountId, followId } = selection
    yield* requireFollow(accountId, followId)
    const { next, rows } = yield* store.fills(selection)
    const sold = rows.filter(({ side, status }) => side === "sell" && status === "filled")
    const positions = sold.length === 0 ? [] : yield* positionsOf(accountId, followId)
    const realizedOf = ({ followId: follow, id, mint }: CopyFill): bigint | null =>
      positions.find((position) => position.followId === follow && position.mint === mint)?.realizedBy(id) ?? null
    return { rows: rows.map((fill) => ({ fill, realizedNanos: realizedOf(fill) })), next }
  })

  /** Current marks. Missing ones are queued for loading. */
  const marksOf = Effect.fnUntraced(function* (positions: ReadonlyArray<CopyPosition>, nowMs: number) {
    const { isStale, of } = prices.at(nowMs)
    const held = new Set(positions.flatMap(({ mint, position }) => (isOpen(position) ? [mint] : [])))
    yield* Effect.forEach(
      Array.from(held).filter((mint) => of(mint) === null),
      prices.warm,
      { discard: true }
    )
    const marks: Marks = isStale
      ? { of: () => null, missing: "source_stale" }
      : { of: (mint) => of(mint)?.usd ?? null, missing: "mark_unknown" }
    return marks
  })

  const symbolOf = Effect.fnUntraced(function* (mint: Mint) {
    const state = tokens.read(mint)
    yield* state === null ? tokens.warm(mint) : Effect.void
    return state?._tag === "Token" ? (state.metadata?.symbol ?? null) : null
  })

  const labelOf = ({ followId, mint }: CopyPosition, { accountId, groupBy }: CopyPnlRequest) =>
    groupBy === "mint"
      ? symbolOf(mint)
      : Effect.map(store.find(accountId, followId), (found) => found?.leader.label ?? null)

  const pnl = Effect.fn("CopyReader.pnl")(function* (request: CopyPnlRequest) {
    const { accountId, after, followId, window } = request
    yield* requireFollow(accountId, followId)
    const nowMs = yield* Clock.currentTimeMillis
    const known = yield* positionsOf(accountId, followId)
    const marks = yield* marksOf(known, nowMs)
    // Nothing yields between here and the last sum, so that the groups add up to the total. Every page of groups uses
    // the window of the first page.
    const span = spanOf(window, after?.throughMs ?? endOf(known, nowMs))
    const positions = known.map((position) => position.asOf(span.throughMs))
    const total = copyPnlOf(positions, span, marks)
    const { next, parts } = pageOf(positions, span, marks, request)
    const groups = yield* Effect.forEach(parts, ({ first, ...part }) =>
      Effect.map(labelOf(first, request), (label) => ({ ...part, label }))
    )
    return { ...span, total, groups, next }
  })

  return CopyReader.of({
    follows: Effect.fn("CopyReader.follows")((selection: FollowSelection) => store.follows(selection)),
    follow,
    fills,
    pnl
  })
})
