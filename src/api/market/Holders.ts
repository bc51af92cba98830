import { Schema } from "effect"
import { Coverage, Status } from "../../domain/Scalar.ts"
import { TokenHolders } from "../../domain/market/TokenHolders.ts"
import { described, IntegerParameter } from "../parameters.ts"

/** The largest and the default number of owners that are listed. */
export const mostHolders = 100

/** Query of the holders of a token. */
export const HoldersQuery = Schema.Struct({
  limit: Schema.optionalKey(
    described(
      IntegerParameter(1, mostHolders, mostHolders),
      `Owners to list, largest first, 1 to ${mostHolders}; ${mostHolders} unless given.`
    )
  )
})

/** Holders of one token. */
export class TokenHoldersAnswer extends Schema.Opaque<TokenHoldersAnswer>()(
  Schema.Struct({
    data: TokenHolders,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-holders-v1"),
      chain: Schema.Literal("solana"),
      observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "When the newest block or account was read." }),
      status: Status,
      coverage: Coverage
    })
  }).annotate({
    identifier: "TokenHoldersAnswer",
    description:
      "Holders of one token. Status and coverage are those of the number of holders. While the accounts are being read the " +
      "answer has a `Retry-After` header."
  })
) {}
