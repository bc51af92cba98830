/** What a wallet holds now, and the first transfer that it received. */
import { Schema } from "effect"
import { Atomic } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"
import { Decimal } from "../../domain/Scalar.ts"
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
    isDollar: field(Schema.Boolean, "True for USDC, USDT, USD1 and PYUSD."),
    ...mark
  }).annotate({ identifier: "WalletBalance", description: "Units of one token that a wallet holds." })
) {}

export class WalletBalances extends Schema.Opaque<WalletBalances>()(
  Schema.Struct({
    wallet,
    sol: field(
      Schema.Struct({
        lamports: AccountLamports,
        wrappedLamports: WrappedLamports,
        ...mark
      }),
      "SOL of the wallet. The value counts both."
    ),
    tokens: field(
      Schema.Array(WalletBalance),
      "Tokens other than SOL, most valuable first, unknown values last. Accounts without units are left out."
    ),
    truncated: field(Schema.Boolean, "True when tokens beyond the limit were left out. The sums count them."),
    sums: field(
      Schema.Struct({
        tokens: field(Schema.Int, "Tokens other than SOL that the wallet holds."),
        unvalued: field(Schema.Int, "Tokens whose value is unknown, SOL included."),
        solUsd: usd("Value of the SOL."),
        dollarsUsd: usd("Value of the dollars; null when the value of one of them is unknown."),
        valueUsd: usd("Value of everything; null while `unvalued` is not 0."),
        knownValueUsd: field(Decimal, "Value of everything whose value is known.")
      }),
      "Sums over all tokens."
    )
  }).annotate({ identifier: "WalletBalances", description: "What a wallet holds." })
) {}

export class WalletFunding extends Schema.Opaque<WalletFunding>()(
  Schema.Struct({
    wallet,
    transfer: field(
      Schema.NullOr(WalletTransfer),
      "The first transfer of a token to the wallet that is held, with its transaction; null when none is. Its sender is not recorded."
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
