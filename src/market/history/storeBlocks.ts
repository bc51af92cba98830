/** Stores blocks: their trades in ClickHouse, then their launches, changes of supply and progress in PostgreSQL. */
import { Clock, Duration, Effect } from "effect"
import { crc32 } from "node:zlib"
import type { ClickHouse } from "../../storage/clickhouse/ClickHouse.ts"
import { closedAfter, closedBefore, type ClosedTo } from "../memory/barSpans.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { BlockPlace } from "../model/Gaps.ts"
import {
  joinProgress,
  progressUntil,
  type Repair,
  repairedProgress,
  type TradeProgress
} from "../model/TradeProgress.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { LATE_SECONDS } from "../model/windows.ts"
import type { makeBarQueries } from "./barQueries.ts"
import { INSERT_COLUMNS, writeTrades } from "./tradeColumns.ts"
import type { makeTradeQueries, Span } from "./tradeQueries.ts"

const INSERT_DEADLINE = Duration.seconds(10)
/**
 * The blocks of an insert cover at most this many seconds. The last insert before a loss may have reached only some tables,
 * so what these lack is not older.
 */
export const INSERT_SECONDS = 900
/** Stored trades are searched this far around the times of their blocks, in milliseconds. */
const UNCERTAIN_MS = 86_400_000

/** The candles that only a repair can still change. */
export const closedAt = (progress: TradeProgress | null): ClosedTo =>
  progress === null ? closedBefore(0) : closedAfter(closedBefore(0), Math.floor(progress.timeMs / 1000) - LATE_SECONDS)

/** The chain that is written. */
export interface WrittenChain {
  readonly genesis: string
  /** The progress in PostgreSQL. */
  stored: TradeProgress | null
  /** The newest slot with a trade in ClickHouse; null before it is known. */
  found: number | null
  /** An insert without an answer; null when there is none. It may have been carried out, in part or later. */
  unanswered: UnansweredInsert | null
  /**
   * The newest slot with a trade that ClickHouse should have: by PostgreSQL when the chain is opened, or before ClickHouse was
   * away. Null once it was seen to have it.
   */
  had: number | null
  /** The newest block that ClickHouse still has, once it has lost later ones; null once their gap is recorded. */
  left: BlockPlace | null
  /**
   * A part of the tokens of inserts. It changes with a loss: tables that kept what others lost also remember the tokens, and
   * would leave out the same rows.
   */
  salt: string
}

/** Trades of an insert, the candles that were closed then, and its salt. */
interface UnansweredInsert {
  readonly fresh: ReadonlyArray<TapeTrade>
  readonly closed: ClosedTo
  readonly salt: string
}

/**
 * Commits blocks, progress and the newest slot with a trade in ClickHouse to PostgreSQL. A slot of null leaves it as it is.
 * Returns the progress with the repairs of other writers.
 */
export type Commit<E> = (
  batches: ReadonlyArray<StoredBatch>,
  progress: TradeProgress,
  traded: number | null
) => Effect.Effect<TradeProgress, E>

interface Tables {
  readonly clickHouse: Pick<ClickHouse["Service"], "insert">
  readonly trades: ReturnType<typeof makeTradeQueries>
  readonly bars: ReturnType<typeof makeBarQueries>
}

/** Blocks in parts, each of which may be one insert. A late block may follow newer ones. */
export const insertsOf = (batches: ReadonlyArray<StoredBatch>): ReadonlyArray<ReadonlyArray<StoredBatch>> => {
  const parts: Array<Array<StoredBatch>> = []
  let [fromMs, toMs] = [0, 0]
  for (const batch of batches) {
    const part = parts.at(-1)
    const [from, to] = [Math.min(fromMs, batch.timeMs), Math.max(toMs, batch.timeMs)]
    if (part === undefined || to - from > 1000 * INSERT_SECONDS) {
      parts.push([batch])
      fromMs = toMs = batch.timeMs
    } else {
      part.push(batch)
      fromMs = from
      toMs = to
    }
  }
  return parts
}

