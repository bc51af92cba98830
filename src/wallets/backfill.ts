/** Reads the transactions of wallets from a node, a few of each wallet in turn and at a bounded rate. */
import { Clock, Config, Duration, Effect, Result } from "effect"
import type { Address } from "../domain/Address.ts"
import { countSetting, durationSetting } from "../domain/countSetting.ts"
import { keepGoing } from "../operations/keepRunning.ts"
import { noteFailure, SourceMonitor, type SourceState } from "../operations/SourceMonitor.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import type { ChainUnavailable } from "../chain/ChainUnavailable.ts"
import type { TransactionHistory } from "../chain/rpc/TransactionHistory.ts"
import { readTransaction } from "../chain/decoding/transaction.ts"
import {
  advanced,
  type HistoryProgress,
  MOST_LISTED,
  ranked,
  type RankedTransaction,
  refused,
  surveyed
} from "./historyProgress.ts"
import type { HistoryJob, HistoryStore, HistoryStoreUnavailable, WalletProgress } from "./HistoryStore.ts"
import { TRADED_MS } from "../market/model/SolPrice.ts"
import { unitPrice } from "./pnlHistory.ts"
import { decodedHistory, historyTradesOf, PRICED_BY, PRICED_SLOTS, solPriceBy } from "./historyTrades.ts"

/** How far back and how fast transactions are read. */
export interface BackfillSettings {
  /** Most transactions of a wallet in one pass; with 0 nothing is read. */
  readonly most: number
  /** Transactions a second, over all wallets. */
  readonly rate: number
  /** How long a history is kept after it was last requested. */
  readonly kept: Duration.Duration
}

/** `WALLET_HISTORY` (1,000 transactions of a wallet), `WALLET_HISTORY_RATE` (10 a second) and `WALLET_HISTORY_KEPT` (30 days). */
export const backfillSettings: Config.Config<BackfillSettings> = Config.all({
  most: countSetting("WALLET_HISTORY", 1000),
  rate: countSetting("WALLET_HISTORY_RATE", 10, 1),
  kept: durationSetting("WALLET_HISTORY_KEPT").pipe(Config.withDefault(Duration.days(30)))
})

/**
 * A history is deleted this long after the processes stopped showing it, so that later requests of any process have
 * arrived.
 */
const FORGET_GRACE = Duration.hours(1)
/** Interval at which expired histories are looked for. */
const FORGET_MS = 600_000

/** Most wallets with a history, including those that wait. */
export const MOST_WALLETS = 10_000

/** Most of these that one caller may have requested, so that no caller takes the places of all others. */
export const MOST_OF_CALLER = 2000

/** Transactions of one step. Then another wallet has its turn. */
const STEP = 25
const SOL_DECIMALS = 9
const CONCURRENCY = 2
const IDLE = Duration.seconds(1)
const UNAVAILABLE_PAUSE = Duration.seconds(5)
/** A change that another process stored is read at most this late. */
const OVERLAP_MS = 10_000
/** Interval at which the chain of the node is checked. */
const GENESIS_MS = 30_000

/** Error codes of a node that lacks the method or a transaction history, or whose long-term storage is away. */
const WITHOUT_HISTORY: ReadonlySet<number | undefined> = new Set([-32601, -32011, -32020])

type Stores = HistoryStore["Service"]
type Node = TransactionHistory["Service"]

/** The outcome of reading one transaction: null when the node cannot give it. */
const readOne = Effect.fnUntraced(function* (
  node: Node,
  store: Stores,
  wallet: Address,
  { listed, rank }: RankedTransaction
): Effect.fn.Return<ReadonlyArray<TapeTrade> | null, ChainUnavailable | HistoryStoreUnavailable> {
  if (listed.err !== null) {
    return []
  }
  const answer = readTransaction(yield* node.read(listed.signature))
  if (Result.isFailure(answer) || answer.success.blockTime === null) {
    return null
  }
  const decoded = decodedHistory(answer.success, wallet, rank)
  if (decoded === null) {
    return []
  }
  const swaps = yield* store.solSwaps(decoded.slot - PRICED_SLOTS, decoded.slot, PRICED_BY)
  const bySwaps = solPriceBy(swaps, decoded.timeMs)
  const close = bySwaps === null ? yield* store.solClose(decoded.timeMs - TRADED_MS, decoded.timeMs) : null
  return historyTradesOf(decoded, wallet, bySwaps ?? (close === null ? null : unitPrice(close, SOL_DECIMALS)))
})

/** Reads and stores the next transactions of a wallet. Returns the number of requests made to the node. */
const stepOf = Effect.fnUntraced(function* (
  node: Node,
  store: Stores,
  { progress, wallet, ...job }: HistoryJob,
  most: number
) {
  const startedMs = yield* Clock.currentTimeMillis
  if (progress.expected === undefined && progress.until === null && progress.passAtMs === null) {
    // One request tells how much there is, before a turn is spent on it.
    const ahead = yield* node.list({ address: wallet, before: null, until: null, limit: Math.min(MOST_LISTED, most) })
    yield* store.save({ ...job, wallet, progress }, surveyed(progress, ahead.length, most), [])
    return 1
  }
  const asked = Math.max(1, Math.min(STEP, most - progress.passRead))
  const { before, until } = progress
  const listed = yield* node.list({ address: wallet, before, until, limit: asked })
  const found = yield* Effect.forEach(ranked(progress, listed), (each) => readOne(node, store, wallet, each), {
    concurrency: CONCURRENCY
  })
  const missing = found.filter((trades) => trades === null).length
  const next = advanced(progress, { asked, listed, missing, startedMs }, most)
  const trades = found.flatMap((each) => each ?? [])
  yield* store.save({ ...job, wallet, progress }, next, trades)
  return 1 + listed.filter(({ err }) => err === null).length
})

