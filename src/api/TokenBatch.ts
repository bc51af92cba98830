import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { CommaList, NoQuery } from "./parameters.ts"
import { TokenLookup } from "./schemas/TokenLookup.ts"
import { field } from "../domain/field.ts"
import { knowledgeOf, metaOf, nextCursor } from "./schemas/fields.ts"
import { UniqueList } from "./schemas/lists.ts"

/** Most tokens of one read. */
const MOST = 100

export const TokensQuery = Schema.Struct({
  addresses: field(CommaList(Address, MOST), `1 to ${MOST} different mints, separated by commas.`)
})

/** Body of a request of the facts of several tokens. */
export const TokensBody = Schema.Struct({
  addresses: field(UniqueList(Address, MOST, "addresses"), "Different mints.")
}).annotate({ identifier: "TokensRequest", description: "The mints whose facts are requested." })

export class TokenBatchAnswer extends Schema.Opaque<TokenBatchAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(TokenLookup), "The answer itself."),
    meta: field(
      Schema.Struct({
        ...metaOf("public-token-v1"),
        ...knowledgeOf("Time of the newest observation of any source that was used.")
      }),
      "How the answer was made, and how well it is known."
    ),
    nextCursor
  }).annotate({
    identifier: "TokenBatchAnswer",
    description: "Facts of several tokens, in the order of the request."
  })
) {}

const description =
  "One row for each mint, in the order of the request. Tokens that are not in memory are queued, and their rows say when to ask again."

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
