/** Executes swaps of pools in memory, in a thread of its own. */
import { Clock, type Config, Context, Deferred, Duration, Effect, Latch, Layer, Result, Schema, Scope } from "effect"
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import { ChainFeed } from "../../chain/ChainFeed.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { noteFailure } from "../../operations/SourceMonitor.ts"
import { Learned } from "../pools/LearnedPools.ts"
import type { HeldPool } from "../pools/PoolCache.ts"
import { ExecutionBudget } from "./ExecutionBudget.ts"
import type { ExecutionBatch, ExecutionJob, ExecutionReply, JobPool } from "./executionWorker.ts"
import { executeBudget } from "./executionSettings.ts"
import type { SwapOrder, SwapResult } from "./executeSwap.ts"
import { executedVenues } from "./executedVenues.ts"
import { type KeptThread, keptThread, type NotStarted } from "./keptThread.ts"
import { programLibrary, type ProgramLibrary } from "./programBytes.ts"
import { refresh } from "./proofSettings.ts"

/** Name of the source in `/freshness`. */
export const EXECUTION = "execution"

/** How long a batch may take. A swap that uses all of its compute units takes some ten milliseconds. */
const DEADLINE = Duration.seconds(2)
/** How long the thread may take to load the runtime. */
const START_DEADLINE = Duration.seconds(30)
const HEAP_MB = 512
/** Jobs that one message to the thread holds. */
const BATCH = 16
/** Jobs that may wait. */
const MOST_WAITING = { quote: 256, sample: 64 }
/** After the thread ended or did not answer, the venue that it was executing is refused for this long, then twice as long. */
const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 3_600_000
/** Accounts that the thread holds before it is started anew. */
const MOST_ACCOUNTS = 20_000
/** Results that are kept for one state of a pool. */
const MOST_RESULTS = 256

/** Why a swap was not executed. */
export class ExecutionRefused extends Schema.TaggedError<ExecutionRefused>()("ExecutionRefused", {
  detail: Schema.String,
  /** Time until it may work; null when it will not. */
  retryInMs: Schema.NullOr(Schema.Int)
}) {}

/** A state of the thread and its queue. */
export interface ExecutorState {
  /** Why nothing can be executed in this process; null when something can. */
  readonly unavailable: string | null
  /** How full the queue is, from 0 to 1. */
  readonly fill: number
  readonly restarts: number
  /** Time of the last answer of the thread. */
  readonly answeredAtMs: number | null
  /** Venues that stopped the thread, with the reason. */
  readonly stopped: ReadonlyMap<Address, string>
}

/** `quote`: a request waits for it. `sample`: executed while no request waits. */
export type Urgency = "quote" | "sample"

/** Executes swaps with the deployed programs, on the accounts in memory. */
export class Executor extends Context.Service<
  Executor,
  {
    /**
     * The results of swaps of one pool, each on the same accounts. Results are kept until an account changes or the slot
     * ends. Fails when the program's bytes or an account are missing, when the queue is full, or when the thread ends.
     */
    execute(
      pool: HeldPool,
      orders: ReadonlyArray<SwapOrder>,
      clock: ChainClock,
      urgency?: Urgency
    ): Effect.Effect<ReadonlyArray<SwapResult>, ExecutionRefused>
    /** Executes one swap on accounts of an earlier slot, for a comparison with what happened then. */
    executePast(pool: HeldPool, order: SwapOrder, clock: ChainClock): Effect.Effect<SwapResult, ExecutionRefused>
    /**
     * Executes the swaps in one transaction. The trader has `amount` of the first input. Ends with the first hop that
     * fails. Each result has the compute units that the transaction has used up to and including its hop.
     */
    executePlan(
      hops: ReadonlyArray<PlannedHop>,
      amount: bigint,
      clock: ChainClock
    ): Effect.Effect<ReadonlyArray<SwapResult>, ExecutionRefused>
    /** Names the deployments that a pool is executed with. It changes with an upgrade. */
    readonly deploymentOf: (pool: HeldPool) => string
    readonly state: () => ExecutorState
    /** The bytes of a program, if anybody asked for them. */
    readonly peek: ProgramLibrary["peek"]
  }
