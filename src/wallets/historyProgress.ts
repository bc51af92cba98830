/** The progress of reading a wallet's transactions, from the newest back to the oldest. Pure. */
import { Schema } from "effect"
import { Signature } from "../domain/Signature.ts"
import type { ListedTransaction } from "../chain/rpc/TransactionHistory.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Time = Schema.NullOr(Count)

/**
 * Each pass goes from the newest transaction back to the first one, or to the newest transaction of the previous pass.
 */
export const HistoryProgress = Schema.Struct({
  state: Schema.Literals(["running", "done", "failed"]),
  /** Time of the first step of this pass; null before that step. */
  passAtMs: Time,
  /** The newest transaction of this pass. */
  top: Schema.NullOr(Signature),
  /** The oldest transaction that this pass has read, its slot, and its rank within the slot. */
  before: Schema.NullOr(Signature),
  slot: Schema.NullOr(Count),
  rank: Count,
  /** The newest transaction of the previous passes. */
  until: Schema.NullOr(Signature),
  /** Transactions of this pass. */
  passRead: Count,
  /** Transactions of all passes, and how many of them the node could not give. */
  read: Count,
  missing: Count,
  /** The span that was read without a break. */
  fromMs: Time,
  throughMs: Time,
  /** True when the span begins with the wallet's first transaction. */
  isWhole: Schema.Boolean,
  /** Failed attempts of the next step. */
  tries: Count,
  error: Schema.NullOr(Schema.String),
  /** The caller that requested the reading; left out in readings from before callers were noted. */
  askedBy: Schema.optionalKey(Schema.String),
  /** Transactions that a look ahead found, at most `MOST_LISTED`; left out before the look. */
  expected: Schema.optionalKey(Count),
  /** True when there are at least as many transactions as are read; left out when that is not known. */
  isHuge: Schema.optionalKey(Schema.Boolean)
})
export type HistoryProgress = typeof HistoryProgress.Type

/** The progress of a wallet that was just requested. */
export const NOT_BEGUN: HistoryProgress = {
  state: "running",
  passAtMs: null,
  top: null,
  before: null,
  slot: null,
  rank: 0,
  until: null,
  passRead: 0,
  read: 0,
  missing: 0,
  fromMs: null,
  throughMs: null,
  isWhole: false,
  tries: 0,
  error: null
}

/** Least time between the end of a reading and the reading of newer transactions. */
const AGAIN_MS = 60_000
/** A node may lag behind the clock by this much. */
const LAG_MS = 30_000
/** Attempts at a step that the node refuses. */
const MOST_TRIES = 5

/** The progress after a new request: a failed reading goes on, a finished one reads what came since. */
export const askedAgain = (progress: HistoryProgress, nowMs: number): HistoryProgress => {
  if (progress.state === "failed") {
    return { ...progress, state: "running", tries: 0, error: null }
  }
  return progress.state === "done" && (progress.throughMs ?? 0) < nowMs - AGAIN_MS
    ? { ...progress, state: "running", passAtMs: null, passRead: 0, slot: null, rank: 0 }
    : progress
}

/** Most transactions that a node lists at once. */
export const MOST_LISTED = 1000

/** The progress after a look at how much there is to read, before any of it is read. */
export const surveyed = (progress: HistoryProgress, found: number, most: number): HistoryProgress => ({
  ...progress,
  expected: found,
  // A node lists so many at once. What is beyond them is not known.
  ...(found >= most ? { isHuge: true } : found < MOST_LISTED ? { isHuge: false } : {})
})

/** One step of a pass. */
export interface HistoryStep {
  /** How many transactions were requested at most, and the transactions that the node listed, newest first. */
  readonly asked: number
  readonly listed: ReadonlyArray<ListedTransaction>
  readonly missing: number
  readonly startedMs: number
}

/** A listed transaction with its rank among the wallet's transactions in its slot, the newest first. */
export interface RankedTransaction {
  readonly listed: ListedTransaction
  readonly rank: number
}

/** The ranks of the next transactions of a pass. */
export const ranked = (
  { rank, slot }: Pick<HistoryProgress, "rank" | "slot">,
  listed: ReadonlyArray<ListedTransaction>
): ReadonlyArray<RankedTransaction> => {
  let last = { slot, rank }
  return listed.map((each) => {
    last = { slot: each.slot, rank: each.slot === last.slot ? last.rank + 1 : 0 }
    return { listed: each, rank: last.rank }
  })
}

/** Milliseconds since the Unix epoch; null without a block time. */
const timeOf = (listed: ListedTransaction | undefined): number | null =>
  listed === undefined || listed.blockTime === null ? null : listed.blockTime * 1000

/** The progress after a step, with at most `most` transactions in a pass. */
export const advanced = (
  progress: HistoryProgress,
  { asked, listed, missing, startedMs }: HistoryStep,
  most: number
): HistoryProgress => {
  const [newest, oldest] = [listed[0], listed.at(-1)]
  const last = ranked(progress, listed).at(-1)
  const passAtMs = progress.passAtMs ?? Math.max(startedMs - LAG_MS, timeOf(newest) ?? 0)
  const passRead = progress.passRead + listed.length
  const isFirst = progress.until === null
  const isEnd = listed.length < asked
  const isCut = !isEnd && passRead >= most
  const isOver = isEnd || isCut
  const top = progress.top ?? newest?.signature ?? null
  return {
    ...progress,
    state: isOver ? "done" : "running",
    passAtMs,
    top: isOver ? null : top,
    before: isOver ? null : (oldest?.signature ?? progress.before),
    slot: last?.listed.slot ?? progress.slot,
    rank: last?.rank ?? progress.rank,
    until: isOver ? (top ?? progress.until) : progress.until,
    passRead,
    read: progress.read + listed.length,
    missing: progress.missing + missing,
    fromMs: isFirst || isCut ? (timeOf(oldest) ?? progress.fromMs ?? passAtMs) : progress.fromMs,
    throughMs: isFirst || isOver ? passAtMs : progress.throughMs,
    isWhole: isFirst ? isEnd : !isCut && progress.isWhole,
    tries: 0,
    error: null
  }
}

/**
 * The progress after the node refused a step. Reading fails at the fifth refusal, or at once when it is refused for
 * good.
 */
export const refused = (progress: HistoryProgress, error: string, isForGood: boolean): HistoryProgress => {
  const tries = progress.tries + 1
  return { ...progress, tries, error, state: isForGood || tries >= MOST_TRIES ? "failed" : "running" }
}