const sentence = ({ detail, rpcCode }: ChainUnavailable): string =>
  WITHOUT_HISTORY.has(rpcCode) ? `The node does not serve the history of wallets: ${detail}` : detail

/** The loop's state. */
interface Work {
  genesis: string | null
  /** Time of the last check of the node's chain. */
  genesisAtMs: number | null
  readonly known: Map<Address, WalletProgress>
  /** Time of the last search for expired histories. */
  forgotAtMs: number | null
  changedMs: number
  okAtMs: number | null
  isFailing: boolean
  /** How long the node asks to wait after its last failure. */
  pauseMs: number
}

/**
 * Reads wallets: `step` reads the next transactions of one wallet and returns the time to wait before the next step.
 */
export const makeBackfill = Effect.fnUntraced(function* (
  node: Node,
  store: Stores,
  { kept, most, rate }: BackfillSettings
) {
  const work: Work = {
    genesis: null,
    genesisAtMs: null,
    known: new Map(),
    forgotAtMs: null,
    changedMs: 0,
    okAtMs: null,
    isFailing: false,
    pauseMs: 0
  }

  /** Opens the chain of the node; false while nothing of the chain is stored. */
  const open = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    if (work.genesis !== null && work.genesisAtMs !== null && nowMs - work.genesisAtMs < GENESIS_MS) {
      return true
    }
    const genesis = yield* node.genesis
    if (genesis !== work.genesis) {
      work.known.clear()
      work.changedMs = 0
      work.genesis = (yield* store.open(genesis)) ? genesis : null
    }
    work.genesisAtMs = nowMs
    return work.genesis !== null
  })

  /** Brings the known progress up to date with all processes. */
  const synchronize = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const changed = yield* store.changedSince(work.changedMs)
    changed.forEach((each) => work.known.set(each.wallet, each))
    work.changedMs = nowMs - OVERLAP_MS
  })

  const keptMs = Duration.toMillis(kept)

  /** Deletes a few histories that were not requested in time. */
  const forget = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    if (work.forgotAtMs !== null && nowMs - work.forgotAtMs < FORGET_MS) {
      return
    }
    for (const { askedAtMs, wallet } of work.known.values()) {
      if (askedAtMs < nowMs - keptMs) {
        work.known.delete(wallet)
      }
    }
    const more = yield* store.forget(nowMs - keptMs - Duration.toMillis(FORGET_GRACE))
    work.forgotAtMs = more ? null : nowMs
  })

  /** A refusal concerns one wallet; any other failure is the node's, and the wallet keeps its turn. */
  const refuse =
    (job: HistoryJob) =>
    (failure: ChainUnavailable): Effect.Effect<number, ChainUnavailable | HistoryStoreUnavailable> => {
      if (failure.reason !== "invalid") {
        return Effect.fail(failure)
      }
      const progress = refused(job.progress, sentence(failure), WITHOUT_HISTORY.has(failure.rpcCode))
      return Effect.as(store.save(job, progress, []), 1)
    }

  const read = Effect.gen(function* () {
    const startedMs = yield* Clock.currentTimeMillis
    const job = (yield* open) ? yield* store.next : null
    const requests =
      job === null ? 0 : yield* stepOf(node, store, job, most).pipe(Effect.catchTag("ChainUnavailable", refuse(job)))
    if (work.genesis !== null) {
      yield* synchronize
      yield* forget
    }
    const nowMs = yield* Clock.currentTimeMillis
    work.okAtMs = nowMs
    work.isFailing = false
    work.pauseMs = 0
    return job === null ? IDLE : Duration.millis(Math.max(0, (requests / rate) * 1000 - (nowMs - startedMs)))
  })

  const step = read.pipe(
    Effect.tapError((failure) => {
      work.isFailing = true
      work.pauseMs = failure._tag === "ChainUnavailable" ? (failure.retryAfterMs ?? 0) : 0
      return noteFailure("wallet_history", failure)
    }),
    keepGoing("Reading histories of wallets"),
    Effect.map((wait) => wait ?? Duration.max(UNAVAILABLE_PAUSE, Duration.millis(work.pauseMs)))
  )

  const state = (): SourceState => {
    const waiting = Array.from(work.known.values()).some(({ progress }) => progress.state === "running")
    return {
      observedAtMs: work.okAtMs,
      status: work.okAtMs === null ? "unavailable" : work.isFailing ? "stale" : waiting ? "partial" : "known",
      ...(waiting && { reason: "backfill_running" as const })
    }
  }
  yield* (yield* SourceMonitor).report("wallet_history", state)

  const ask = Effect.fnUntraced(function* (wallets: ReadonlyArray<Address>, caller: string) {
    const own = work.known.values().filter(({ progress }) => progress.askedBy === caller)
    let room = Math.min(MOST_WALLETS - work.known.size, MOST_OF_CALLER - Array.from(own).length)
    const wanted = wallets.filter((wallet) => work.known.has(wallet) || room-- > 0)
    yield* store.ask(wanted, caller)
    yield* synchronize
  })

  return {
    step,
    ask,
    /** The progress of a wallet; null when it was not requested, or too long ago. */
    progressOf: (wallet: Address, nowMs: number): HistoryProgress | null => {
      const known = work.known.get(wallet)
      return known === undefined || known.askedAtMs < nowMs - keptMs ? null : known.progress
    }
  }
})
