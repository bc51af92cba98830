import { Clock, Context, Effect, Layer } from "effect"
import type { Mint } from "../domain/Address.ts"
import {
  type CopyFill,
  type CopyGrouping,
  type CopySlice,
  type CopyWindow,
  type FilledCopy,
  type FillSelection,
  type Follow,
  type FollowSelection,
  type FollowStoreUnavailable,
  UnknownFollow
} from "../domain/Copying.ts"
import type { CopyPnl, CopyPnlGroup } from "../domain/CopyPnl.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { copyPnlOf, groupPositions, type Marks, type Span, spanOf } from "./copyPnl.ts"
import { FollowStore } from "./FollowStore.ts"
import { type CopyPosition, copyPositions } from "./positions.ts"

/** A fill with what it made. */
export interface ValuedFill {
  readonly fill: CopyFill
  /** Nano-dollars; null unless it is a filled sale with a known basis. */
  readonly realizedNanos: bigint | null
}

/** Where a page of groups begins: past this group, in the window that ended then. */
export interface GroupPlace {
  readonly throughMs: number
  readonly key: string
}

/** Which profit and loss is wanted. */
export interface CopyPnlRequest {
  readonly accountId: string
  readonly window: CopyWindow
  /** Null for all of the account's. */
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

/** What an account's follows are and made. Another account's follow is as unknown as one that never was. */
export class CopyReader extends Context.Service<
  CopyReader,
  {
    /** One page of follows, those made last first. */
    follows(selection: FollowSelection): Effect.Effect<CopySlice<Follow>, FollowStoreUnavailable>
    follow(accountId: string, id: string): Effect.Effect<Follow, Refusal>
    /** One page of fills, those of the leaders' newest trades first. */
    fills(selection: FillSelection): Effect.Effect<CopySlice<ValuedFill>, Refusal>
    /** Profit and loss, marked with the prices of this moment, whatever the window. */
    pnl(request: CopyPnlRequest): Effect.Effect<CopyPnlSlice, Refusal>
  }
>()("fathom/copying/CopyReader") {
  static readonly layer: Layer.Layer<CopyReader, never, FollowStore | PriceBook | TokenBook> = Layer.effect(
    CopyReader,
    Effect.suspend(() => make)
  )
}

/** The end of the window: now, or the newest copy where the chain's clock is ahead of ours. */
const endOf = (history: ReadonlyArray<FilledCopy>, nowMs: number): number =>
  history.reduce((end, { atMs }) => Math.max(end, atMs), nowMs)

const make = Effect.gen(function* () {
  const store = yield* FollowStore
  const prices = yield* PriceBook
  const tokens = yield* TokenBook

  const follow = Effect.fn("CopyReader.follow")(function* (accountId: string, id: string) {
    return (yield* store.find(accountId, id)) ?? (yield* new UnknownFollow())
  })

  const mustKnow = (accountId: string, followId: string | null) =>
    followId === null ? Effect.void : Effect.asVoid(follow(accountId, followId))

  const fills = Effect.fn("CopyReader.fills")(function* (selection: FillSelection) {
    const { accountId, followId } = selection
    yield* mustKnow(accountId, followId)
    const { next, rows } = yield* store.fills(selection)
    const sold = rows.filter(({ side, status }) => side === "sell" && status === "filled")
    const history = sold.length === 0 ? [] : yield* store.history({ accountId, of: { positions: sold } })
    const realized = new Map(
      copyPositions(history).flatMap(({ copies }) => copies.map((settled) => [settled.copy.id, settled.realized]))
    )
    return { rows: rows.map((fill) => ({ fill, realizedNanos: realized.get(fill.id) ?? null })), next }
  })

  /** What is missing is asked for, so that a later call finds it. */
  const marksOf = Effect.fnUntraced(function* (positions: ReadonlyArray<CopyPosition>, nowMs: number) {
    const { isStale, of } = prices.at(nowMs)
    const held = new Set(positions.flatMap(({ mint, position }) => (position.held > 0n ? [mint] : [])))
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

  const groupsOf = Effect.fnUntraced(function* (
    positions: ReadonlyArray<CopyPosition>,
    span: Span,
    marks: Marks,
    request: CopyPnlRequest
  ) {
    const { after, groupBy, limit } = request
    if (groupBy === "none") {
      return { groups: [], next: null }
    }
    const rest = groupPositions(positions, span, groupBy).filter(([key]) => after === null || key > after.key)
    const page = rest.slice(0, limit)
    const groups = yield* Effect.forEach(page, ([key, own]) =>
      Effect.map(own[0] === undefined ? Effect.succeed(null) : labelOf(own[0], request), (label) => ({
        key,
        label,
        pnl: copyPnlOf(own, span, marks)
      }))
    )
    const last = page.at(-1)
    const isMore = last !== undefined && rest.length > limit
    return { groups, next: isMore ? { throughMs: span.throughMs, key: last[0] } : null }
  })

  const pnl = Effect.fn("CopyReader.pnl")(function* (request: CopyPnlRequest) {
    const { accountId, after, followId, window } = request
    yield* mustKnow(accountId, followId)
    const nowMs = yield* Clock.currentTimeMillis
    const history = yield* store.history({ accountId, of: followId === null ? "all" : { followId } })
    // Every page of the groups has the window of the first.
    const span = spanOf(window, after?.throughMs ?? endOf(history, nowMs))
    const positions = copyPositions(history.filter(({ atMs }) => atMs <= span.throughMs))
    const marks = yield* marksOf(positions, nowMs)
    const total = copyPnlOf(positions, span, marks)
    return { ...span, total, ...(yield* groupsOf(positions, span, marks, request)) }
  })

  return CopyReader.of({
    follows: Effect.fn("CopyReader.follows")((selection: FollowSelection) => store.follows(selection)),
    follow,
    fills,
    pnl
  })
})
