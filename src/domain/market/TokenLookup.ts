import { Schema } from "effect"
import { Address } from "../Address.ts"
import { TokenFacts } from "./Token.ts"

/** Result of a look-up of one token among several. */
export const TokenLookupState = Schema.Literals(["found", "loading", "deferred", "not_found", "malformed"]).annotate({
  identifier: "TokenLookupState",
  description:
    "`found`: with facts. `loading`: queued by this call. `deferred`: not queued, because the key has too many tokens in the queue. `not_found`: the chain has no such mint. `malformed`: its account is none that the token programs write."
})

/** One token of several. */
export class TokenLookup extends Schema.Opaque<TokenLookup>()(
  Schema.Struct({
    address: Address,
    state: TokenLookupState,
    facts: Schema.NullOr(TokenFacts).annotate({ description: "Null unless found." }),
    retryAfterMs: Schema.NullOr(Schema.Int).annotate({
      description:
        "Time after which the token is probably loaded or can be queued; null where nothing is to be waited for, or the time is not known."
    })
  }).annotate({ identifier: "TokenLookup", description: "One token of several." })
) {}
