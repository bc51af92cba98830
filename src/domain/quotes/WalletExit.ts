import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Atomic, atomic, SlippageBps } from "../Amount.ts"
import { CoverageReason, Decimal } from "../Scalar.ts"
import { ExitCheck } from "./ExitCheck.ts"

const Ui = Schema.NullOr(Schema.Finite).annotate({ description: "Whole tokens; null when the decimals are not known." })
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
    "`checked`: the ladder was priced. `unknown_balance`: the wallet's balance is not known. `quote_mint`: held in quoteMint, nothing to sell. `too_small`: no share of the ladder comes to one atomic unit. `loading`: the pools are not in memory and are being loaded now. `deferred`: not in memory, and the key has too many mints being loaded. `not_searched`: no pool in memory buys it, and the node refused to search for others. `not_supported`: the pools cannot be priced. `not_reached`: the time of the request was over."
})
export type WalletExitState = typeof WalletExitState.Type

/** The largest rung of a position that sells within the impact. */
export class WithinImpact extends Schema.Opaque<WithinImpact>()(
  Schema.Struct({
    fraction: Schema.Finite.annotate({ description: "Share of the position, 0 to 1; never interpolated." }),
    amount: Atomic,
    outAmount: atomic("Net proceeds in atomic units of quoteMint."),
    outUiAmount: Ui
  }).annotate({
    identifier: "WithinImpact",
    description: "The largest rung of a position that sells within the impact."
  })
) {}

/** One open position of the wallet, and its ladder. */
export class WalletExitPosition extends Schema.Opaque<WalletExitPosition>()(
  Schema.Struct({
    mint: Address,
    state: WalletExitState,
    detail: Schema.NullOr(Schema.String).annotate({ description: "Why it was not priced; null when it was." }),
    retryInMs: Schema.NullOr(Schema.Int).annotate({
      description: "Milliseconds after which the pools are probably loaded; null while that is not known."
    }),
    amount: Schema.NullOr(Atomic).annotate({
      description: "Balance over all token accounts of the wallet; null when unknown."
    }),
    decimals: Schema.NullOr(Schema.Int),
    valueUsd: Schema.NullOr(Decimal).annotate({ description: "Value at the mark, not proceeds; null when unknown." }),
    within: Schema.NullOr(WithinImpact).annotate({
      description: "The part that sells within maxImpactPct; null when nothing sells or the impact was not measured."
    }),
    exit: Schema.NullOr(ExitCheck).annotate({ description: "The ladder; null unless the state is `checked`." })
  }).annotate({ identifier: "WalletExitPosition", description: "One open position of the wallet, and its ladder." })
) {}

/** Open positions by state. */
export class WalletExitCounts extends Schema.Opaque<WalletExitCounts>()(
  Schema.Struct({
    open: Count.annotate({ description: "Open positions that the service knows of; the sum of the others." }),
    checked: Count.annotate({ description: "Positions of which the ladder was priced." }),
    unknownBalance: Count.annotate({ description: "Positions of which the balance is not known." }),
    quoteMint: Count.annotate({ description: "Positions in quoteMint itself." }),
    tooSmall: Count.annotate({ description: "Positions of which no share of the ladder comes to one atomic unit." }),
    loading: Count.annotate({ description: "Positions of which the pools are being loaded now." }),
    deferred: Count.annotate({ description: "Positions of which the pools could not be queued for loading." }),
    notSearched: Count.annotate({
      description: "Positions that no pool in memory buys, of which the pools could not all be searched."
    }),
    notSupported: Count.annotate({ description: "Positions of which the pools cannot be priced." }),
    notReached: Count.annotate({ description: "Positions that the time of the request did not reach." }),
    leftOut: Count.annotate({ description: "Positions beyond the limit of the request; they are not in the list." })
  }).annotate({ identifier: "WalletExitCounts", description: "Open positions by state." })
) {}

/** Proceeds over the positions of the wallet. */
export class WalletExitTotal extends Schema.Opaque<WalletExitTotal>()(
  Schema.Struct({
    maxImpactPct: Schema.Finite.annotate({ description: "Percent against the smallest rung of each position." }),
    outAmount: Schema.NullOr(Atomic).annotate({
      description:
        "Sum of the proceeds within the impact, in atomic units of quoteMint: at least this much unless complete. Each position is priced alone against the state of its pools. Null when no position could be measured."
    }),
    outUiAmount: Ui,
    measured: Count.annotate({
      description: "Positions in the sum; one that nothing buys at any share counts as zero."
    }),
    complete: Schema.Boolean.annotate({ description: "True when every open position is in the sum." }),
    fullExitOutAmount: Schema.NullOr(Atomic).annotate({
      description: "Sum of the proceeds of whole positions at any impact, over fullExits; null when there are none."
    }),
    fullExitOutUiAmount: Ui,
    fullExits: Count.annotate({ description: "Positions that can be sold whole, at any impact." })
  }).annotate({ identifier: "WalletExitTotal", description: "Proceeds over the positions of the wallet." })
) {}

/** The exit check of a wallet. */
export class WalletExitCheck extends Schema.Opaque<WalletExitCheck>()(
  Schema.Struct({
    wallet: Address,
    status: Schema.Literals(["partial", "unavailable"]).annotate({
      description:
        "partial: positions are those of trades and balances that the service holds. unavailable: nothing is held of the wallet, or it was not read in time."
    }),
    reason: Schema.NullOr(CoverageReason).annotate({ description: "Why not all of the wallet is known." }),
    quoteMint: Address,
    quoteDecimals: Schema.NullOr(Schema.Int).annotate({
      description: "As stated in the request, else those of quoteMint in memory; null when it is not loaded yet."
    }),
    slippageBps: SlippageBps,
    ladder: Schema.Array(Schema.Finite),
    counts: WalletExitCounts,
    total: WalletExitTotal,
    positions: Schema.Array(WalletExitPosition).annotate({
      description:
        "Those of known balance first, then the most valuable, those without a value last and the most recently traded first among them."
    })
  }).annotate({
    identifier: "WalletExitCheck",
    description: "Whether the positions of a wallet can be sold, and what they bring within an impact."
  })
) {}
