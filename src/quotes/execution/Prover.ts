import { Context, type Effect, Schema, type Scope } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { PoolSnapshot } from "./poolSnapshot.ts"

/** Runs random swaps on one pool, with these bytes of the program. */
export interface ProofJob {
  readonly programId: Address
  readonly elf: Uint8Array
  /** SHA-256 of the bytes. A runtime deploys each program only once. */
  readonly sha256: string
  readonly snapshot: PoolSnapshot
  readonly swaps: number
  /** Different seeds give different amounts. */
  readonly seed: number
}

/** Result of comparing the swaps on one pool with their quotes. */
export interface PoolOutcome {
  /** Swaps that the program executed, whatever they paid. */
  readonly executed: number
  readonly exact: number
  /** Swaps without a quote, whether they were executed or not. */
  readonly refused: number
  readonly wrong: number
  /** The wrong cases with their accounts, in the format of `npm run exactness`; null when no case was wrong. */
  readonly fixture: object | null
  /** Why nothing was executed; null when something was. */
  readonly obstacle: string | null
  /** Processor time of the thread since its previous outcome, in milliseconds. */
  readonly cpuMs: number
}

/** This machine cannot execute anything. */
export class ProverUnavailable extends Schema.TaggedError<ProverUnavailable>()("ProverUnavailable", {
  detail: Schema.String
}) {}

/** A proof ended without an outcome. */
export class ProofFailed extends Schema.TaggedError<ProofFailed>()("ProofFailed", {
  detail: Schema.String,
  /**
   * Processor time of the thread since its previous outcome, in milliseconds. When the thread did not report it, the
   * elapsed time.
   */
  cpuMs: Schema.Finite
}) {}

/** A runtime that executes jobs one after the other. */
export interface ProverSession {
  prove(job: ProofJob): Effect.Effect<PoolOutcome, ProofFailed>
  /** Frees the runtime's memory. The next job loads the runtime again. */
  readonly rest: Effect.Effect<void>
}

/** Executes swaps with the deployed programs. */
export class Prover extends Context.Service<
  Prover,
  {
    /** Opens a session that lasts until the scope closes. */
    readonly open: Effect.Effect<ProverSession, ProverUnavailable, Scope.Scope>
  }
>()("fathom/quotes/execution/Prover") {}
