/**
 * Reads the newest rows of wallets. The rows of large wallets stay in memory for a while, so that the next read asks the
 * database only for the newest ones: most pages of a wallet are read together, and each of them needs all its rows.
 */
import { Clock, Duration, Effect, Option, Semaphore } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { makeTradeTable } from "./tradeTable.ts"

/** Wallets with at least so many rows are large: reading theirs takes longer than asking for the newest. */
const LARGE = 1000
/** Large wallets whose rows are kept, how many rows in all, and for how long at most. Days that are no longer stored leave with them. */
const MOST_KEPT = 16
const MOST_ROWS = 100_000
const KEPT_FOR = Duration.minutes(5)
/** How long a read waits for its turn. A read that is stuck keeps its turn. */
const TURN_PATIENCE = Duration.millis(300)
/** Blocks of two writers may be stored in another order than their slots by this many. They are read again. */
const SLOT_MARGIN = 64

interface Kept {
  /** The number of rows that were asked for. */
  readonly limit: number
  readonly rows: ReadonlyArray<TapeTrade>
  /** The newest stored slot when these rows were read. */
  readonly slot: number
  /** What was repaired until then. A repair may change older rows, so that all are read again. */
  readonly repaired: string
  readonly atMs: number
}

/** Makes the read of the newest rows of a wallet. `large` is the number of rows from which on they are kept; tests set it. */
export const makeWalletRows = (trades: Pick<ReturnType<typeof makeTradeTable>, "ofWalletNow">, large = LARGE) => {
  // The least recently read first.
  const all = new Map<string, Kept>()

  const put = (key: string, kept: Kept): void => {
    all.delete(key)
    if (kept.rows.length >= large) {
      all.set(key, kept)
    }
    let rows = all.values().reduce((sum, each) => sum + each.rows.length, 0)
    for (const [oldest, each] of all) {
      if (all.size <= MOST_KEPT && rows <= MOST_ROWS) {
        break
      }
      all.delete(oldest)
      rows -= each.rows.length
    }
  }

  const forgetOld = (nowMs: number): void =>
    all.forEach(({ atMs }, key) => nowMs - atMs > Duration.toMillis(KEPT_FOR) && all.delete(key))

  const turns = new Map<string, { readonly turn: Semaphore.Semaphore; readers: number }>()

  /** Reads of one wallet take turns, so that pages that are asked for together read its rows once. */
  const inTurn = <A, E>(key: string, read: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const held = turns.get(key) ?? { turn: Semaphore.makeUnsafe(1), readers: 0 }
        held.readers++
        turns.set(key, held)
        return held
      }),
      ({ turn }) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(restore(Effect.timeoutOption(turn.take(1), TURN_PATIENCE)), (taken) =>
            Effect.ensuring(restore(read), Option.isSome(taken) ? turn.release(1) : Effect.void)
          )
        ),
      (held) =>
        Effect.sync(() => {
          held.readers--
          if (held.readers === 0) {
            turns.delete(key)
          }
        })
    )

  /** The kept rows of a wallet with the rows that came since; null when others may have changed. */
  const grown = Effect.fnUntraced(function* (chain: number, wallet: Address, kept: Kept) {
    const after = kept.slot - SLOT_MARGIN
    const { mark, rows } = yield* trades.ofWalletNow(chain, wallet, kept.limit, after)
    if (mark === null || mark.repaired !== kept.repaired || mark.slot < kept.slot) {
      return null
    }
    const older = kept.rows.filter(({ slot }) => slot <= after)
    return { ...kept, slot: mark.slot, rows: [...rows, ...older].slice(0, kept.limit) } satisfies Kept
  })

  const newest = Effect.fnUntraced(function* (key: string, chain: number, wallet: Address, limit: number) {
    const nowMs = yield* Clock.currentTimeMillis
    forgetOld(nowMs)
    const known = all.get(key)
    const kept = known !== undefined && known.limit >= limit ? yield* grown(chain, wallet, known) : null
    if (kept !== null) {
      put(key, kept)
      return kept.rows.slice(0, limit)
    }
    const { mark, rows } = yield* trades.ofWalletNow(chain, wallet, limit)
    if (mark !== null) {
      put(key, { limit, rows, ...mark, atMs: nowMs })
    }
    return rows
  })

  return (chain: number, wallet: Address, limit: number) => {
    const key = `${chain} ${wallet}`
    return inTurn(key, newest(key, chain, wallet, limit))
  }
}
