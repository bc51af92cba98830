import { Context, type Effect, Schema } from "effect"
import type { ProgramQuery } from "../ChainFeed.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"

/** An account of a program after a write. */
export interface ProgramWrite {
  /** Index of the query that the account matches. */
  readonly query: number
  readonly slot: number
  /** 32 bytes. */
  readonly address: Uint8Array
  readonly lamports: bigint
  /** A view into a message. Copy it to keep it. */
  readonly data: Uint8Array
}

/** Callbacks. They run synchronously, in order of arrival, and must not fail. */
export interface ProgramListener {
  readonly onWrite: (write: ProgramWrite) => void
  /** A slot has reached the stream's commitment. A write of that slot may still follow. */
  readonly onSlot: (slot: number) => void
}

/** The source no longer has the writes since the requested slot. */
export class ReplayUnavailable extends Schema.TaggedError<ReplayUnavailable>()("ReplayUnavailable", {
  detail: Schema.String
}) {}

/** A stream without a newer slot for this many milliseconds is silent. */
export const STREAM_SILENCE_MS = 30_000

/** The writes of all accounts of whole programs. */
export interface ProgramFeed {
  /**
   * Follows the accounts that match a query, from a slot on, or from now on when it is null. The stream may begin later
   * than requested. Makes one attempt, and fails when the stream ends: as `timeout` after STREAM_SILENCE_MS of silence,
   * and with `isRefused` when the endpoint does not offer such streams. The next attempt goes to the next endpoint, or
   * to the same one after `ReplayUnavailable` and after an interruption.
   */
  readonly follow: (
    queries: ReadonlyArray<ProgramQuery>,
    from: number | null,
    listener: ProgramListener
  ) => Effect.Effect<never, ChainUnavailable | ReplayUnavailable>
}

/** The source of program writes; null where the market has none. */
export const ProgramWrites = Context.Reference<ProgramFeed | null>("fathom/chain/geyser/ProgramWrites", {
  defaultValue: () => null
})
