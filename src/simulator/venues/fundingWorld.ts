/** Networks, assets, wallets and holdings of the simulated funding service. */
import { SOL, USDC } from "../../domain/Address.ts"
import { fromAtomic, tenTo } from "../../domain/decimal.ts"
import { inventBytes, inventWallet } from "../chain/addresses.ts"

/** The account of the sandbox's first keys. */
export const WELCOME = "welcome"
/** Another account. The first account must never see its wallets. */
export const NEIGHBOUR = "neighbour"

export interface SimNetwork {
  readonly id: string
  readonly name: string
  readonly family: "solana" | "evm"
  readonly memoRequired: boolean
}

/**
 * An asset of the catalogue. `minimumAtomic` is the smallest deposit in atomic units; null when there is no minimum.
 */
export interface SimAsset {
  readonly id: string
  readonly network: string
  readonly address: string
  readonly symbol: string
  readonly decimals: number
  readonly native: boolean
  readonly minimumAtomic: string | null
}

export interface SimOwned {
  readonly walletId: string
  readonly family: "solana" | "evm"
  readonly address: string
  readonly label: string | null
  readonly isPrimary: boolean
  readonly verified: boolean
  readonly createdAtMs: number
}

/** One network with its assets. */
export interface SimEntry {
  readonly network: SimNetwork
  readonly assets: ReadonlyArray<SimAsset>
}

const NATIVE_EVM = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"

type Coin = readonly [symbol: string, address: string, decimals: number, minimumAtomic: string | null]

const entry = (network: SimNetwork, ...coins: ReadonlyArray<Coin>): SimEntry => ({
  network,
  assets: coins.map(([symbol, address, decimals, minimumAtomic]) => {
    const native = address === SOL || address === NATIVE_EVM
    const id = `${network.id}/${native ? "native" : address}`
    return { id, network: network.id, address, symbol, decimals, native, minimumAtomic }
  })
})

const solana = { family: "solana" as const, memoRequired: false }
const evm = { family: "evm" as const, memoRequired: false }

/**
 * Networks and assets for deposits. `solana-custody` has one address for all owners and uses a memo to tell them
 * apart.
 */
