import { Schema } from "effect"
import { Address, type Mint } from "../../domain/Address.ts"
import { field } from "../../domain/field.ts"
import { amount, decimals, mint, slot } from "./fields.ts"

export const LiquidityEventKind = Schema.Literals(["added", "removed"])
export type LiquidityEventKind = typeof LiquidityEventKind.Type

/** Units of one mint that moved between a provider and a vault. */
export interface LiquiditySide {
  readonly mint: Mint
  readonly amount: bigint
  /** As the transaction states them; null when it does not. */
  readonly decimals: number | null
}

/** Liquidity that one instruction added to a pool or took from it. */
export interface LiquidityChange {
  readonly signature: string
  /**
   * Place in the block: 1024 times the position of the transaction, plus the position among the changes of the
   * transaction.
   */
  readonly index: number
  readonly kind: LiquidityEventKind
  readonly pool: Address
  readonly dex: string
  /** The owner of the accounts that paid or received; null when the transaction does not show it. */
  readonly provider: Address | null
  /** One for each vault whose mint the transaction shows: at most two. */
  readonly sides: ReadonlyArray<LiquiditySide>
  /** True when the instruction created the pool. */
  readonly opens: boolean
  /** True when the amounts may include fees that the position had earned. */
  readonly includesFees: boolean
}

export class LiquidityEvent extends Schema.Opaque<LiquidityEvent>()(
  Schema.Struct({
    signature: field(Schema.String, "Signature of the transaction, as base58."),
    slot,
    timeMs: field(Schema.Int, "Block time, in milliseconds since the Unix epoch."),
    kind: field(LiquidityEventKind, "`added`: units went into the vaults. `removed`: units came out of them."),
    pool: field(Address, "Address of the pool."),
    dex: field(Schema.String, "Key of the venue, such as raydium-cpmm."),
    provider: field(
      Schema.NullOr(Address),
      "Owner of the token accounts that paid or received; null when the transaction does not show it."
    ),
    amounts: field(
      Schema.Array(
        Schema.Struct({ mint, amount, decimals }).annotate({
          identifier: "LiquidityAmount",
          description: "Units of one mint that went into a vault or came out of it."
        })
      ),
      "What moved, one entry for each mint of the pool. What a vault received is after a transfer fee, what it paid is before it. A deposit of one mint may name only that mint."
    ),
    opensPool: field(Schema.Boolean, "True for the first liquidity, of the instruction that created the pool."),
    includesFees: field(
      Schema.Boolean,
      "True when the amounts may include fees that the position had earned, because the venue pays both at once: removals on raydium-clmm, rebalancing on meteora-dlmm."
    )
  }).annotate({ identifier: "LiquidityEvent", description: "Liquidity that was added to a pool or taken from it." })
) {}
