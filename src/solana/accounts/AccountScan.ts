import { Context, Effect, Layer } from "effect"
import type { Address } from "../../domain/Address.ts"
import { ChainUnavailable, type DataSlice, type ProgramQuery } from "./ChainFeed.ts"

/** Selects accounts of a program, and the part of their data that is read. */
export interface ScanQuery extends ProgramQuery {
  /** Bytes of the data of each account. */
  readonly slice: DataSlice
  /** The least slot of the answer; 0 for any. */
  readonly minSlot: number
}

/** The end of a scan: the slot of all its accounts, or null when the visitor ended it. */
export interface ScanEnd {
  readonly slot: number | null
}

/** Accounts of a program one after the other: the whole list, which may have millions, is never in memory. */
export class AccountScan extends Context.Service<
  AccountScan,
  {
    /**
     * Visits the part of the data of each account, and its address; false ends the scan. Makes one attempt, which may
     * fail after visits, and as `timeout` where no part of the answer comes for a while. Fails as `invalid` where the source does not answer such requests.
     */
    scan(
      query: ScanQuery,
      visit: (data: Uint8Array, address: Address) => boolean
    ): Effect.Effect<ScanEnd, ChainUnavailable>
  }
>()("fathom/solana/accounts/AccountScan") {
  /** Without a node to scan. */
  static readonly layerUnreachable: Layer.Layer<AccountScan> = Layer.sync(AccountScan, () =>
    AccountScan.of({ scan: () => Effect.fail(new ChainUnavailable({ reason: "invalid", detail: "no node is read" })) })
  )
}