>()("fathom/quotes/execution/Executor") {}

/** A hop of a plan: a pool with every account of its swap, and the swap. */
export interface PlannedHop {
  readonly pool: HeldPool
  readonly order: SwapOrder
}

interface Waiting {
  readonly pools: ReadonlyArray<HeldPool>
  readonly programs: ReadonlyArray<Address>
  readonly job: ExecutionJob
  /** True for accounts of an earlier slot. Such a job has a batch of its own. */
  readonly isPast?: true
  readonly done: Deferred.Deferred<ReadonlyArray<SwapResult>, ExecutionRefused>
  /** Forgets a result that failed, so that the next request tries again. */
  readonly forget: () => void
}

const refuse = (detail: string, retryInMs: number | null = null) => new ExecutionRefused({ detail, retryInMs })

/** What the thread has been sent. */
class Sent {
  readonly #programs = new Map<Address, string>()
  readonly #accounts = new Map<Address, OnChainAccount | null>()

  get size(): number {
    return this.#accounts.size
  }

  clear(): void {
    this.#programs.clear()
    this.#accounts.clear()
  }

  /** The programs of these jobs that the thread lacks. */
  programs(jobs: ReadonlyArray<Waiting>, library: ProgramLibrary): ExecutionBatch["programs"] {
    return [...new Set(jobs.flatMap(({ programs }) => programs))].flatMap((programId) => {
      const bytes = library.of(programId)
      if (bytes._tag !== "Loaded" || this.#programs.get(programId) === bytes.program.sha256) {
        return []
      }
      this.#programs.set(programId, bytes.program.sha256)
      return { programId, elf: bytes.program.elf }
    })
  }

  /** The accounts of these jobs that the thread lacks or has in an older state. */
  accounts(jobs: ReadonlyArray<Waiting>): ExecutionBatch["accounts"] {
    const changed = new Map<Address, OnChainAccount | null>()
    const isPast = jobs.some((job) => job.isPast === true)
    for (const pool of jobs.flatMap(({ pools }) => pools)) {
      for (const [address, account] of pool.accounts) {
        const known = this.#accounts.get(address)
        // Two jobs may hold different states of one account. The newer one counts.
        const isOlder =
          !isPast && account !== null && known !== null && known !== undefined && account.slot < known.slot
        if (known !== account && !isOlder) {
          this.#accounts.set(address, account)
          changed.set(address, account)
        }
      }
    }
    return [...changed]
  }
}

/** Venues that stopped the thread. */
class Stopped {
  readonly #venues = new Map<Address, { readonly untilMs: number; readonly pauseMs: number; readonly detail: string }>()

  /** Why the venue is refused at this time; null when it is not. */
  refusal(programId: Address, nowMs: number): ExecutionRefused | null {
    const stopped = this.#venues.get(programId)
    return stopped === undefined || stopped.untilMs <= nowMs
      ? null
      : refuse(stopped.detail, Math.ceil(stopped.untilMs - nowMs))
  }

  add(programId: Address, detail: string, nowMs: number): void {
    const before = this.#venues.get(programId)
    const pauseMs = before === undefined ? FIRST_PAUSE_MS : Math.min(2 * before.pauseMs, LONGEST_PAUSE_MS)
    this.#venues.set(programId, { untilMs: nowMs + pauseMs, pauseMs, detail: `it stopped the runtime: ${detail}` })
  }

  at(nowMs: number): ReadonlyMap<Address, string> {
    return new Map(
      [...this.#venues].flatMap(([programId, { detail, untilMs }]) =>
        untilMs > nowMs ? [[programId, detail] as const] : []
      )
    )
  }
}

