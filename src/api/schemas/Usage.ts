/** Usage of keys: sums by credential, UTC day and operation. */
import { Schema } from "effect"

/** Sums of one credential at one operation on one day. */
export interface UsageSums {
  /** Answered requests. */
  requests: number
  /** Units charged and not refunded, of both budgets. */
  units: number
  /** Requests answered with a status of 400 or above. */
  errors: number
  /** Bytes of bodies, frames and messages, as sent. */
  bytes: number
  /** How long streams and sockets were open. */
  streamMs: number
}

/** A credential: the id of a key, or the credential that all sessions of an account share. */
export interface UsageCaller {
  readonly id: string
  readonly accountId: string
}

/** The first and last day of a range, both included, as `2026-11-22`. */
export interface UsageDays {
  readonly from: string
  readonly to: string
}

/** Place of a row: by day, newest first, then by credential and operation. */
export interface UsagePlace {
  readonly day: string
  readonly keyId: string
  readonly operation: string
}

/** One stored row. */
export interface UsageRow extends UsagePlace, Readonly<UsageSums> {
  /** Null for sessions. */
  readonly keyName: string | null
}

/** One page of rows. */
export interface UsagePage {
  readonly rows: ReadonlyArray<UsageRow>
  /** Place of the last row when more follow; null on the last page. */
  readonly next: UsagePlace | null
}

/** Days for which usage is kept. */
export const USAGE_DAYS = 366

/** The store did not answer in time, or failed. */
export class UsageStoreUnavailable extends Schema.TaggedError<UsageStoreUnavailable>()("UsageStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the usage store does not answer"
  }
}
