/** Trades and transfers of one wallet. */
import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { field } from "../../domain/field.ts"
import { amount, decimals, mint } from "./fields.ts"
import { TokenTrade } from "./TokenTrade.ts"

const { isWhole: _, pool: __, wallet: ___, ...shared } = TokenTrade.fields

export class WalletTrade extends Schema.Opaque<WalletTrade>()(
  Schema.Struct({
    ...shared,
    pool: field(Schema.NullOr(Address), "Address of the pool; null for a route through several pools, or when unknown.")
  }).annotate({
    identifier: "WalletTrade",
    description: "What a wallet exchanged in one instruction: one swap, or the net result of a route."
  })
) {}

export class WalletTransfer extends Schema.Opaque<WalletTransfer>()(
  Schema.Struct({
    id: shared.id,
    signature: shared.signature,
    slot: shared.slot,
    index: field(Schema.Int, "Place of the transfer among the trades of its slot."),
    timeMs: shared.timeMs,
    direction: field(Schema.Literals(["in", "out"]), "`in`: the units came to the wallet. `out`: they left it."),
    from: field(
      Schema.NullOr(Address),
      "The owner of the account that sent the units: this wallet for `out`. Null when the transaction shows none, or several."
    ),
    to: field(
      Schema.NullOr(Address),
      "The owner of the account that received the units: this wallet for `in`. Null when the transaction shows none, or several."
    ),
    mint,
    amount,
    decimals
  }).annotate({
    identifier: "WalletTransfer",
    description:
      "Units of one mint that came to a wallet or left it without a trade: the net change over the transaction, after transfer fees. The other end is known where all transfers of the mint with this wallet in the transaction are with one other owner and make up the change. Rows that an earlier release stored do not have it."
  })
) {}
