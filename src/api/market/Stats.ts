import { Schema } from "effect"
import { Coverage, Status } from "../../domain/Scalar.ts"
import { TokenStats } from "../../domain/market/TokenStats.ts"
import { described, IntegerParameter } from "../parameters.ts"

/** The last second of the year 9999, the latest accepted time. */
const LAST_SECOND = 253_402_300_799

/** Query of the statistics of a token. */
export const TokenStatsQuery = Schema.Struct({
  from: Schema.optionalKey(
    described(
      IntegerParameter(0, LAST_SECOND),
      "Unix second from which on the highest and lowest price are searched, floored to a bar; the beginning of the record unless given."
    )
  )
})

/** Activity of one token. */
export class TokenStatsAnswer extends Schema.Opaque<TokenStatsAnswer>()(
  Schema.Struct({
    data: TokenStats,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-stats-v1"),
      chain: Schema.Literal("solana"),
      observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "Time of the newest block." }),
      status: Status,
      coverage: Coverage
    })
  }).annotate({
    identifier: "TokenStatsAnswer",
    description: "Activity of one token. The coverage is that of 24 hours; the range has its own."
  })
) {}
