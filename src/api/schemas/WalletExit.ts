import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Atomic, atomic, SlippageBps } from "../../domain/Amount.ts"
import { CoverageReason, Decimal } from "../../domain/Scalar.ts"
import { ExitCheck } from "./ExitCheck.ts"
import { field } from "../../domain/field.ts"
import { amount, decimals, mint, wallet } from "./fields.ts"

const Ui = Schema.NullOr(Schema.Finite).annotate({
  description: "The balance in whole tokens; null when the decimals are unknown."
})
const Count = Schema.Int

/** The state of a position in the check. */
export const WalletExitState = Schema.Literals([
  "checked",
  "unknown_balance",
  "quote_mint",
  "too_small",
  "loading",
  "deferred",
  "not_searched",
  "not_supported",
  "not_reached"
]).annotate({
  identifier: "WalletExitState",
  description:
    "`checked`: the ladder was priced. `unknown_balance`: the wallet's balance is unknown. `quote_mint`: held in quoteMint, so there is nothing to sell. `too_small`: no share of the ladder reaches one atomic unit. `loading`: the pools are not in memory and are being loaded. `deferred`: the pools are not in memory, and the key has too many mints being loaded. `not_searched`: no pool in memory buys the token, and the node refused to search for others. `not_supported`: the pools cannot be priced. `not_reached`: the time of the request was over."
})
export type WalletExitState = typeof WalletExitState.Type

export class WithinImpact extends Schema.Opaque<WithinImpact>()(
  Schema.Struct({
    fraction: field(Schema.Finite, "Share of the position, 0 to 1. It is never interpolated."),
    amount,
    outAmount: atomic("Net proceeds in atomic units of quoteMint."),
    outUiAmount: Ui
  }).annotate({
    identifier: "WithinImpact",
    description: "The largest rung of a position that sells within the impact."
  })
) {}

export class WalletExitPosition extends Schema.Opaque<WalletExitPosition>()(
  Schema.Struct({
    mint,
    state: WalletExitState,
    detail: field(Schema.NullOr(Schema.String), "Why the position was not priced; null when it was."),
    retryInMs: field(
      Schema.NullOr(Schema.Int),
      "Milliseconds after which the pools are probably loaded; null when unknown."
    ),
    amount: field(Schema.NullOr(Atomic), "Balance over all token accounts of the wallet; null when unknown."),
    decimals,
    valueUsd: field(Schema.NullOr(Decimal), "Value at the current price, not proceeds; null when unknown."),
    within: field(
      Schema.NullOr(WithinImpact),
      "The part that sells within maxImpactPct; null when nothing sells or the impact was not measured."
    ),
    exit: field(Schema.NullOr(ExitCheck), "The ladder; null unless the state is `checked`.")
  }).annotate({ identifier: "WalletExitPosition", description: "One open position of the wallet, and its ladder." })
) {}

export class WalletExitCounts extends Schema.Opaque<WalletExitCounts>()(
  Schema.Struct({
    open: field(Count, "Open positions that the service knows. The other counts add up to it."),
    checked: field(Count, "Positions whose ladder was priced."),
    unknownBalance: field(Count, "Positions whose balance is unknown."),
    quoteMint: field(Count, "Positions in quoteMint itself."),
    tooSmall: field(Count, "Positions too small for one atomic unit at any share of the ladder."),
    loading: field(Count, "Positions whose pools are being loaded."),
    deferred: field(Count, "Positions whose pools could not be queued for loading."),
    notSearched: field(Count, "Positions that no pool in memory buys and whose pools could not all be searched."),
    notSupported: field(Count, "Positions whose pools cannot be priced."),
    notReached: field(Count, "Positions that the time of the request did not reach."),
    leftOut: field(Count, "Positions beyond the limit of the request. They are not in the list.")
  }).annotate({ identifier: "WalletExitCounts", description: "Open positions by state." })
) {}

export class WalletExitTotal extends Schema.Opaque<WalletExitTotal>()(
  Schema.Struct({
    maxImpactPct: field(Schema.Finite, "The allowed impact, in percent against the smallest rung of each position."),
    outAmount: field(
      Schema.NullOr(Atomic),
      "Sum of the proceeds within the impact, in atomic units of quoteMint. Unless complete, the wallet brings at least this much. Each position is priced alone against the state of its pools. Null when no position could be measured."
    ),
    outUiAmount: Ui,
    measured: field(Count, "Number of positions in the sum. A position that nothing buys at any share counts as zero."),
    complete: field(Schema.Boolean, "True when every open position is in the sum."),
    fullExitOutAmount: field(
      Schema.NullOr(Atomic),
      "Sum of the proceeds of whole positions at any impact, over `fullExits`; null when there are none."
    ),
    fullExitOutUiAmount: Ui,
    fullExits: field(Count, "Number of positions that can be sold whole, at any impact.")
  }).annotate({ identifier: "WalletExitTotal", description: "Proceeds over the positions of the wallet." })
) {}

export class WalletExitCheck extends Schema.Opaque<WalletExitCheck>()(
  Schema.Struct({
    wallet,
    status: field(
      Schema.Literals(["partial", "unavailable"]),
      "`partial`: the positions come from the trades and balances that the service holds. `unavailable`: the service holds nothing of the wallet, or could not read it in time."
    ),
    reason: field(Schema.NullOr(CoverageReason), "Why the wallet is not fully known; null when it is."),
    quoteMint: field(Address, "Mint of the proceeds."),
    quoteDecimals: field(
      Schema.NullOr(Schema.Int),
      "Decimals from the request, otherwise from quoteMint in memory; null when quoteMint is not loaded yet."
    ),
    slippageBps: SlippageBps,
    ladder: field(Schema.Array(Schema.Finite), "Ascending shares of the position, above 0 and at most 1."),
    counts: WalletExitCounts,
    total: WalletExitTotal,
    positions: field(
      Schema.Array(WalletExitPosition),
      "Positions of known balance first, then the most valuable. Positions without a value come last, most recently traded first."
    )
  }).annotate({
    identifier: "WalletExitCheck",
    description: "Whether the positions of a wallet can be sold, and what they bring within an impact."
  })
) {}
