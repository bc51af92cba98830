/** Balances and deposit addresses of an account, as a funding service reports them. Nothing is derived here. */
import { Schema, SchemaTransformation } from "effect"
import { isAddress } from "../../domain/Address.ts"
import { field } from "../../domain/field.ts"

/** Milliseconds since the Unix epoch, within the exact integers. */
export const AsOf = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

// Ids are compared character by character, so only unambiguous characters are allowed.
const idOf = (longest: number) =>
  Schema.String.check(Schema.isPattern(/^[!-~]+$/u), Schema.isMaxLength(longest)).annotate({
    description: `1 to ${longest} printable ASCII characters.`
  })

const WalletId = idOf(128)
const NetworkId = idOf(128)
const AssetId = idOf(256)

/** Text that people read or retype: not empty, and without invisible characters. */
const textOf = (longest: number) =>
  Schema.String.check(Schema.isPattern(/^[^\p{C}]+$/u), Schema.isMaxLength(longest)).annotate({
    description: `1 to ${longest} visible characters.`
  })

/** A whole number of any asset's smallest unit: at most 128 digits. */
export const WideAtomic = Schema.String.check(Schema.isPattern(/^(?:0|[1-9][0-9]*)$/u), Schema.isMaxLength(128))
  .annotate({ identifier: "WideAtomic", description: "A whole number of an asset's smallest unit, 1 to 128 digits." })
  .pipe(Schema.decodeTo(Schema.BigInt, SchemaTransformation.bigintFromString))

/** Exact dollars: no exponent, no sign, no trailing zeros, at most 30 digits after the point. */
export const Usd = Schema.String.check(
  Schema.isPattern(/^(?:0|[1-9][0-9]*)(?:\.[0-9]{0,29}[1-9])?$/u),
  Schema.isMaxLength(160)
).annotate({ identifier: "Usd", description: "Dollars as an exact decimal." })

/** Address family of a network, which decides the format of addresses and keys. */
export const WalletFamily = Schema.Literals(["solana", "evm"]).annotate({
  identifier: "WalletFamily",
  description: "Address family of a network."
})
export type WalletFamily = typeof WalletFamily.Type

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/u
const ZERO_ADDRESSES = new Set(["11111111111111111111111111111111", `0x${"0".repeat(40)}`])

/** True for a well-formed address of the family: base58 of 32 bytes, or 0x and 40 hex digits. */
export const isAddressOf = (family: WalletFamily, text: string): boolean =>
  family === "solana" ? isAddress(text) : EVM_ADDRESS.test(text)

/** True for equal addresses; hex digits compare without case. */
export const isSameAddress = (family: WalletFamily, a: string, b: string): boolean =>
  family === "solana" ? a === b : a.toLowerCase() === b.toLowerCase()

/** True for the all-zero address, where deposits are lost. */
export const isZeroAddress = (address: string): boolean => ZERO_ADDRESSES.has(address)

const walletFields = { walletId: WalletId, family: WalletFamily, address: textOf(64) }

export class AccountWallet extends Schema.Opaque<AccountWallet>()(
  Schema.Struct({
    ...walletFields,
    label: field(Schema.NullOr(textOf(128)), "Display name; null without one."),
    isPrimary: field(Schema.Boolean, "True for the primary wallet of its address family."),
    verified: field(Schema.Boolean, "Only a verified wallet can be funded."),
    createdAtMs: field(AsOf, "Time of creation, in milliseconds since the Unix epoch.")
  }).annotate({ identifier: "AccountWallet", description: "A wallet of the account's registry." })
) {}

export class FundingNetwork extends Schema.Opaque<FundingNetwork>()(
  Schema.Struct({
    id: NetworkId,
    name: textOf(128),
    family: WalletFamily,
    memoRequired: field(Schema.Boolean, "True when a deposit without the memo is lost.")
  }).annotate({
    identifier: "FundingNetwork",
    description: "A network that accepts deposits."
  })
) {}

const assetFields = {
  id: AssetId,
  network: NetworkId,
  address: field(textOf(64), "The mint or contract of the asset; for a native asset, its placeholder on the network."),
  symbol: textOf(64),
  decimals: field(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36 })),
    "Digits after the point of one whole unit; null when unknown."
  ),
  native: field(Schema.Boolean, "True for the native asset of the network.")
}

export class FundingAsset extends Schema.Opaque<FundingAsset>()(
  Schema.Struct(assetFields).annotate({ identifier: "FundingAsset", description: "An asset on one network." })
) {}

const minimumAtomic = Schema.NullOr(WideAtomic).annotate({
  description: "The smallest deposit that is credited. Null means unknown, not unlimited."
})

export class CatalogAsset extends Schema.Opaque<CatalogAsset>()(
  Schema.Struct({ ...assetFields, minimumAtomic }).annotate({
    identifier: "CatalogAsset",
    description: "An asset on one network, and the smallest deposit of it."
  })
) {}

export class CatalogEntry extends Schema.Opaque<CatalogEntry>()(
  Schema.Struct({
    network: FundingNetwork,
    assets: field(Schema.Array(CatalogAsset), "Assets of the network.")
  }).annotate({
    identifier: "FundingCatalogEntry",
    description: "A network and the assets that can be deposited there."
  })
) {}

/** Balance of one asset in one wallet. Null with a `reason` when unknown. */
export class AccountBalance extends Schema.Opaque<AccountBalance>()(
  Schema.Struct({
    walletId: WalletId,
    network: FundingNetwork,
    asset: CatalogAsset,
    balance: field(
      Schema.NullOr(WideAtomic),
      "Balance in the smallest unit of the asset; null when it could not be read."
    ),
    valueUsd: field(Schema.NullOr(Usd), "Value of the balance in US dollars; null without a balance or a price."),
    priceUsd: field(Schema.NullOr(Usd), "Price of one whole token, in USD."),
    priceAsOf: field(Schema.NullOr(AsOf), "When the price was observed."),
    asOf: field(Schema.NullOr(AsOf), "When the balance was read."),
    reason: field(Schema.NullOr(textOf(128)), "Why a value is null; null when none is.")
  }).annotate({ identifier: "AccountBalance", description: "What one wallet holds of one asset." })
) {}

/** A chain that could not be read. Its balances are missing, not zero. */
export class UnreadChain extends Schema.Opaque<UnreadChain>()(
  Schema.Struct({ chain: NetworkId, reason: textOf(128) }).annotate({
    identifier: "UnreadChain",
    description: "A chain that could not be read. Its balances are missing, not zero."
  })
) {}

/**
 * Deposit address of one asset on one network for one wallet. It is complete: no memo or tag is needed beside its
 * fields.
 */
export class AccountDepositAddress extends Schema.Opaque<AccountDepositAddress>()(
  Schema.Struct({
    ownedWallet: field(Schema.Struct(walletFields), "The account's wallet that receives the deposit."),
    network: FundingNetwork,
    asset: FundingAsset,
    address: textOf(64),
    qrPayload: textOf(2048),
    memoRequired: field(Schema.Boolean, "True when a deposit without the memo is lost."),
    memo: field(
      Schema.NullOr(textOf(256)),
      "Memo that a deposit must carry, 1 to 256 visible characters; null when it needs none."
    ),
    minimumAtomic,
    mismatchWarning: field(
      Schema.String.check(Schema.isMaxLength(2048)),
      "What happens to a deposit of another asset or on another network."
    ),
    asOf: field(AsOf, "Time of the observation, in milliseconds since the Unix epoch.")
  }).annotate({
    identifier: "AccountDepositAddress",
    description: "Where to send one asset on one network so that it reaches one wallet."
  })
) {}
