/** Wallets that are related because one wallet funded them first. */
import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { atomic } from "../../domain/Amount.ts"
import { field } from "../../domain/field.ts"
import { wallet } from "./fields.ts"

export class OpeningTransfer extends Schema.Opaque<OpeningTransfer>()(
  Schema.Struct({
    funder: field(Address, "The account that sent the SOL."),
    lamports: atomic("What it sent, in lamports."),
    signature: field(Schema.String, "The transaction."),
    slot: field(Schema.Int, "Slot of the block."),
    index: field(Schema.Int, "Place among the transfers of the slot that opened accounts."),
    timeMs: field(Schema.Int, "Block time, in milliseconds since the Unix epoch.")
  }).annotate({
    identifier: "OpeningTransfer",
    description:
      "The earliest recorded transfer of SOL to a wallet whose account had none before the transaction. A wallet that was emptied earlier, before the record began, looks the same. These transfers are kept as long as trades: older ones are deleted, and `coveredFromMs` moves with them."
  })
) {}

export const WalletRelation = Schema.Literals(["shared_funder", "funded"]).annotate({
  identifier: "WalletRelation",
  description: "`shared_funder`: opened by the wallet that opened this one. `funded`: opened by this wallet."
})
export type WalletRelation = typeof WalletRelation.Type

export class RelatedWallet extends Schema.Opaque<RelatedWallet>()(
  Schema.Struct({
    wallet: field(Address, "The related wallet: base58 of 32 bytes."),
    relation: WalletRelation,
    evidence: OpeningTransfer
  }).annotate({ identifier: "RelatedWallet", description: "A wallet with the transfer that relates it." })
) {}

export class RelatingFunder extends Schema.Opaque<RelatingFunder>()(
  Schema.Struct({
    wallet,
    opened: field(
      Schema.Int,
      "Wallets that it opened, as far as recorded, this one included. At most 1,000 are counted."
    ),
    hasMore: field(Schema.Boolean, "True when it opened more than are counted."),
    isHub: field(
      Schema.Boolean,
      "True when `hasMore` is: an exchange, a bridge or another service. Wallets that share it are not listed, because that relates nobody."
    )
  }).annotate({ identifier: "RelatingFunder", description: "The wallet that opened the related wallets." })
) {}
