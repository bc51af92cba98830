/** A `FollowStore` without a database, for tests of what stands on it. It passes the contract of the store. */
import { Effect, Layer } from "effect"
import {
  CopyFill,
  type CopyPlace,
  type CopySlice,
  type FilledCopy,
  type FillSelection,
  type Follow,
  type FollowSelection,
  NewFollow
} from "../../src/api/schemas/Copying.ts"
import { type FollowProgress, FollowStore, type TurnSelection } from "../../src/wallets/copying/FollowStore.ts"
import { fillPlace, followPlace, sliceOf } from "../../src/wallets/copying/copySlice.ts"
import { filledCopyOf } from "../../src/wallets/copying/filledCopy.ts"

const comesAfter = (row: CopyPlace, place: CopyPlace): boolean =>
  row.atMs < place.atMs || (row.atMs === place.atMs && row.id < place.id)

const newestFirst = (a: CopyPlace, b: CopyPlace): number => (comesAfter(a, b) ? 1 : -1)

const pageOf = <Row>(
  rows: ReadonlyArray<Row>,
  placeOf: (row: Row) => CopyPlace,
  { after, limit }: { readonly after: CopyPlace | null; readonly limit: number }
): CopySlice<Row> => {
  const rest = rows
    .filter((row) => after === null || comesAfter(placeOf(row), after))
    .toSorted((a, b) => newestFirst(placeOf(a), placeOf(b)))
  return sliceOf(rest, limit, placeOf)
}

const isSelected = (fill: CopyFill, { followId, mint, sinceMs, status, untilMs }: FillSelection): boolean =>
  (followId === null || fill.followId === followId) &&
  (mint === null || fill.mint === mint) &&
  (status === null || fill.status === status) &&
  (sinceMs === null || fill.leader.atMs >= sinceMs) &&
  (untilMs === null || fill.leader.atMs <= untilMs)

/** Methods over maps. Each acts in one synchronous step. */
const make = () => {
  const follows = new Map<string, NewFollow>()
  const fills = new Map<string, CopyFill>()
  // By follow: its generation, and its copies in recording order.
  const turns = new Map<string, { readonly generation: string; readonly copies: Array<FilledCopy> }>()
  let generations = 0

  const ofAccount = (accountId: string): ReadonlyArray<CopyFill> =>
    Array.from(fills.values()).filter(({ followId }) => follows.get(followId)?.accountId === accountId)

  const shown = ({ accountId: _account, ...follow }: NewFollow): Follow => {
    const own = Array.from(fills.values()).filter(({ followId }) => followId === follow.id)
    const counted = (status: CopyFill["status"]) => own.filter((fill) => fill.status === status).length
    const executed = own.flatMap((fill) => (fill.status === "filled" && fill.execution ? [fill.execution.atMs] : []))
    return {
      ...follow,
      counts: { filled: counted("filled"), failed: counted("failed"), skipped: counted("skipped") },
      lastFillAtMs: executed.length === 0 ? null : Math.max(...executed)
    }
  }

  const recordFollow = (follow: NewFollow): boolean => {
    const before = follows.get(follow.id)
    if (before !== undefined && (before.accountId !== follow.accountId || before.updatedAtMs >= follow.updatedAtMs)) {
      return false
    }
    follows.set(follow.id, { ...follow, createdAtMs: before?.createdAtMs ?? follow.createdAtMs })
    if (before === undefined) {
      turns.set(follow.id, { generation: String(++generations), copies: [] })
    }
    return true
  }

  const recordFill = (fill: CopyFill): boolean => {
    const before = fills.get(fill.id)
    const settles = before?.status === "pending" && fill.status !== "pending" && before.followId === fill.followId
    if (!follows.has(fill.followId) || (before !== undefined && !settles)) {
      return false
    }
    fills.set(fill.id, fill)
    const filled = filledCopyOf(fill)
    if (filled !== null) {
      turns.get(fill.followId)?.copies.push(filled)
    }
    return true
  }

  const forgetOthers = (accountId: string, kept: ReadonlyArray<string>): void => {
    const gone = Array.from(follows.values()).filter(
      (follow) => follow.accountId === accountId && !kept.includes(follow.id)
    )
    for (const { id } of gone) {
      follows.delete(id)
      turns.delete(id)
    }
    for (const { followId, id } of fills.values()) {
      if (!follows.has(followId)) {
        fills.delete(id)
      }
    }
  }

  const progress = (accountId: string): ReadonlyArray<FollowProgress> =>
    Array.from(turns)
      .filter(([followId]) => follows.get(followId)?.accountId === accountId)
      .map(([followId, { copies, generation }]) => ({ followId, generation, filled: copies.length }))

  const inTurn = ({ accountId, after, followId, through }: TurnSelection): ReadonlyArray<FilledCopy> =>
    follows.get(followId)?.accountId === accountId ? (turns.get(followId)?.copies.slice(after, through) ?? []) : []

  return {
    recordFollow: Effect.fn("FollowStore.recordFollow")((follow: NewFollow) =>
      Effect.sync(() => recordFollow(NewFollow.make(follow)))
    ),
    recordFill: Effect.fn("FollowStore.recordFill")((fill: CopyFill) =>
      Effect.sync(() => recordFill(CopyFill.make(fill)))
    ),
    forgetOthers: Effect.fn("FollowStore.forgetOthers")((accountId: string, kept: ReadonlyArray<string>) =>
      Effect.sync(() => forgetOthers(accountId, kept))
    ),
    find: Effect.fn("FollowStore.find")((accountId: string, id: string) =>
      Effect.sync(() => {
        const follow = follows.get(id)
        return follow?.accountId === accountId ? shown(follow) : null
      })
    ),
    follows: Effect.fn("FollowStore.follows")((selection: FollowSelection) =>
      Effect.sync(() => {
        const { accountId, status } = selection
        const own = Array.from(follows.values()).filter(
          (follow) => follow.accountId === accountId && (status === null || follow.status === status)
        )
        const { next, rows } = pageOf(own, followPlace, selection)
        return { rows: rows.map(shown), next }
      })
    ),
    fills: Effect.fn("FollowStore.fills")((selection: FillSelection) =>
      Effect.sync(() => {
        const own = ofAccount(selection.accountId).filter((fill) => isSelected(fill, selection))
        return pageOf(own, fillPlace, selection)
      })
    ),
    progress: Effect.fn("FollowStore.progress")((accountId: string) => Effect.sync(() => progress(accountId))),
    inTurn: Effect.fn("FollowStore.inTurn")((selection: TurnSelection) => Effect.sync(() => inTurn(selection)))
  }
}

/** Follows held in memory. */
export const layer: Layer.Layer<FollowStore> = Layer.sync(FollowStore, () => FollowStore.of(make()))
