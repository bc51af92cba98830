/** Intended swaps of a replay. */
import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { atomic } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"
import { inputMint, outputMint, wallet } from "./fields.ts"

export const FillModel = Schema.Literals(["recorded", "replayed"]).annotate({
  identifier: "FillModel",
  description:
    "What your swaps change later. `recorded`: the market stays as it was recorded, and your earlier swaps of a pool are executed again on it before each new one. `replayed`: the recorded swaps of others are executed again on the pools that you changed, each with the input that it paid, whatever it gets. The swaps of one model do not see those of the other."
})

export const ReplayFillStatus = Schema.Literals(["pending", "filled", "failed", "refused"]).annotate({
  identifier: "ReplayFillStatus",
  description:
    "`pending`: its slot has not come; under `replayed`, nor have all blocks before it. `failed`: the program would have refused the swap. `refused`: the replay cannot tell exactly. All but `pending` are final."
})

export const ReplayFillReason = Schema.Literals([
  "pool_not_recorded",
  "venue_without_state",
  "pool_diverged",
  "wrong_mint",
  "replay_ended",
  "program_refused",
  "not_enough_liquidity",
  "slippage_exceeded"
]).annotate({
  identifier: "ReplayFillReason",
  description:
    "`pool_not_recorded`: the recording does not have the pool at the slot. `venue_without_state`: the state of such a pool after a swap is not known. `pool_diverged`: something else than swaps changed a pool that you changed, or blocks are missing. `wrong_mint`: the pools do not lead from one mint to the other. `replay_ended`: the replay ended before the slot of the swap. `program_refused`, `not_enough_liquidity` and `slippage_exceeded`: what the program would say."
})

export class ReplayFillHop extends Schema.Opaque<ReplayFillHop>()(
  Schema.Struct({
    pool: field(Address, "Address of the pool."),
    dex: field(Schema.String, "Venue label of the pool."),
    inputMint,
    outputMint,
    amountIn: atomic("What left the wallet or the pool before, in atomic units of inputMint, fees included."),
    amountOut: atomic("What arrived, in atomic units of outputMint, after all fees of the pool and of the mint.")
  }).annotate({ identifier: "ReplayFillHop", description: "One swap of a route that was executed." })
) {}

export class ReplayFill extends Schema.Opaque<ReplayFill>()(
  Schema.Struct({
    id: field(Schema.String, "The id that you chose."),
    number: field(Schema.Int, "Counts your swaps from 1."),
    simulated: field(Schema.Literal(true), "Always true: no transaction was signed or sent."),
    signature: field(
      Schema.String,
      "Stands for the signature of the transaction that was never sent. No node knows it."
    ),
    wallet,
    inputMint,
    outputMint,
    amount: atomic("What is sold, in atomic units of inputMint."),
    pools: field(Schema.Array(Address), "The pools in the order of the route."),
    model: FillModel,
    postedSlot: field(Schema.Int, "The newest slot of the replay when the swap was posted."),
    slot: field(Schema.Int, "The swap is the first transaction of this slot: it finds the end of the slot before."),
    quotedOut: atomic("What you were quoted: your own figure, or what the swap would have paid when it was posted."),
    minOut: atomic("The least output. A swap that gets less fails."),
    status: ReplayFillStatus,
    reason: Schema.NullOr(
      Schema.Struct({ code: ReplayFillReason, detail: field(Schema.String, "The same as a sentence.") })
    ).annotate({ description: "Why it failed or was refused; null otherwise." }),
    amountOut: Schema.NullOr(atomic("What the swap pays out, in atomic units of outputMint.")).annotate({
      description:
        "What the swap pays out, in atomic units of outputMint. With `slippage_exceeded`, what it would have paid. Null while it is pending, and when no amount was found."
    }),
    hops: field(Schema.Array(ReplayFillHop), "The executed swaps; empty unless the swap is filled."),
    atMs: field(
      Schema.NullOr(Schema.Int),
      "Recorded time of the state that it was executed on, in milliseconds since the Unix epoch; null while pending, and when the replay ended before its slot."
    )
  }).annotate({ identifier: "ReplayFill", description: "An intended swap of a replay, and what became of it." })
) {}
