import { Context, Effect, Layer } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import { readAddress, readU64 } from "../../programs/layout/bytes.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"

/** The programs whose accounts hold tokens. */
export const TOKEN_PROGRAMS: readonly [Address, Address] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]

/** Leading bytes of a token account that hold its mint, owner and amount. */
export const BALANCE_LENGTH = 72

/** The accounts of an owner under one token program, at one slot. */
export interface OwnedAccounts {
  readonly slot: number
  /** The first bytes of each account, `length` of the request. */
  readonly accounts: ReadonlyArray<Uint8Array>
}

export interface OwnedRequest {
  readonly owner: Address
  readonly program: Address
  /** How many bytes of each account to read. */
  readonly length: number
  /** The most bytes of the answer. A longer one fails with `isTooLarge`. */
  readonly maxBytes?: number
}

/** Token accounts by their owner, read from a node. Each call has a deadline and a bounded number of retries. */
export class TokenAccounts extends Context.Service<
  TokenAccounts,
  {
    /** Every account of the owner under the program, including empty accounts. */
    ofOwner(request: OwnedRequest): Effect.Effect<OwnedAccounts, ChainUnavailable>
    /** SOL of the owner's own account in lamports, and the slot of the read. */
    lamportsOf(owner: Address): Effect.Effect<{ readonly slot: number; readonly lamports: bigint }, ChainUnavailable>
  }
>()("fathom/chain/rpc/TokenAccounts") {
  /** A market without a node: every call fails as unreachable. */
  static readonly layerUnreachable: Layer.Layer<TokenAccounts> = Layer.succeed(TokenAccounts, {
    ofOwner: () => Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "no node is configured" })),
    lamportsOf: () => Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "no node is configured" }))
  })
}

/** Sums the units of these accounts by mint. Null when an account belongs to another owner. */
export const unitsByMint = (owner: Address, accounts: ReadonlyArray<Uint8Array>): ReadonlyMap<Mint, bigint> | null => {
  const units = new Map<Mint, bigint>()
  for (const data of accounts) {
    if (readAddress(data, 32) !== owner) {
      return null
    }
    const mint = readAddress(data, 0)
    units.set(mint, (units.get(mint) ?? 0n) + readU64(data, 64))
  }
  return units
}