const rowsOf = (batches: ReadonlyArray<StoredBatch>): ReadonlyArray<TapeTrade> =>
  batches.flatMap(({ trades, transfers = [] }) => [...trades, ...transfers])

/** The token of an insert. Until a loss, the same rows have the same token in any process. */
const tokenOf = (chain: string, rows: Uint8Array, slots: string, salt: string): string =>
  `${chain} ${slots} ${crc32(rows)}${salt}`

const least = (values: ReadonlyArray<number>): number => values.reduce((a, b) => Math.min(a, b), Infinity)
const most = (values: ReadonlyArray<number>): number => values.reduce((a, b) => Math.max(a, b), 0)

/** The slots and times of these trades. A block may have been stored with another time, so the times are widened. */
const spanOf = (rows: ReadonlyArray<TapeTrade>): Span => {
  const [slots, times] = [rows.map(({ slot }) => slot), rows.map(({ timeMs }) => timeMs)]
  return {
    after: least(slots) - 1,
    to: most(slots),
    fromMs: least(times) - UNCERTAIN_MS,
    untilMs: most(times) + UNCERTAIN_MS
  }
}

/** True for a repair with a block or a price after this place. */
const reachesBeyond = ({ batches, repriced }: Repair, { slot }: BlockPlace): boolean =>
  [...batches, ...repriced].some((each) => each.slot > slot)

