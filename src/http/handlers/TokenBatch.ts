import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import type { TokensBody, TokensQuery } from "../../api/TokenBatch.ts"
import type { Mint } from "../../domain/Address.ts"
import { lookUpTokens } from "../../tokens/lookUpTokens.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { metaWith } from "./metaWith.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "tokenBatch",
  Effect.fnUntraced(function* (handlers) {
    const tokens = yield* TokenReader

    const answer = Effect.fnUntraced(function* (mints: ReadonlyArray<Mint>) {
      const { data, knowledge } = yield* lookUpTokens(mints, tokens.factsOf)
      const meta = yield* metaWith({ methodVersion: "public-token-v1", chain: "solana", ...knowledge })
      return { data, meta, nextCursor: null }
    })

    return handlers.handleAll({
      list: ({ query }: { readonly query: typeof TokensQuery.Type }) => answer(query.addresses),
      read: ({ payload }: { readonly payload: typeof TokensBody.Type }) => answer(payload.addresses)
    })
  })
)
