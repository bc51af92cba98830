import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { TokenFacts } from "./Token.ts"
import { field } from "../../domain/field.ts"

/** Result of a look-up of one token among several. */
export const TokenLookupState = Schema.Literals(["found", "loading", "deferred", "not_found", "malformed"]).annotate({
  identifier: "TokenLookupState",
  description:
    "`found`: with facts. `loading`: queued by this request. `deferred`: not queued, because the key has too many tokens in the queue. `not_found`: the chain has no such mint. `malformed`: the account does not have the format of a token program."
})

export class TokenLookup extends Schema.Opaque<TokenLookup>()(
  Schema.Struct({
    address: field(Address, "Mint of the token: base58 of 32 bytes on Solana."),
    state: TokenLookupState,
    facts: field(Schema.NullOr(TokenFacts), "Facts of the token; null unless found."),
    retryAfterMs: field(
      Schema.NullOr(Schema.Int),
      "Milliseconds after which the token is probably loaded or can be queued; null when there is nothing to wait for, or the time is unknown."
    )
  }).annotate({ identifier: "TokenLookup", description: "One token of several." })
) {}
