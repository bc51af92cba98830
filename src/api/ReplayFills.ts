import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { AmountText } from "../domain/Amount.ts"
import { field } from "../domain/field.ts"
import {
  IdempotencyKeyReused,
  LimitReached,
  NotAReplay,
  PoolNotFound,
  ReplayEnded,
  RouteNotFound,
  RouteTypeNotServed
} from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { Budget } from "./middleware/Metering.ts"
import { NoQuery, optional, refuse } from "./parameters.ts"
import { inputMint, methodVersion, outputMint, requestId, wallet } from "./schemas/fields.ts"
import { FillModel, ReplayFill, ReplayFillStatus } from "./schemas/ReplayFill.ts"
import { twoMints } from "./Spot.ts"

/** Default values of optional fields. */
export const defaults = { slippageBps: 50, latencySlots: 1, model: "recorded" } as const

/** The most slots from a swap to its slot, and the milliseconds that count as one. */
export const latency = { mostSlots: 1000, slotMs: 400 } as const

const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { expected: `a whole number from ${minimum} to ${maximum}` }))

const given = <S extends Schema.Top>(schema: S, description: string) => field(Schema.optionalKey(schema), description)

/** An amount with its description, which the documents show on the text. */
const units = (description: string) =>
  Schema.optionalKey(Schema.flip(Schema.flip(AmountText).annotateKey({ description })))

export const ReplayFillBody = Schema.Struct({
  id: field(
    Schema.String.check(Schema.isPattern(/^[\w.:-]{1,64}$/u, { expected: "1 to 64 of A-Z, a-z, 0-9, _, -, . and :" })),
    "Your id of the swap. A repetition with the same fields answers with the swap as it is now; with other fields it is refused."
  ),
  wallet,
  inputMint,
  outputMint,
  amount: AmountText,
  pools: field(
    Schema.Array(Address).check(
      Schema.isMinLength(1, { expected: "1 to 4 pools" }),
      Schema.isMaxLength(4, { expected: "1 to 4 pools" })
    ),
    "The pools in the order of the route, 1 to 4, as in the route of a quote. Send the parts of a split route as swaps of their own."
  ),
  minOut: units("The least output, in atomic units of outputMint."),
  slippageBps: given(
    whole(0, 10_000),
    `Gives the least output from the quoted one, in basis points; ${defaults.slippageBps} by default. Leave it out beside minOut.`
  ),
  quotedOut: units(
    "What you were quoted, in atomic units of outputMint. Without it, what the swap would pay in the newest state, your earlier swaps included."
  ),
  latencySlots: given(
    whole(1, latency.mostSlots),
    `Slots from now to the slot of the swap; ${defaults.latencySlots} by default.`
  ),
  latencyMs: given(
    whole(0, latency.mostSlots * latency.slotMs),
    `The latency in milliseconds instead: each begun ${latency.slotMs} are one slot, and there is at least one.`
  ),
  model: Schema.optionalKey(FillModel)
}).check(
  Schema.makeFilter(twoMints),
  Schema.makeFilter(
    ({ latencyMs, latencySlots }: { readonly latencyMs?: number; readonly latencySlots?: number }) =>
      latencyMs === undefined ||
      latencySlots === undefined ||
      refuse("latencyMs", "conflict", "latencyMs must be left out beside latencySlots.")
  ),
  Schema.makeFilter(
    ({ minOut, slippageBps }: { readonly minOut?: bigint; readonly slippageBps?: number }) =>
      minOut === undefined ||
      slippageBps === undefined ||
      refuse("slippageBps", "conflict", "slippageBps must be left out beside minOut.")
  )
)

export const ReplayFillsQuery = Schema.Struct({
  wallet: optional(Address, "Only swaps of this wallet."),
  status: optional(ReplayFillStatus, "Only swaps with this status.")
})

const meta = field(
  Schema.Struct({
    requestId,
    methodVersion: methodVersion("public-replay-fills-v1"),
    slot: field(Schema.Int, "The newest slot of the replay.")
  }),
  "How the answer was made."
)

export class ReplayFillAnswer extends Schema.Opaque<ReplayFillAnswer>()(
  Schema.Struct({ data: ReplayFill, meta }).annotate({
    identifier: "ReplayFillAnswer",
    description: "One intended swap."
  })
) {}

export class ReplayFillsAnswer extends Schema.Opaque<ReplayFillsAnswer>()(
  Schema.Struct({ data: field(Schema.Array(ReplayFill), "In the order in which they were posted."), meta }).annotate({
    identifier: "ReplayFillsAnswer",
    description:
      "Your intended swaps, at most 1,000 in a replay, and under `recorded` 64 that are filled or pending in a pool."
  })
) {}

/** Intended swaps of a replay. */
export class ReplayFillsGroup extends HttpApiGroup.make("replayFills")
  .add(
    HttpApiEndpoint.post("post", "/api/v1/replay/fills", {
      query: NoQuery,
      payload: ReplayFillBody,
      success: ReplayFillAnswer,
      error: [
        IdempotencyKeyReused,
        LimitReached,
        NotAReplay,
        PoolNotFound,
        ReplayEnded,
        RouteNotFound,
        RouteTypeNotServed
      ]
    })
      .middleware(JsonBody)
      .annotate(Budget, "quote")
      .annotate(OpenApi.Summary, "Swap in a replay, as if it had been sent")
      .annotate(
        OpenApi.Description,
        "Only while the service plays a recording; otherwise `not_a_replay`. The swap is executed as the first transaction of its slot, on the recorded state of the slot before, with every fee of the pools and the mints. Its impact is carried forward by the model. The balance of the wallet is not checked, and no network fee is charged. What cannot be executed exactly is refused: `pool_not_found` for a pool that is not in the recording, `route_not_supported` for a venue whose state after a swap is not known. The wallet must have no trades in the recording so far, and no swaps of another account. An account has at most 1,000 swaps, and under `recorded` at most 64 in a pool that are filled or pending: `limit_reached`. After the end of the recording: `replay_ended`. Nothing is signed or sent."
      ),
    HttpApiEndpoint.get("list", "/api/v1/replay/fills", {
      query: ReplayFillsQuery,
      success: ReplayFillsAnswer,
      error: [NotAReplay]
    }).annotate(OpenApi.Summary, "Your swaps in a replay, and what became of them")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Swaps of a bot in a replay of the market.") {}
