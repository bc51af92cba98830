/** Rules between the fields of an answer, and between an answer and its request. The first violation is reported. */
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
} from "../domain/Funding.ts"
import type { Balances } from "./FundingClient.ts"

/** The reason for rejecting an answer. */
export interface Flaw {
  readonly reason: "malformed" | "foreign"
  readonly detail: string
}

const malformed = (detail: string): Flaw => ({ reason: "malformed", detail })
const foreign = (detail: string): Flaw => ({ reason: "foreign", detail })

/** The first violated rule. A rule is a condition and the flaw of its violation. */
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

/** A registry holds different wallets, each with an address of its family, and is that of the owner who was asked for. */
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

/** Networks of a catalog differ, and so do the assets of one network, which are there and nowhere else. */
export const catalogFlaw = ({ networks }: { readonly networks: ReadonlyArray<CatalogEntry> }): Flaw | null =>
  areDifferent(networks.map(({ network }) => network.id))
    ? firstFlaw(networks, ({ assets, network }) =>
        areDifferent(assets.map(({ id }) => id))
          ? firstFlaw(assets, (asset) => assetFlaw(network, asset))
          : malformed("an asset id twice")
      )
    : malformed("a network id twice")

/** Known figures have a time, and unknown ones have a reason. A value needs both of its factors. */
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

/** Balances are of the wallets asked for, one row each, and none is on a chain that could not be read. */
export const balancesFlaw = (
  asked: { readonly owner: string; readonly wallets: ReadonlyArray<AccountWallet> },
  { balances, owner, unread }: Balances & { readonly owner: string }
): Flaw | null => {
  const families = new Map(asked.wallets.map(({ family, walletId }) => [walletId, family]))
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
      [owner === asked.owner, foreign("the balances of another owner")],
      [silent.size === unread.length, malformed("an unread chain twice")],
      [
        areDifferent(balances.map(({ asset, network, walletId }) => `${walletId} ${network.id} ${asset.id}`)),
        malformed("a balance twice")
      ]
    ]) ?? firstFlaw(balances, rowFlaw)
  )
}

/** The request for a deposit address: a verified wallet, and network and asset of the catalog. */
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

const originFlaw = (asked: Deposit, owner: string, answer: AccountDepositAddress): Flaw | null => {
  const { address, family, walletId } = answer.ownedWallet
  return firstBroken([
    [owner === asked.owner, foreign("a deposit of another owner")],
    [
      walletId === asked.wallet.walletId && family === asked.wallet.family && address === asked.wallet.address,
      foreign("a deposit to another wallet")
    ],
    [answer.network.id === asked.network.id, foreign("a deposit on another network")],
    [answer.asset.id === asked.asset.id, foreign("a deposit of another asset")],
    [isSameNetwork(answer.network, asked.network), malformed("a network unlike the catalog's")],
    [isSameAsset(answer.asset, asked.asset), malformed("an asset unlike the catalog's")]
  ])
}

/**
 * A deposit matches its request, names an address that can hold it, has a QR payload with that address, and a memo if and
 * only if its network requires one.
 */
export const depositFlaw = (asked: Deposit, owner: string, answer: AccountDepositAddress): Flaw | null => {
  const { family, memoRequired } = asked.network
  const scanned = family === "evm" ? answer.qrPayload.toLowerCase() : answer.qrPayload
  const shown = family === "evm" ? answer.address.toLowerCase() : answer.address
  return (
    originFlaw(asked, owner, answer) ??
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