/** The thread, which starts with the first job, and why this machine has none. */
const lazyThread = Effect.fnUntraced(function* (entry: URL) {
  const scope = yield* Effect.scope
  let opened: Result.Result<KeptThread<ExecutionBatch, ExecutionReply>, NotStarted> | null = null
  const settings = { entry, name: "execution", startDeadline: START_DEADLINE, deadline: DEADLINE, heapMb: HEAP_MB }
  return {
    open: Effect.suspend(() =>
      opened !== null
        ? Effect.fromResult(opened)
        : keptThread<ExecutionBatch, ExecutionReply>(settings).pipe(
            Effect.provideService(Scope.Scope, scope),
            Effect.result,
            Effect.tap((result) =>
              Effect.sync(() => {
                opened = Result.isFailure(result) && !result.failure.isLasting ? null : result
              })
            ),
            Effect.flatMap(Effect.fromResult)
          )
    ),
    unavailable: () => (opened !== null && Result.isFailure(opened) ? opened.failure.detail : null)
  }
})

const make = Effect.fnUntraced(function* (entry: URL) {
  const feed = yield* ChainFeed
  const readings = yield* Readings
  const time = yield* Clock.Clock
  const library = yield* programLibrary(feed, yield* refresh, EXECUTION)
  const thread = yield* lazyThread(entry)
  const learnedPools = yield* Learned
  const learnedOf = ({ address, program }: HeldPool) =>
    program === learnedPools.program ? learnedPools.get(address) : undefined

  const programsOf = (pool: HeldPool): ReadonlyArray<Address> => {
    const learned = learnedOf(pool)
    const { programId } = pool.program
    return learned !== undefined
      ? [learned.programId, ...learned.calls]
      : [programId, ...(executedVenues.find((venue) => venue.program.programId === programId)?.calls ?? [])]
  }

  const jobPoolOf = (pool: HeldPool): JobPool => {
    const { address, foundBy, program } = pool
    const learned = learnedOf(pool)
    return { programId: learned?.programId ?? program.programId, pool: address, foundBy, learned }
  }
  const budget = new ExecutionBudget(Duration.toMillis(yield* executeBudget), monotonicMs(time))
  const sent = new Sent()
  const stopped = new Stopped()
  const queues: Record<Urgency, Array<Waiting>> = { quote: [], sample: [] }
  const filled = yield* Latch.make()
  const counts = { executed: 0, failed: 0, restarts: 0 }
  let answeredAtMs: number | null = null

  yield* readings.report(
    { name: "fathom_execution_cpu_seconds_total", help: "Processor time of quotes by execution.", kind: "counter" },
    () => budget.totalMs / 1000
  )
  yield* readings.report(
    { name: "fathom_execution_swaps_total", help: "Swaps that were executed for quotes, by outcome.", kind: "counter" },
    () => [
      { value: counts.executed, labels: { outcome: "paid" } },
      { value: counts.failed, labels: { outcome: "refused" } }
    ]
  )
  yield* readings.report(
    { name: "fathom_execution_waiting", help: "Executions that wait for their turn.", kind: "gauge" },
    () => queues.quote.length + queues.sample.length
  )
  yield* readings.report(
    {
      name: "fathom_execution_restarts_total",
      help: "How often the thread of executions ended or did not answer, and was started again.",
      kind: "counter"
    },
    () => counts.restarts
  )

  const fail = ({ done, forget }: Waiting, refusal: ExecutionRefused): void => {
    forget()
    Deferred.doneUnsafe(done, Effect.fail(refusal))
  }

  const settle = (jobs: ReadonlyArray<Waiting>, { cpuMs, results }: ExecutionReply): void => {
    budget.spend(cpuMs)
    answeredAtMs = time.currentTimeMillisUnsafe()
    jobs.forEach((job, index) => {
      const result = results[index] ?? { failure: "the thread did not answer" }
      if ("failure" in result) {
        return fail(job, refuse(result.failure))
      }
      const failed = result.filter((one) => "error" in one).length
      counts.failed += failed
      counts.executed += result.length - failed
      return Deferred.doneUnsafe(job.done, Effect.succeed(result))
    })
  }

  const restarted = Effect.fnUntraced(function* (
    jobs: ReadonlyArray<Waiting>,
    detail: string,
    progress: SharedArrayBuffer
  ) {
    sent.clear()
    counts.restarts += 1
    const blamed = jobs[Atomics.load(new Int32Array(progress), 0)]
    if (blamed !== undefined) {
      for (const pool of blamed.pools) {
        const { address, program } = pool
        stopped.add(jobPoolOf(pool).programId, detail, monotonicMs(time))
        yield* Effect.logError("An execution stopped its thread", { dex: program.dex, pool: address, detail })
      }
    }
    yield* noteFailure(EXECUTION, detail)
    jobs.forEach((job) => fail(job, refuse(`the execution ended early: ${detail}`, 1000)))
  })

  const batch = Effect.fnUntraced(function* (jobs: ReadonlyArray<Waiting>) {
    const opened = yield* Effect.result(thread.open)
    if (Result.isFailure(opened)) {
      return jobs.forEach((job) => fail(job, refuse(opened.failure.detail)))
    }
    // The runtime keeps every account. A new one has only those that are still asked for.
    yield* sent.size > MOST_ACCOUNTS ? opened.success.rest : Effect.void
    const progress = new SharedArrayBuffer(4)
    const reply = yield* Effect.result(
      opened.success.ask((isNew) => {
        if (isNew) {
          sent.clear()
        }
        return {
          programs: sent.programs(jobs, library),
          accounts: sent.accounts(jobs),
          jobs: jobs.map(({ job }) => job),
          progress
        }
      })
    )
    return Result.isSuccess(reply) ? settle(jobs, reply.success) : yield* restarted(jobs, reply.failure, progress)
  })

  /** Executes the next batch. Waits until there is something to do and the budget has room. */
  const turn = Effect.gen(function* () {
    yield* filled.await
    const waitMs = budget.waitMs(monotonicMs(time))
    if (waitMs > 0) {
      return yield* Effect.sleep(waitMs)
    }
    const queue = queues.quote.length > 0 ? queues.quote : queues.sample
    const past = queue.findIndex((job) => job.isPast === true)
    const jobs = queue.splice(0, past === 0 ? 1 : past === -1 ? BATCH : Math.min(past, BATCH))
    if (queues.quote.length + queues.sample.length === 0) {
      filled.closeUnsafe()
    }
    yield* batch(jobs).pipe(
      Effect.onError(() =>
        Effect.sync(() => {
          // Nobody else would answer those who wait, and the thread may lack what was to be sent.
          sent.clear()
          jobs.forEach((job) => fail(job, refuse("the execution ended early", 1000)))
        })
      )
    )
  })
  yield* turn.pipe(Effect.forever, keepRunning("Executing swaps", EXECUTION), Effect.forkScoped)

  /** Why nothing of the pool can be executed now; null when it can. */
  const obstacle = (pool: HeldPool, programs: ReadonlyArray<Address>, urgency: Urgency): ExecutionRefused | null => {
    const unavailable = thread.unavailable()
    if (unavailable !== null) {
      return refuse(unavailable)
    }
    const { missing } = pool
    if (missing !== null) {
      return refuse(`account ${missing} has not been read yet`, 1000)
    }
    for (const programId of programs) {
      const bytes = library.of(programId)
      if (bytes._tag !== "Loaded") {
        return bytes._tag === "Loading"
          ? refuse(`the bytes of program ${programId} are being read`, 1000)
          : refuse(`program ${programId} cannot be executed: ${bytes.detail}`, 10_000)
      }
    }
    const refusal = stopped.refusal(jobPoolOf(pool).programId, monotonicMs(time))
    const isFull = queues[urgency].length >= MOST_WAITING[urgency]
    return refusal ?? (isFull ? refuse("the queue of executions is full", 1000) : null)
  }

  const deploymentOf = (pool: HeldPool): string =>
    programsOf(pool)
      .map((programId) => {
        const bytes = library.peek(programId)
        return bytes?._tag === "Loaded" ? bytes.program.sha256 : ""
      })
      .join()

  const kept = new WeakMap<HeldPool, { readonly moment: string; readonly results: Map<string, Waiting["done"]> }>()

  const execute: Executor["Service"]["execute"] = (pool, orders, clock, urgency = "quote") =>
    Effect.suspend(() => {
      const known = kept.get(pool)
      const moment = `${clock.slot} ${deploymentOf(pool)}`
      const state = known?.moment === moment ? known : { moment, results: new Map<string, Waiting["done"]>() }
      kept.set(pool, state)
      const key = orders.map(({ aToB, amount, exactOut }) => `${aToB}${exactOut}${amount}`).join()
      const before = state.results.get(key)
      if (before !== undefined) {
        return Deferred.await(before)
      }
      const learned = learnedOf(pool)
      const unproven = learned === undefined ? null : learnedPools.refusalOf(learned)
      const refusal = unproven === null ? obstacle(pool, programsOf(pool), urgency) : refuse(unproven)
      if (refusal !== null) {
        return Effect.fail(refusal)
      }
      const done = Deferred.makeUnsafe<ReadonlyArray<SwapResult>, ExecutionRefused>()
      if (state.results.size < MOST_RESULTS) {
        state.results.set(key, done)
      }
      queues[urgency].push({
        pools: [pool],
        programs: programsOf(pool),
        job: { _tag: "Swaps", clock, orders, ...jobPoolOf(pool) },
        done,
        forget: () => void state.results.delete(key)
      })
      filled.openUnsafe()
      return Deferred.await(done)
    })

  const executePast: Executor["Service"]["executePast"] = (pool, order, clock) =>
    Effect.suspend(() => {
      const refusal = obstacle(pool, programsOf(pool), "sample")
      if (refusal !== null) {
        return Effect.fail(refusal)
      }
      const done = Deferred.makeUnsafe<ReadonlyArray<SwapResult>, ExecutionRefused>()
      queues.sample.push({
        pools: [pool],
        programs: programsOf(pool),
        job: { _tag: "Swaps", clock, orders: [order], ...jobPoolOf(pool) },
        isPast: true,
        done,
        forget: () => undefined
      })
      filled.openUnsafe()
      return Effect.flatMap(Deferred.await(done), ([result]) =>
        result === undefined ? Effect.fail(refuse("the thread did not answer")) : Effect.succeed(result)
      )
    })

  const executePlan: Executor["Service"]["executePlan"] = (hops, amount, clock) =>
    Effect.suspend(() => {
      const pools = hops.map(({ pool }) => pool)
      const refusal = pools.map((pool) => obstacle(pool, programsOf(pool), "quote")).find((one) => one !== null)
      if (refusal !== undefined) {
        return Effect.fail(refusal)
      }
      const done = Deferred.makeUnsafe<ReadonlyArray<SwapResult>, ExecutionRefused>()
      queues.quote.push({
        pools,
        programs: pools.flatMap(programsOf),
        job: {
          _tag: "Plan",
          clock,
          amount,
          hops: hops.map(({ order, pool }) => ({ ...jobPoolOf(pool), order }))
        },
        done,
        forget: () => undefined
      })
      filled.openUnsafe()
      return Deferred.await(done)
    })

  return Executor.of({
    execute,
    executePast,
    executePlan,
    deploymentOf,
    peek: library.peek,
    state: () => ({
      unavailable: thread.unavailable(),
      fill: queues.quote.length / MOST_WAITING.quote,
      restarts: counts.restarts,
      answeredAtMs,
      stopped: stopped.at(monotonicMs(time))
    })
  })
})

/** Executes in a thread whose entry is this module. */
export const layerOf = (entry: URL): Layer.Layer<Executor, Config.ConfigError, ChainFeed> =>
  Layer.effect(Executor, make(entry))

/** Executes in a thread with LiteSVM. */
export const layer: Layer.Layer<Executor, Config.ConfigError, ChainFeed> = layerOf(
  new URL("./executionWorker.ts", import.meta.url)
)
