/** Rules between the fields of an answer, and between an answer and its request. Reports the first violation. */
import {
  type AccountBalance,
  type AccountDepositAddress,
  type AccountWallet,
  type CatalogEntry,
  type FundingAsset,
  type FundingNetwork,
  isAddressOf,
  isZeroAddress,
  isSameAddress
} from "../api/schemas/Funding.ts"
import type { Balances } from "./FundingClient.ts"

/** Why an answer is rejected. */
export interface Flaw {
  readonly reason: "malformed" | "foreign"
  readonly detail: string
}

const malformed = (detail: string): Flaw => ({ reason: "malformed", detail })
const foreign = (detail: string): Flaw => ({ reason: "foreign", detail })

/** The flaw of the first rule whose condition does not hold; null when all hold. */
const firstBroken = (rules: ReadonlyArray<readonly [boolean, Flaw]>): Flaw | null =>
  rules.find(([holds]) => !holds)?.[1] ?? null

const firstFlaw = <A>(items: ReadonlyArray<A>, flawOf: (item: A) => Flaw | null): Flaw | null => {
  for (const item of items) {
    const flaw = flawOf(item)
    if (flaw !== null) {
      return flaw
    }
  }
  return null
}

const areDifferent = (ids: ReadonlyArray<string>): boolean => new Set(ids).size === ids.length

/** The wallets must belong to the requested owner and differ, each with an address of its family. */
export const walletsFlaw = (
  owner: string,
  answer: { readonly owner: string; readonly wallets: ReadonlyArray<AccountWallet> }
): Flaw | null =>
  firstBroken([
    [answer.owner === owner, foreign("the registry of another owner")],
    [areDifferent(answer.wallets.map(({ walletId }) => walletId)), malformed("a wallet id twice")],
    [
      answer.wallets.every(({ address, family }) => isAddressOf(family, address)),
      malformed("a wallet address that its family does not have")
    ]
  ])

const assetFlaw = (network: FundingNetwork, asset: FundingAsset): Flaw | null =>
  firstBroken([
    [asset.network === network.id, malformed("an asset of another network")],
    [isAddressOf(network.family, asset.address), malformed("an asset address that its family does not have")]
  ])

/** The networks of a catalog must differ. So must the assets of a network, and each must name that network. */
export const catalogFlaw = ({ networks }: { readonly networks: ReadonlyArray<CatalogEntry> }): Flaw | null =>
  areDifferent(networks.map(({ network }) => network.id))
    ? firstFlaw(networks, ({ assets, network }) =>
        areDifferent(assets.map(({ id }) => id))
          ? firstFlaw(assets, (asset) => assetFlaw(network, asset))
          : malformed("an asset id twice")
      )
    : malformed("a network id twice")

/** A known figure needs a time, an unknown one a reason. A value needs both of its factors. */
const knowledgeFlaw = ({ asOf, balance, priceAsOf, priceUsd, reason, valueUsd }: AccountBalance): Flaw | null =>
  firstBroken([
    [balance === null || asOf !== null, malformed("a balance without its time")],
    [priceUsd === null || priceAsOf !== null, malformed("a price without its time")],
    [valueUsd === null || (balance !== null && priceUsd !== null), malformed("a value of something unknown")],
    [
      (balance === null || priceUsd === null || valueUsd === null) === (reason !== null),
      malformed("a reason without an unknown, or an unknown without a reason")
    ]
  ])

/** Balances must be of the requested wallets, one row each, and none on a chain that could not be read. */
export const balancesFlaw = (
  requested: { readonly owner: string; readonly wallets: ReadonlyArray<AccountWallet> },
  { balances, owner, unread }: Balances & { readonly owner: string }
): Flaw | null => {
  const families = new Map(requested.wallets.map(({ family, walletId }) => [walletId, family]))
  const silent = new Set(unread.map(({ chain }) => chain))
  const rowFlaw = (row: AccountBalance): Flaw | null =>
    firstBroken([
      [families.has(row.walletId), foreign("a balance of another wallet")],
      [families.get(row.walletId) === row.network.family, malformed("a balance on a network of another family")],
      [!silent.has(row.network.id), malformed("a balance on a chain that was not read")]
    ]) ??
    assetFlaw(row.network, row.asset) ??
    knowledgeFlaw(row)
  return (
    firstBroken([
      [owner === requested.owner, foreign("the balances of another owner")],
      [silent.size === unread.length, malformed("an unread chain twice")],
      [
        areDifferent(balances.map(({ asset, network, walletId }) => `${walletId} ${network.id} ${asset.id}`)),
        malformed("a balance twice")
      ]
    ]) ?? firstFlaw(balances, rowFlaw)
  )
}

/** What a deposit address is requested for: a verified wallet, and a network and asset of the catalog. */
export interface Deposit {
  readonly owner: string
  readonly wallet: AccountWallet
  readonly network: FundingNetwork
  readonly asset: FundingAsset
}

const isSameNetwork = (a: FundingNetwork, b: FundingNetwork): boolean =>
  a.id === b.id && a.name === b.name && a.family === b.family && a.memoRequired === b.memoRequired

const isSameAsset = (a: FundingAsset, b: FundingAsset): boolean =>
  a.id === b.id &&
  a.network === b.network &&
  a.address === b.address &&
  a.symbol === b.symbol &&
  a.decimals === b.decimals &&
  a.native === b.native

const originFlaw = (requested: Deposit, owner: string, answer: AccountDepositAddress): Flaw | null => {
  const { address, family, walletId } = answer.ownedWallet
  return firstBroken([
    [owner === requested.owner, foreign("a deposit of another owner")],
    [
      walletId === requested.wallet.walletId &&
        family === requested.wallet.family &&
        address === requested.wallet.address,
      foreign("a deposit to another wallet")
    ],
    [answer.network.id === requested.network.id, foreign("a deposit on another network")],
    [answer.asset.id === requested.asset.id, foreign("a deposit of another asset")],
    [isSameNetwork(answer.network, requested.network), malformed("a network unlike the catalog's")],
    [isSameAsset(answer.asset, requested.asset), malformed("an asset unlike the catalog's")]
  ])
}

/**
 * A deposit must match its request and name an address that can hold it. Its QR payload must contain that address. It
 * has a memo if and only if its network requires one.
 */
export const depositFlaw = (requested: Deposit, owner: string, answer: AccountDepositAddress): Flaw | null => {
  const { family, memoRequired } = requested.network
  const scanned = family === "evm" ? answer.qrPayload.toLowerCase() : answer.qrPayload
  const shown = family === "evm" ? answer.address.toLowerCase() : answer.address
  return (
    originFlaw(requested, owner, answer) ??
    firstBroken([
      [isAddressOf(family, answer.address), malformed("a deposit address that its family does not have")],
      [!isZeroAddress(answer.address), malformed("the deposit address is the zero address")],
      [
        !isSameAddress(family, answer.address, answer.asset.address),
        malformed("a deposit address that is the asset's own")
      ],
      [scanned.includes(shown), malformed("a QR payload of another address")],
      [answer.memoRequired === memoRequired, malformed("a memo rule unlike the network's")],
      [(answer.memo !== null) === memoRequired, malformed("a memo that is missing, or that nothing asks for")]
    ])
  )
}
