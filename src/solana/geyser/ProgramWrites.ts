import { Context, type Effect, Schema } from "effect"
import type { ChainUnavailable, ProgramQuery } from "../accounts/ChainFeed.ts"

/** An account of a program after a write. */
export interface ProgramWrite {
  /** The place of the query that it passes. */
  readonly query: number
  readonly slot: number
  /** 32 bytes. */
  readonly address: Uint8Array
  readonly lamports: bigint
  /** Part of a message: to be copied where it is kept. */
  readonly data: Uint8Array
}

/** Callbacks, run synchronously in the order of arrival. They must not fail. */
export interface ProgramListener {
  readonly onWrite: (write: ProgramWrite) => void
  /** A slot has reached the commitment of the stream. A write of it may still follow. */
  readonly onSlot: (slot: number) => void
}

/** The source does not have the writes since the slot that was asked for. */
export class ReplayUnavailable extends Schema.TaggedError<ReplayUnavailable>()("ReplayUnavailable", {
  detail: Schema.String
}) {}

/** A stream without a newer slot for this long is silent, in milliseconds. */
export const STREAM_SILENCE_MS = 30_000

/** The writes of the accounts of whole programs. */
export interface ProgramFeed {
  /**
   * Follows the accounts that pass a query, from a slot on, or from now on where it is null. Makes one attempt and fails when the
   * stream ends, with the reason `timeout` where it has been silent for STREAM_SILENCE_MS, and refused where
   * the endpoint does not offer it. It may begin later than asked for. The next attempt is made at the next
   * endpoint, or at the same one after `ReplayUnavailable` and after an interruption.
   */
  readonly follow: (
    queries: ReadonlyArray<ProgramQuery>,
    from: number | null,
    listener: ProgramListener
  ) => Effect.Effect<never, ChainUnavailable | ReplayUnavailable>
}

/** Null where the market has no such source. */
export const ProgramWrites = Context.Reference<ProgramFeed | null>("fathom/solana/geyser/ProgramWrites", {
  defaultValue: () => null
})
