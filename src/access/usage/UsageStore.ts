import { Context, type Effect } from "effect"
import type { UsageCaller, UsageDays, UsagePage, UsagePlace, UsageStoreUnavailable } from "../../api/schemas/Usage.ts"

/** An answered request. */
export interface UsedRequest {
  readonly caller: UsageCaller
  /** Operation id of the contract. */
  readonly operation: string
  /** Units charged for it, after refunds. */
  readonly units: number
  readonly isError: boolean
  /** Bytes of the body as sent; 0 for a stream, which is counted by `open`. */
  readonly bytes: number
}

/** The rows to read: for one credential, or for every credential of an account. */
export interface UsageQuery extends UsageDays {
  readonly caller: UsageCaller
  /** True for all credentials of the account. */
  readonly isAccount: boolean
  readonly limit: number
  readonly after: UsagePlace | null
}

/**
 * Usage of keys and sessions by UTC day and operation. Counting is synchronous and in memory. The sums are added to the
 * store every few seconds and when the scope closes. A process that is killed loses less than 10 seconds.
 */
export class UsageStore extends Context.Service<
  UsageStore,
  {
    /** Counts an answered request. */
    readonly request: (used: UsedRequest) => void
    /** Adds units that were charged after the answer began. Negative for a refund. */
    readonly addUnits: (caller: UsageCaller, operation: string, units: number) => void
    /** Counts time and bytes of a stream until the returned function is called. `sentBytes` returns the bytes since its start. */
    readonly open: (caller: UsageCaller, operation: string, sentBytes: () => number) => () => void
    /** A page of rows. Includes everything that this process has counted and what other processes have stored. */
    page(query: UsageQuery): Effect.Effect<UsagePage, UsageStoreUnavailable>
  }
>()("fathom/access/usage/UsageStore") {}
