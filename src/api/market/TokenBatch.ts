import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../../domain/Address.ts"
import { Coverage, Status } from "../../domain/Scalar.ts"
import { TokenLookup } from "../../domain/market/TokenLookup.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { JsonBody } from "../middleware/JsonBody.ts"
import { CommaList, described, NoQuery, UniqueList } from "../parameters.ts"
import { DataUnavailable } from "../problems.ts"

/** Most tokens of one read. */
const MOST = 100

/** Query of the facts of several tokens. */
export const TokensQuery = Schema.Struct({
  addresses: described(CommaList(Address, MOST), `1 to ${MOST} different mints, separated by commas.`)
})

/** Body of a request of the facts of several tokens. */
export const TokensBody = Schema.Struct({
  addresses: UniqueList(Address, MOST, "addresses")
}).annotate({ identifier: "TokensRequest", description: "Mints of a request of facts." })

/** Facts of several tokens, in the order of the request. */
export class TokenBatchAnswer extends Schema.Opaque<TokenBatchAnswer>()(
  Schema.Struct({
    data: Schema.Array(TokenLookup),
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-token-v1"),
      chain: Schema.Literal("solana"),
      observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "The newest observation of a source used." }),
      status: Status,
      coverage: Coverage
    }),
    nextCursor: Schema.Null
  }).annotate({
    identifier: "TokenBatchAnswer",
    description: "Facts of several tokens, in the order of the request."
  })
) {}

const description =
  "A row for each mint in the order of the request. Tokens that are not in memory are queued, and have a time after which to ask again."

/** Facts of several tokens at once. */
export class TokenBatchGroup extends HttpApiGroup.make("tokenBatch")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/tokens", {
      query: TokensQuery,
      success: TokenBatchAnswer,
      error: [DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Facts of 1 to 100 tokens")
      .annotate(OpenApi.Description, description),
    HttpApiEndpoint.post("read", "/api/v1/tokens", {
      query: NoQuery,
      payload: TokensBody,
      success: TokenBatchAnswer,
      error: [DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Facts of 1 to 100 tokens, named in the body")
      .annotate(OpenApi.Description, description)
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Facts of several tokens at once, answered from memory.") {}
