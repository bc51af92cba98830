import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import {
  IdempotencyKeyReused,
  LimitReached,
  NotAReplay,
  PoolNotFound,
  ReplayEnded,
  RouteNotFound,
  RouteTypeNotServed
} from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { defaults, latency, type ReplayFillBody, type ReplayFillsQuery } from "../../api/ReplayFills.ts"
import { ReplayFill } from "../../api/schemas/ReplayFill.ts"
import type { Fill } from "../../past/FillBook.ts"
import { type FillRefused, type FillRequest, ReplayFills } from "../../past/ReplayFills.ts"
import { invalid } from "../problems.ts"
import { metaWith } from "./metaWith.ts"

const methodVersion = "public-replay-fills-v1"

/** The slots of a latency, at least one. */
const slotsOf = ({ latencyMs, latencySlots }: typeof ReplayFillBody.Type): number =>
  latencySlots ?? (latencyMs === undefined ? defaults.latencySlots : Math.max(1, Math.ceil(latencyMs / latency.slotMs)))

const requestOf = (body: typeof ReplayFillBody.Type): FillRequest => ({
  id: body.id,
  wallet: body.wallet,
  inputMint: body.inputMint,
  outputMint: body.outputMint,
  amount: body.amount,
  pools: body.pools,
  model: body.model ?? defaults.model,
  latencySlots: slotsOf(body),
  quotedOut: body.quotedOut ?? null,
  minOut: body.minOut ?? null,
  slippageBps: body.slippageBps ?? defaults.slippageBps
})

const wireFill = (fill: Fill): ReplayFill => ReplayFill.make({ ...fill, simulated: true })

const refused = ({ code, detail: message }: FillRefused) => {
  switch (code) {
    case "pool_not_recorded":
      return new PoolNotFound({ error: { message } })
    case "wrong_mint":
      return invalid({ in: "body", field: "pools", issue: "conflict" }, message)
    case "venue_without_state":
    case "pool_diverged":
      return new RouteTypeNotServed({ error: { message } })
    default:
      return new RouteNotFound({ error: { message } })
  }
}

const notAReplay = () => Effect.fail(new NotAReplay())

export const layer = HttpApiBuilder.group(
  Api,
  "replayFills",
  Effect.fnUntraced(function* (handlers) {
    const fills = yield* ReplayFills

    const list = Effect.fnUntraced(function* ({ query }: { readonly query: typeof ReplayFillsQuery.Type }) {
      const { accountId } = yield* CurrentKey
      const { fills: all, slot } = yield* fills.list(accountId).pipe(Effect.catchTag("NotAReplay", notAReplay))
      const data = all.filter(
        ({ status, wallet }) =>
          (query.wallet === undefined || wallet === query.wallet) &&
          (query.status === undefined || status === query.status)
      )
      return { data: data.map(wireFill), meta: yield* metaWith({ methodVersion, slot } as const) }
    })

    const post = Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof ReplayFillBody.Type }) {
      const { accountId } = yield* CurrentKey
      const fill = yield* fills.post(accountId, requestOf(payload)).pipe(
        Effect.catchTags({
          NotAReplay: notAReplay,
          FillRefused: (reason) => Effect.fail(refused(reason)),
          FillIdReused: () =>
            Effect.fail(
              new IdempotencyKeyReused({ error: { message: `id ${payload.id} was used for another swap.` } })
            ),
          TooManyFills: ({ detail: message }) => Effect.fail(new LimitReached({ error: { message } })),
          WalletNotFree: ({ detail }) =>
            Effect.fail(invalid({ in: "body", field: "wallet", issue: "conflict" }, detail)),
          ReplayHasEnded: () => Effect.fail(new ReplayEnded())
        })
      )
      return { data: wireFill(fill), meta: yield* metaWith({ methodVersion, slot: fill.postedSlot } as const) }
    })

    return handlers.handleAll({ post, list })
  })
)
