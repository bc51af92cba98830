/** Balances and deposit addresses of an account, as a funding service reports them. Nothing is derived here. */
import { Schema, SchemaTransformation } from "effect"
import { isAddress } from "./Address.ts"

/** Milliseconds since the Unix epoch, as far as an integer is exact. */
export const AsOf = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

// Ids are compared letter by letter: only unambiguous letters are allowed.
const idOf = (longest: number) =>
  Schema.String.check(Schema.isPattern(/^[!-~]+$/u), Schema.isMaxLength(longest)).annotate({
    description: `1 to ${longest} printable ASCII characters.`
  })

const WalletId = idOf(128)
const NetworkId = idOf(128)
const AssetId = idOf(256)

/** Text that people read or retype: not empty, and nothing in it that cannot be seen. */
const textOf = (longest: number) =>
  Schema.String.check(Schema.isPattern(/^[^\p{C}]+$/u), Schema.isMaxLength(longest)).annotate({
    description: `1 to ${longest} visible characters.`
  })

/** A whole number of an asset's smallest unit, of any asset: at most 128 digits. */
export const WideAtomic = Schema.String.check(Schema.isPattern(/^(?:0|[1-9][0-9]*)$/u), Schema.isMaxLength(128))
  .annotate({ identifier: "WideAtomic", description: "A whole number of an asset's smallest unit, 1 to 128 digits." })
  .pipe(Schema.decodeTo(Schema.BigInt, SchemaTransformation.bigintFromString))

/** Dollars, exact: no exponent, no sign, no trailing zeros, at most 30 digits after the point. */
export const Usd = Schema.String.check(
  Schema.isPattern(/^(?:0|[1-9][0-9]*)(?:\.[0-9]{0,29}[1-9])?$/u),
  Schema.isMaxLength(160)
).annotate({ identifier: "Usd", description: "Dollars as an exact decimal." })

/** Address family of a network: format of addresses and keys. */
export const WalletFamily = Schema.Literals(["solana", "evm"]).annotate({
  identifier: "WalletFamily",
  description: "How a network writes addresses."
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

/** True for the address of all zeros, where deposits are lost. */
export const isZeroAddress = (address: string): boolean => ZERO_ADDRESSES.has(address)

const walletFields = { walletId: WalletId, family: WalletFamily, address: textOf(64) }

/** A wallet of the account's registry. */
export class AccountWallet extends Schema.Opaque<AccountWallet>()(
  Schema.Struct({
    ...walletFields,
    label: Schema.NullOr(textOf(128)),
    isPrimary: Schema.Boolean,
    verified: Schema.Boolean.annotate({ description: "Only a verified wallet can be funded." }),
    createdAtMs: AsOf
  }).annotate({ identifier: "AccountWallet", description: "A wallet of the account's registry." })
) {}

/** A network that money can arrive on. */
export class FundingNetwork extends Schema.Opaque<FundingNetwork>()(
  Schema.Struct({ id: NetworkId, name: textOf(128), family: WalletFamily, memoRequired: Schema.Boolean }).annotate({
    identifier: "FundingNetwork",
    description: "A network that money can arrive on."
  })
) {}

const assetFields = {
  id: AssetId,
  network: NetworkId,
  address: textOf(64).annotate({ description: "Its mint or contract; for a native asset what stands for it there." }),
  symbol: textOf(64),
  decimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36 })),
  native: Schema.Boolean
}

/** An asset on one network. */
export class FundingAsset extends Schema.Opaque<FundingAsset>()(
  Schema.Struct(assetFields).annotate({ identifier: "FundingAsset", description: "An asset on one network." })
) {}

const minimumAtomic = Schema.NullOr(WideAtomic).annotate({
  description: "The smallest deposit that is credited. Null means that it is unknown, not that there is none."
})

/** An asset on one network, and the smallest deposit of it. */
export class CatalogAsset extends Schema.Opaque<CatalogAsset>()(
  Schema.Struct({ ...assetFields, minimumAtomic }).annotate({
    identifier: "CatalogAsset",
    description: "An asset on one network, and the smallest deposit of it."
  })
) {}

/** A network with what can be deposited there. */
export class CatalogEntry extends Schema.Opaque<CatalogEntry>()(
  Schema.Struct({ network: FundingNetwork, assets: Schema.Array(CatalogAsset) }).annotate({
    identifier: "FundingCatalogEntry",
    description: "A network with what can be deposited there."
  })
) {}

/** Balance of one asset in one wallet. Null with a `reason` when unknown. */
export class AccountBalance extends Schema.Opaque<AccountBalance>()(
  Schema.Struct({
    walletId: WalletId,
    network: FundingNetwork,
    asset: CatalogAsset,
    balance: Schema.NullOr(WideAtomic),
    valueUsd: Schema.NullOr(Usd),
    priceUsd: Schema.NullOr(Usd),
    priceAsOf: Schema.NullOr(AsOf).annotate({ description: "When the price was seen." }),
    asOf: Schema.NullOr(AsOf).annotate({ description: "When the balance was read." }),
    reason: Schema.NullOr(textOf(128)).annotate({ description: "Why something is null; null when nothing is." })
  }).annotate({ identifier: "AccountBalance", description: "What one wallet holds of one asset." })
) {}

/** A chain that could not be read: what is held there is absent, not zero. */
export class UnreadChain extends Schema.Opaque<UnreadChain>()(
  Schema.Struct({ chain: NetworkId, reason: textOf(128) }).annotate({
    identifier: "UnreadChain",
    description: "A chain that could not be read: what is held there is absent, not zero."
  })
) {}

/** Deposit address of one asset on one network for one wallet. Complete: no memo or tag beside its fields. */
export class AccountDepositAddress extends Schema.Opaque<AccountDepositAddress>()(
  Schema.Struct({
    ownedWallet: Schema.Struct(walletFields),
    network: FundingNetwork,
    asset: FundingAsset,
    address: textOf(64),
    qrPayload: textOf(2048),
    memoRequired: Schema.Boolean,
    memo: Schema.NullOr(textOf(256)),
    minimumAtomic,
    mismatchWarning: Schema.String.check(Schema.isMaxLength(2048)),
    asOf: AsOf
  }).annotate({
    identifier: "AccountDepositAddress",
    description: "Where to send one asset on one network so that it reaches one wallet."
  })
) {}
