import { Effect } from "effect"
import { type InvalidRequest, UnsupportedChain } from "../../api/errors/problems.ts"
import { Address, isAddress, type Mint } from "../../domain/Address.ts"
import { invalid } from "../problems.ts"

/** Path parameters of the endpoints of one token. */
export interface TokenPath {
  readonly params: { readonly chain: string; readonly address: string }
}

/** The mint in a path. Fails for an unserved chain and for a malformed address. */
export const mintOf = ({
  params: { address, chain }
}: TokenPath): Effect.Effect<Mint, UnsupportedChain | InvalidRequest> => {
  if (chain !== "solana") {
    return Effect.fail(
      new UnsupportedChain({
        error: { message: "chain must be solana.", details: [{ in: "path", field: "chain", issue: "unknown" }] }
      })
    )
  }
  return isAddress(address)
    ? Effect.succeed(Address.make(address))
    : Effect.fail(
        invalid(
          { in: "path", field: "address", issue: "format" },
          "address must be a Solana address: base58 of 32 bytes."
        )
      )
}
