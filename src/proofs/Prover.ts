import { Context, type Effect, Schema, type Scope } from "effect"
import type { Address } from "../domain/Address.ts"
import type { PoolSnapshot } from "./execution/poolSnapshot.ts"

/** Random swaps on one pool, by the bytes of its program. */
export interface ProofJob {
  readonly programId: Address
  readonly elf: Uint8Array
  /** SHA-256 of these bytes: a runtime deploys the same program once. */
  readonly sha256: string
  readonly snapshot: PoolSnapshot
  readonly swaps: number
  /** Another one gives other amounts. */
  readonly seed: number
}

/** The comparison of the swaps on one pool with their quotes. */
export interface PoolOutcome {
  /** Swaps that the program executed, whatever they paid. */
  readonly executed: number
  readonly exact: number
  /** Not quoted, or neither quoted nor executed. */
  readonly refused: number
  readonly wrong: number
  /** The cases that were wrong with their accounts, as `npm run exactness` reads them; null when none was. */
  readonly fixture: object | null
  /** The reason for which nothing was executed; null when something was. */
  readonly obstacle: string | null
  /** Processor time of the thread since the outcome before, in milliseconds. */
  readonly cpuMs: number
}

/** Nothing can be executed on this machine. */
export class ProverUnavailable extends Schema.TaggedError<ProverUnavailable>()("ProverUnavailable", {
  detail: Schema.String
}) {}

/** A proof ended without an outcome. */
export class ProofFailed extends Schema.TaggedError<ProofFailed>()("ProofFailed", {
  detail: Schema.String,
  /** Processor time of the thread since the outcome before, in milliseconds; the time that passed where the thread did not report it. */
  cpuMs: Schema.Finite
}) {}

/** A runtime that executes jobs one after the other. */
export interface ProverSession {
  prove(job: ProofJob): Effect.Effect<PoolOutcome, ProofFailed>
  /** Frees the memory of the runtime until the next job, which loads it again. */
  readonly rest: Effect.Effect<void>
}

/** Executes swaps with deployed programs. */
export class Prover extends Context.Service<
  Prover,
  {
    /** A session until the scope closes. */
    readonly open: Effect.Effect<ProverSession, ProverUnavailable, Scope.Scope>
  }
>()("fathom/proofs/Prover") {}
