import { Context, Effect, Layer } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { DataSlice, ProgramQuery } from "../ChainFeed.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"

/** Selects accounts of a program, and the part of their data to read. */
export interface ScanQuery extends ProgramQuery {
  readonly slice: DataSlice
  /** The lowest slot that the answer may have; 0 for any slot. */
  readonly minSlot: number
}

/** The end of a scan. `slot` is the slot of all accounts, or null when the visitor ended the scan. */
export interface ScanEnd {
  readonly slot: number | null
}

/** Visits the accounts of a program one by one. The list may have millions and is never in memory as a whole. */
export class AccountScan extends Context.Service<
  AccountScan,
  {
    /**
     * Visits each account: the part of its data, and its address. The visitor returns false to end the scan. Makes one
     * attempt, which may fail after some visits. Fails as `timeout` when no bytes arrive for a while, and as `invalid`
     * when the source does not answer such requests.
     */
    scan(
      query: ScanQuery,
      visit: (data: Uint8Array, address: Address) => boolean
    ): Effect.Effect<ScanEnd, ChainUnavailable>
  }
>()("fathom/chain/rpc/AccountScan") {
  /** A market without a node: every scan fails. */
  static readonly layerUnreachable: Layer.Layer<AccountScan> = Layer.sync(AccountScan, () =>
    AccountScan.of({ scan: () => Effect.fail(new ChainUnavailable({ reason: "invalid", detail: "no node is read" })) })
  )
}
