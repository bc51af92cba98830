/** What a wallet holds, now or at a moment in the past, and the first transfer that it received. */
import { Schema } from "effect"
import { Atomic } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"
import { CoverageReason, Decimal } from "../../domain/Scalar.ts"
import { decimals, markMethod, mint, wallet } from "./fields.ts"
import { OpeningTransfer } from "./RelatedWallets.ts"
import { WalletTransfer } from "./WalletTrades.ts"

const usd = (description: string) => Schema.NullOr(Decimal).annotate({ description })

const mark = {
  markUsd: usd("Price of one whole token that the units are valued at; null when unknown."),
  markMethod,
  markAtMs: field(
    Schema.NullOr(Schema.Int),
    "Time of that price, in milliseconds since the Unix epoch; null without a price."
  ),
  valueUsd: usd("Value of the units at that price, rounded down to a nano-dollar; null when the price is unknown.")
}

const WalletUnits = Atomic.pipe(
  Schema.annotateEncoded({
    identifier: "WalletUnits",
    description: "Smallest units over all token accounts of the wallet."
  })
)

const AccountLamports = Atomic.pipe(
  Schema.annotateEncoded({
    identifier: "AccountLamports",
    description: "SOL of the wallet's own account, in lamports. Rent of its token accounts is not part of it."
  })
)

const WrappedLamports = Atomic.pipe(
  Schema.annotateEncoded({
    identifier: "WrappedLamports",
    description: "Wrapped SOL over all token accounts, in lamports."
  })
)

export class WalletBalance extends Schema.Opaque<WalletBalance>()(
  Schema.Struct({
    mint,
    decimals,
    amount: WalletUnits,
    basis: field(
      Schema.Literals(["accounts", "last_change", "next_change"]),
      "Where the amount is from. `accounts`: the wallet's accounts, now. In the past, the units in the accounts that a transaction names: `last_change`, after the last recorded change up to the moment; `next_change`, before the first recorded change after it, when none is recorded earlier."
    ),
    isDollar: field(Schema.Boolean, "True for USDC, USDT, USD1 and PYUSD."),
    ...mark
  }).annotate({ identifier: "WalletBalance", description: "Units of one token that a wallet holds." })
) {}

export class WalletBalances extends Schema.Opaque<WalletBalances>()(
  Schema.Struct({
    wallet,
    sol: field(
      Schema.NullOr(
        Schema.Struct({
          lamports: AccountLamports,
          wrappedLamports: WrappedLamports,
          ...mark
        })
      ),
      "SOL of the wallet. The value counts both. Null in the past, where it is not recorded."
    ),
    solReason: field(Schema.NullOr(CoverageReason), "Why `sol` is null; null when it is known."),
    tokens: field(
      Schema.Array(WalletBalance),
      "Tokens other than SOL, most valuable first, unknown values last. Accounts without units are left out."
    ),
    truncated: field(Schema.Boolean, "True when tokens beyond the limit were left out. The sums count them."),
    unknown: field(
      Schema.Array(mint),
      "Tokens in the record whose units at the moment are not known: the changes around it do not agree, or blocks between are missing. At most `limit`, by mint; none now. Tokens that the record never saw are not known either."
    ),
    sums: field(
      Schema.Struct({
        tokens: field(Schema.Int, "Tokens other than SOL that the wallet holds."),
        unknown: field(Schema.Int, "Tokens in the record whose units are not known."),
        unvalued: field(Schema.Int, "Tokens whose value is unknown, SOL and tokens of unknown units included."),
        solUsd: usd("Value of the SOL."),
        dollarsUsd: usd(
          "Value of the dollars; null when the value of one of them is unknown, and in the past, where they are not recorded."
        ),
        valueUsd: usd("Value of everything; null while `unvalued` is not 0."),
        knownValueUsd: field(Decimal, "Value of everything whose value is known.")
      }),
      "Sums over all tokens."
    )
  }).annotate({ identifier: "WalletBalances", description: "What a wallet holds." })
) {}

/** The moment of an answer about the past. */
export const PastMeta = Schema.Struct({
  atSlot: field(Schema.NullOr(Schema.Int), "The slot that was asked for; null when a second was."),
  at: field(
    Schema.NullOr(Schema.Int),
    "The Unix second that values are of; null for a slot whose time is not recorded, and then nothing is valued."
  ),
  first: field(Schema.Int, "The first slot, or second, that the record of the wallet reaches back to."),
  last: field(Schema.Int, "The last slot, or second, of the record.")
}).annotate({
  identifier: "PastMoment",
  description: "The moment of an answer about the past, and the ends of the record."
})

export class WalletFunding extends Schema.Opaque<WalletFunding>()(
  Schema.Struct({
    wallet,
    transfer: field(
      Schema.NullOr(WalletTransfer),
      "The first transfer of a token to the wallet that is held, with its transaction; null when none is. `from` is its sender, where it is known."
    ),
    opening: field(
      Schema.NullOr(OpeningTransfer),
      "The transfer of SOL that opened the wallet's account, with its sender; null when none is recorded, as for a wallet that is older than the record."
    ),
    tradedBefore: field(
      Schema.NullOr(Schema.Boolean),
      "True when a trade of the wallet that is held is older than the transfer; null without a transfer."
    )
  }).annotate({ identifier: "WalletFunding", description: "The first transfer that a wallet received." })
) {}