export const catalog: ReadonlyArray<SimEntry> = [
  entry({ id: "solana-mainnet", name: "Solana", ...solana }, ["SOL", SOL, 9, "1000000"], ["USDC", USDC, 6, null]),
  entry(
    { id: "solana-custody", name: "Solana, shared custody", ...solana, memoRequired: true },
    ["SOL", SOL, 9, "10000000"],
    ["USDC", USDC, 6, "5000000"]
  ),
  entry(
    { id: "ethereum-mainnet", name: "Ethereum", ...evm },
    ["ETH", NATIVE_EVM, 18, "1000000000000000"],
    ["USDC", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", 6, "5000000"],
    ["GRAIN", "0x6772616960000000000000000000000000000018", 24, "0"]
  ),
  entry(
    { id: "base-mainnet", name: "Base", ...evm },
    ["ETH", NATIVE_EVM, 18, "100000000000000"],
    ["USDC", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 6, "1000000"]
  ),
  entry({ id: "arbitrum-one", name: "Arbitrum One", ...evm }, ["ETH", NATIVE_EVM, 18, null])
]

const CHAIN_IDS: Readonly<Record<string, number>> = {
  "ethereum-mainnet": 1,
  "base-mainnet": 8453,
  "arbitrum-one": 42161
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

const evmAddress = (seed: string, label: string): string => `0x${hex(inventBytes(seed, label).subarray(0, 20))}`

const FIRST_DAY_MS = Date.UTC(2026, 0, 5, 9)
const DAY_MS = 86_400_000

type Trait = "primary" | "unverified" | null
type Plan = readonly [family: "solana" | "evm", label: string | null, trait: Trait]

const plans: ReadonlyArray<readonly [owner: string, wallets: ReadonlyArray<Plan>]> = [
  [
    WELCOME,
    [
      ["solana", "Main", "primary"],
      ["evm", "Trading", "primary"],
      ["solana", "Savings", null],
      ["evm", null, "unverified"]
    ]
  ],
  [
    NEIGHBOUR,
    [
      ["solana", "Main", "primary"],
      ["evm", "Main", "primary"]
    ]
  ]
]

/** The wallets of every owner, oldest first. */
export const registries = (seed: string): ReadonlyMap<string, ReadonlyArray<SimOwned>> =>
  new Map(
    plans.map(([owner, wallets]) => [
      owner,
      wallets.map(([family, label, trait], at) => {
        const name = `wallet ${at} of ${owner}`
        return {
          walletId: `w_${hex(inventBytes(seed, `id of ${name}`).subarray(0, 6))}`,
          family,
          address: family === "solana" ? inventWallet(seed, name) : evmAddress(seed, name),
          label,
          isPrimary: trait === "primary",
          verified: trait !== "unverified",
          createdAtMs: FIRST_DAY_MS + at * DAY_MS
        }
      })
    ])
  )

const PRICE_DECIMALS = 4
/** Prices in hundredths of a cent. */
const PRICES: Readonly<Record<string, bigint>> = { SOL: 1_502_500n, USDC: 10_000n, ETH: 31_505_000n }

/** Less than a hundred whole units. About one wallet in four holds nothing, which is a measured zero. */
const holdingOf = (seed: string, label: string, decimals: number): bigint => {
  const drawn = BigInt(`0x${hex(inventBytes(seed, `holding ${label}`))}`)
  return drawn % 4n === 0n ? 0n : drawn % tenTo(decimals + 2)
}

/** A wallet's balance of one asset at one time. An asset without a price has a reason instead of a value. */
export const balanceOf = (seed: string, wallet: SimOwned, network: SimNetwork, asset: SimAsset, nowMs: number) => {
  const balance = holdingOf(seed, `${wallet.walletId} ${asset.id}`, asset.decimals)
  const price = PRICES[asset.symbol]
  const isPriced = price !== undefined
  return {
    walletId: wallet.walletId,
    network,
    asset,
    balance: balance.toString(),
    valueUsd: isPriced ? fromAtomic(balance * price, asset.decimals + PRICE_DECIMALS) : null,
    priceUsd: isPriced ? fromAtomic(price, PRICE_DECIMALS) : null,
    priceAsOf: isPriced ? nowMs : null,
    asOf: nowMs,
    reason: isPriced ? null : "price_unknown"
  }
}

const qrPayload = (network: SimNetwork, asset: SimAsset, address: string, memo: string | null): string => {
  if (network.family === "solana") {
    const terms = [asset.native ? "" : `spl-token=${asset.address}`, memo === null ? "" : `memo=${memo}`]
    const query = terms.filter((term) => term !== "").join("&")
    return query === "" ? `solana:${address}` : `solana:${address}?${query}`
  }
  const chain = CHAIN_IDS[network.id] ?? 1
  return asset.native
    ? `ethereum:${address}@${chain}`
    : `ethereum:${asset.address}@${chain}/transfer?address=${address}`
}

/** The deposit address of a wallet. On networks with memos all owners share one address. */
export const depositOf = (seed: string, wallet: SimOwned, network: SimNetwork, listed: SimAsset, nowMs: number) => {
  const { minimumAtomic, ...asset } = listed
  const label = network.memoRequired ? `custody on ${network.id}` : `deposit ${wallet.walletId} ${network.id}`
  const address = network.family === "solana" ? inventWallet(seed, label) : evmAddress(seed, label)
  const number = Buffer.from(inventBytes(seed, `memo ${wallet.walletId}`)).readUInt32BE(0)
  const memo = network.memoRequired ? String(number).padStart(10, "0") : null
  const only = `Send only ${asset.symbol} on ${network.name} to this address.`
  return {
    ownedWallet: { walletId: wallet.walletId, family: wallet.family, address: wallet.address },
    network,
    asset,
    address,
    qrPayload: qrPayload(network, listed, address, memo),
    memoRequired: network.memoRequired,
    memo,
    minimumAtomic,
    mismatchWarning: memo === null ? only : `${only} A deposit without the memo cannot be credited.`,
    asOf: nowMs
  }
}
