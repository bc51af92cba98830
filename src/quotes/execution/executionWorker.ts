/** Entry of the execution thread: executes swaps in LiteSVM on the accounts that it is sent. */
import { parentPort } from "node:worker_threads"
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { lowerThreadPriority } from "../../chain/blocks/threadPriority.ts"
import { makeCpuMs } from "./cpuTime.ts"
import { derive } from "./decodeFixture.ts"
import { executePlan } from "./executePlan.ts"
import { executeSwap, feePayer, type SwapOrder, type SwapResult } from "./executeSwap.ts"
import { executedVenues } from "./executedVenues.ts"
import { type LearnedPool, LearnedPools } from "../pools/LearnedPools.ts"
import { learnedVenue } from "./learnedVenue.ts"
import type { ThreadReady } from "./keptThread.ts"
import { loadRuntime, type Runtime } from "./programRuntime.ts"
import type { Site, Venue } from "./swapVenue.ts"
import { venues } from "./swapVenues.ts"

/** A pool of a job. */
export interface JobPool {
  readonly programId: Address
  readonly pool: Address
  readonly foundBy: Mint | undefined
  /** How to swap in a pool of a program that nothing here has code for. */
  readonly learned?: LearnedPool | undefined
}

export type ExecutionJob =
  /** Swaps of one pool, each executed on the same accounts. */
  | ({ readonly _tag: "Swaps"; readonly clock: ChainClock; readonly orders: ReadonlyArray<SwapOrder> } & JobPool)
  /** Swaps of several pools, one after the other in one transaction. The trader has this amount of the first input. */
  | {
      readonly _tag: "Plan"
      readonly clock: ChainClock
      readonly amount: bigint
      readonly hops: ReadonlyArray<JobPool & { readonly order: SwapOrder }>
    }

/** What changed since the last batch, and the jobs. All jobs see the same accounts. */
export interface ExecutionBatch {
  /** Programs that are new or were upgraded. */
  readonly programs: ReadonlyArray<{ readonly programId: Address; readonly elf: Uint8Array }>
  /** Accounts that are new or were written. Null: the account does not exist. */
  readonly accounts: ReadonlyArray<readonly [Address, OnChainAccount | null]>
  readonly jobs: ReadonlyArray<ExecutionJob>
  /** The thread writes here which job it executes. */
  readonly progress: SharedArrayBuffer
}

/** Answer to a batch: the results of each job in order, or why a job could not be executed at all. */
export interface ExecutionReply {
  readonly results: ReadonlyArray<ReadonlyArray<SwapResult> | { readonly failure: string }>
  /** Processor time of the thread since its previous answer, in milliseconds. */
  readonly cpuMs: number
}

const all: ReadonlyMap<Address, Venue> = new Map(
  [...venues, ...executedVenues].map((venue) => [venue.program.programId, venue])
)

/** Only its label matters here. */
const LEARNED = new LearnedPools().program

/** A removed account: the runtime drops an account without lamports. */
const gone = (address: Address): OnChainAccount => ({
  address,
  owner: "11111111111111111111111111111111" as Address,
  lamports: 0n,
  data: new Uint8Array(0),
  slot: 0
})

/** The runtime with everything that it was sent. */
class Chain {
  readonly #make: () => Runtime
  readonly #programs = new Map<Address, Uint8Array>()
  readonly #accounts = new Map<Address, OnChainAccount | null>()
  /** Why the bytes of a program cannot be executed. */
  readonly #faults = new Map<Address, string>()
  #runtime: Runtime

  constructor(make: () => Runtime) {
    this.#make = make
    this.#runtime = this.#fresh()
  }

  #fresh(): Runtime {
    const runtime = this.#make()
    runtime.setAccount(feePayer())
    return runtime
  }

  /** Deploys programs. An upgrade starts a new runtime, because the old one may keep the old program. */
  deploy(programs: ExecutionBatch["programs"]): void {
    const isUpgrade = programs.some(({ programId }) => this.#programs.has(programId))
    programs.forEach(({ elf, programId }) => this.#programs.set(programId, elf))
    if (!isUpgrade) {
      return programs.forEach(({ elf, programId }) => this.#load(programId, elf))
    }
    this.#runtime = this.#fresh()
    this.#faults.clear()
    this.#programs.forEach((elf, programId) => this.#load(programId, elf))
    this.#accounts.forEach((account, address) => this.#put(address, account))
  }

  #load(programId: Address, elf: Uint8Array): void {
    try {
      this.#runtime.deploy(programId, elf)
    } catch (error) {
      this.#faults.set(programId, `the runtime rejects the bytes of ${programId}: ${reasonOf(error)}`)
    }
  }

  set(accounts: ExecutionBatch["accounts"]): void {
    for (const [address, account] of accounts) {
      this.#accounts.set(address, account)
      this.#put(address, account)
    }
  }

  #put(address: Address, account: OnChainAccount | null): void {
    this.#runtime.setAccount(account ?? gone(address))
  }

  run(job: ExecutionJob): ReadonlyArray<SwapResult> {
    this.#runtime.setClock(job.clock)
    if (job._tag === "Plan") {
      const hops = job.hops.map(({ order, ...pool }) => ({ ...this.#place(pool), order }))
      return executePlan(this.#runtime, hops, job.amount)
    }
    const { site, venue } = this.#place(job)
    const sides = venue.sides(site)
    if (sides === null) {
      throw new Error("an account that names its mints is missing")
    }
    return job.orders.map((order) => {
      const executed = executeSwap(this.#runtime, venue, site, sides, order)
      return executed?.result ?? { error: "its program has no such swap, or none is known", units: 0 }
    })
  }

  /** The pool with its accounts. Throws when its program cannot be executed. */
  #place({ foundBy, learned, pool: address, programId }: JobPool): { readonly venue: Venue; readonly site: Site } {
    const venue = learned === undefined ? all.get(programId) : learnedVenue(learned, LEARNED)
    const pool = this.#accounts.get(address)
    if (venue === undefined || !pool) {
      throw new Error(venue === undefined ? "its swap instruction is not known" : `there is no pool ${address}`)
    }
    const fault = [programId, ...(learned?.calls ?? callsOf(venue))].flatMap((one) => this.#faults.get(one) ?? [])[0]
    if (fault !== undefined) {
      throw new Error(fault)
    }
    return { venue, site: { pool, accounts: (one) => this.#accounts.get(one), derive, foundBy } }
  }
}

const callsOf = (venue: Venue): ReadonlyArray<Address> => executedVenues.find((one) => one === venue)?.calls ?? []

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const serve = (makeRuntime: () => Runtime) => {
  const cpuMs = makeCpuMs()
  const chain = new Chain(makeRuntime)
  return ({ accounts, jobs, programs, progress }: ExecutionBatch): ExecutionReply => {
    const executing = new Int32Array(progress)
    chain.deploy(programs)
    chain.set(accounts)
    const results = jobs.map((job, index) => {
      Atomics.store(executing, 0, index)
      try {
        return chain.run(job)
      } catch (error) {
        return { failure: reasonOf(error) }
      }
    })
    return { results, cpuMs: cpuMs() }
  }
}

lowerThreadPriority()
const makeRuntime = loadRuntime()
const ready: ThreadReady = { unavailable: typeof makeRuntime === "function" ? null : makeRuntime.reason }
parentPort?.postMessage(ready, [])
if (typeof makeRuntime === "function") {
  const answer = serve(makeRuntime)
  parentPort?.on("message", (batch: ExecutionBatch) => parentPort?.postMessage(answer(batch), []))
}
