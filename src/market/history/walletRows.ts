/**
 * Reads the newest rows of wallets. The rows of large wallets stay in memory for a while, so that the next read asks the
 * database only for the newest ones: most pages of a wallet are read together, and each of them needs all its rows.
 */
import { Clock, Duration, Effect, Semaphore } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { makeTradeTable } from "./tradeTable.ts"

/** Wallets with at least so many rows are large: reading theirs takes longer than asking for the newest. */
const LARGE = 1000
/** Large wallets whose rows are kept, and for how long at most. Days that are no longer stored leave with them. */
const MOST_KEPT = 16
const KEPT_FOR = Duration.minutes(5)
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
    for (const oldest of Array.from(all.keys()).slice(0, Math.max(0, all.size - MOST_KEPT))) {
      all.delete(oldest)
    }
  }

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
      ({ turn }) => turn.withPermit(read),
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
    const known = all.get(key)
    const isUsable = known !== undefined && known.limit >= limit && nowMs - known.atMs <= Duration.toMillis(KEPT_FOR)
    const kept = isUsable ? yield* grown(chain, wallet, known) : null
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