/** Makes the writer of blocks. Every step may be repeated after a failure. */
export const makeBlockWriter = ({ bars, clickHouse, trades }: Tables) => {
  /** The trades that are not stored yet. Places are only looked up in slots that may be stored. */
  const freshOf = Effect.fnUntraced(function* (chain: WrittenChain, rows: ReadonlyArray<TapeTrade>) {
    chain.found ??= yield* trades.newestSlot(chain.genesis, Math.max(0, (chain.stored?.timeMs ?? 0) - UNCERTAIN_MS))
    const known = Math.max(chain.stored?.slot ?? 0, chain.found)
    const old = rows.filter(({ slot }) => slot <= known)
    if (old.length === 0) {
      return rows
    }
    const there = yield* trades.placesOf(chain.genesis, new Set(old.map(({ mint }) => mint)), spanOf(old))
    return rows.filter(({ index, slot }) => !there.has(`${slot}.${index}`))
  })

  /**
   * Looks for the newest trade that ClickHouse should have. It may have come back as an older copy of itself, or have lost its
   * last writes in a crash. Tables that kept what others lost would count trades twice once they are stored again, and the last
   * insert may have reached only some of them. So what views have made of trades is made again from the trades that are left. Once
   * every trade is gone, the record begins anew by hand.
   */
  const lookForLoss = Effect.fnUntraced(function* (chain: WrittenChain) {
    const { had, stored } = chain
    if (had === null || stored === null) {
      return
    }
    const since = Math.max(0, stored.timeMs - UNCERTAIN_MS)
    const slot = (yield* trades.newestSlot(chain.genesis, since)) || (yield* trades.newestSlot(chain.genesis, 0))
    if (slot < had) {
      const lost = { fromSlot: slot + 1, toSlot: stored.slot }
      yield* Effect.logError("ClickHouse has lost its newest trades, as an older copy of it would have", lost)
      if (slot >= stored.firstSlot) {
        const timeMs = yield* trades.newestTime(chain.genesis, slot, 0)
        yield* bars.remakeFrom(chain.genesis, Math.max(0, Math.floor(timeMs / 1000) - INSERT_SECONDS))
        chain.left = { slot, timeMs }
        chain.salt = ` after ${slot} of ${stored.slot}`
      }
    }
    chain.had = null
  })

  const insert = Effect.fnUntraced(function* (
    { genesis, salt }: Pick<WrittenChain, "genesis" | "salt">,
    rows: ReadonlyArray<TapeTrade>,
    version: bigint
  ) {
    const written = yield* writeTrades(rows, { chain: genesis, version })
    const { after, to } = spanOf(rows)
    const token = tokenOf(genesis, written, `${after + 1}-${to}`, salt)
    yield* clickHouse.insert({ table: "trades", columns: INSERT_COLUMNS, rows: written, token }, INSERT_DEADLINE)
    return token
  })

  const insertNoted = Effect.fnUntraced(function* (chain: WrittenChain, noted: UnansweredInsert) {
    const { closed, fresh, salt } = noted
    chain.unanswered = noted
    const token = yield* insert({ genesis: chain.genesis, salt }, fresh, 0n)
    yield* bars.revise(chain.genesis, closed, { fresh, repriced: [], token })
    chain.unanswered = null
    chain.found = Math.max(chain.found ?? 0, spanOf(fresh).to)
  })

  /**
   * Inserts the trades that are not stored yet. First repeats an insert that got no answer, with the same rows and so
   * with the same token. Looking trades up by place would not do: rows that did not reach every view would stay
   * missing, and rows in other groups would count twice.
   */
  const insertFresh = Effect.fnUntraced(function* (chain: WrittenChain, batches: ReadonlyArray<StoredBatch>) {
    yield* chain.unanswered === null ? Effect.void : insertNoted(chain, chain.unanswered)
    const fresh = yield* freshOf(chain, rowsOf(batches))
    const { salt } = chain
    yield* fresh.length === 0 ? Effect.void : insertNoted(chain, { fresh, closed: closedAt(chain.stored), salt })
  })

  /** A version above the versions of the stored trades: the time, unless the clock has stepped back. */
  const nextVersion = Effect.fnUntraced(function* (chain: string, repriced: ReadonlyArray<TapeTrade>) {
    const nowMs = yield* Clock.currentTimeMillis
    const latest = yield* trades.latestVersion(chain, new Set(repriced.map(({ mint }) => mint)), spanOf(repriced))
    return latest < BigInt(nowMs) ? BigInt(nowMs) : latest + 1n
  })

  return {
    append: <E>(chain: WrittenChain, batches: ReadonlyArray<StoredBatch>, commit: Commit<E>) =>
      Effect.gen(function* () {
        yield* lookForLoss(chain)
        const { left, stored } = chain
        const first = left === null ? -1 : batches.findIndex(({ slot }) => slot > left.slot)
        const isOpen = left !== null && first === -1
        // The next block shows that those before it are missing, and they are read again.
        const progress =
          left === null || isOpen || stored === null
            ? joinProgress(stored, batches)
            : joinProgress(
                progressUntil(stored, left),
                batches.map((batch, at) => (at === first ? { ...batch, afterGap: true } : batch))
              )
        if (progress !== null) {
          yield* insertFresh(chain, batches)
          // Until the gap of a loss is recorded, another process has to find the loss too.
          chain.stored = yield* commit(batches, progress, isOpen ? null : chain.found)
          chain.left = isOpen ? left : null
        }
      }),

    /**
     * Carries out a repair. One of blocks that ClickHouse has lost meanwhile is left out: the next block shows that they are
     * missing, and they are read again.
     */
    repair: <E>(chain: WrittenChain, repair: Repair, commit: Commit<E>) =>
      Effect.gen(function* () {
        yield* lookForLoss(chain)
        const { left, stored } = chain
        if (stored === null || (left !== null && reachesBeyond(repair, left))) {
          return
        }
        const { batches, repriced } = repair
        yield* insertFresh(chain, batches)
        if (repriced.length > 0) {
          const token = yield* insert(chain, repriced, yield* nextVersion(chain.genesis, repriced))
          yield* bars.rewrite(chain.genesis, repriced)
          yield* bars.revise(chain.genesis, closedAt(stored), { fresh: [], repriced, token })
        }
        chain.stored = yield* commit(batches, repairedProgress(stored, repair), left === null ? chain.found : null)
      }),

    /** Rebuilds the candles of a repair's trades from what is stored. */
    remakeBars: ({ genesis }: WrittenChain, { batches, repriced }: Repair) =>
      bars.rewrite(genesis, [...rowsOf(batches), ...repriced])
  }
}
