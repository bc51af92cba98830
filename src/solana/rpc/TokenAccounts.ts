import { Context, Effect, Layer } from "effect"
import type { Address } from "../../domain/Address.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"

/** The accounts of an owner under one token program, at one slot. */
export interface OwnedAccounts {
  readonly slot: number
  /** The first bytes of each account, as many as were asked for. */
  readonly accounts: ReadonlyArray<Uint8Array>
}

/** Selects token accounts. */
export interface OwnedRequest {
  readonly owner: Address
  readonly program: Address
  /** Bytes of each account. */
  readonly length: number
}

/** Token accounts by their owner, read from a node. Each call has a deadline and a bounded number of retries. */
export class TokenAccounts extends Context.Service<
  TokenAccounts,
  {
    /** Every account of the owner under the program, empty ones included. */
    ofOwner(request: OwnedRequest): Effect.Effect<OwnedAccounts, ChainUnavailable>
  }
>()("fathom/solana/rpc/TokenAccounts") {
  /** For a market without a node: every call fails as unreachable. */
  static readonly layerUnreachable: Layer.Layer<TokenAccounts> = Layer.succeed(TokenAccounts, {
    ofOwner: () => Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "no node is configured" }))
  })
}
