/** Properties that many schemas have, each with its description. */
import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { atomic } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"
import { Coverage, Scalar, Status } from "../../domain/Scalar.ts"

export const requestId = field(Schema.String, "Id of this answer, as in X-Request-Id.")

export const chain = field(Schema.Literal("solana"), "The chain of the values.")

export const executionAuthority = field(
  Schema.Literal("none"),
  "Always `none`: nothing here signs, sends or moves anything."
)

export const methodVersion = <const Version extends string>(version: Version) =>
  field(
    Schema.Literal(version),
    "Version of the method that made the answer. Another version may count in another way."
  )

/** The first properties in the meta of an answer about the market. */
export const metaOf = <const Version extends string>(version: Version) => ({
  requestId,
  methodVersion: methodVersion(version),
  chain
})

/** When an answer was observed, and how well it is known. */
export const knowledgeOf = (observedAt: string) => ({
  observedAtMs: field(Schema.NullOr(Schema.Int), observedAt),
  status: Status,
  coverage: Coverage
})

/** The slot of an answer. Answers of one slot are about the same blocks. */
export const answerSlot = field(
  Schema.NullOr(Schema.Int),
  "Slot of the newest block in the answer. Two answers with the same slot are of the same blocks. Null where the answer is not made of blocks."
)

/** Which of the two meanings of a trade an answer has. */
export const tradeBasis = <const Basis extends "net_trades" | "pool_swaps">(basis: Basis) =>
  field(
    Schema.Literal(basis),
    "`pool_swaps`: swaps of single pools, as in candles and volumes. `net_trades`: what wallets gave and received in all, with fees. Sums of one are not sums of the other."
  )

/** Whose wallets the field `traders` of an answer counts. */
export const tradersBasis = <const Basis extends "net_trades" | "pool_swaps">(basis: Basis) =>
  field(
    Schema.Literal(basis),
    "Which wallets `traders` counts. `pool_swaps`: owners of swaps of single pools, as `trades` and volumes count them. `net_trades`: wallets that gave or received the token in all. Compare `traders` only of answers with the same basis."
  )

export const mint = field(Address, "Mint of the token: base58 of 32 bytes.")
export const wallet = field(Address, "The wallet: base58 of 32 bytes.")
export const inputMint = field(Address, "Mint of the token that is given.")
export const outputMint = field(Address, "Mint of the token that is received.")
export const amount = atomic("Atomic units of the mint, as decimal digits.")
export const decimals = field(
  Schema.NullOr(Schema.Int),
  "Digits after the decimal point of one whole token; null when unknown."
)
export const slot = field(Schema.Int, "Slot of the block.")
export const sentAtMs = field(Schema.Int, "When the frame was sent, in milliseconds since the Unix epoch.")
export const nextCursor = field(Schema.Null, "Always null: the answer has one page.")

export const priceUsd = field(Scalar, "Price of one whole token, in USD.")
export const marketCapUsd = field(Scalar, "Price times supply, in USD.")
export const liquidityUsd = field(Scalar, "Liquidity of the token's pools, in USD.")
export const trades = field(Scalar, "Number of pool swaps.")
export const traders = field(
  Scalar,
  "Number of different wallets with a net trade (`tradersBasis`). Candles and the whole market count owners of pool swaps."
)

/** Where the price of a valuation comes from; null without a price. */
export const markMethod = field(
  Schema.NullOr(Schema.Literals(["pool_median", "last_trade"])),
  "`pool_median`: the weighted median over the pools, as in /prices. `last_trade`: no pool quotes the mint, so its last trade counts. Null without a price."
)
