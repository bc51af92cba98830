/**
 * Instructions and swap log of Raydium AMM v4: raydium-amm, program/src/{instruction,log}.rs. The first byte
 * identifies the instruction.
 */
import { hopLayout, type HopLayout, hopsAt } from "../layout/hops.ts"
import { liquidityAt, type LiquidityLayout } from "../layout/liquidityCalls.ts"
import { readU64 } from "../layout/bytes.ts"
import { pack, u64, u8 } from "../layout/pack.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"
import { raydiumAmmV4 } from "./ammV4.ts"

const SWAP_BASE_IN = 9
const SWAP_BASE_OUT = 11
const SWAP_BASE_IN_V2 = 16
const SWAP_BASE_OUT_V2 = 17

/** Accounts of `swap_base_in` and `swap_base_out`. They include an order book. */
export const ammV4SwapAccounts = [
  "tokenProgram",
  "amm",
  "authority",
  "openOrders",
  "targetOrders",
  "coinVault",
  "pcVault",
  "marketProgram",
  "market",
  "bids",
  "asks",
  "eventQueue",
  "marketCoinVault",
  "marketPcVault",
  "marketVaultSigner",
  "userSource",
  "userDestination",
  "userOwner"
] as const

/** The same accounts without target orders, which the program also accepts. */
const accountsWithoutTargetOrders = ammV4SwapAccounts.filter((name) => name !== "targetOrders")

/** Accounts of `swap_base_in_v2` and `swap_base_out_v2`. */
export const ammV4SwapV2Accounts = [
  "tokenProgram",
  "amm",
  "authority",
  "coinVault",
  "pcVault",
  "userSource",
  "userDestination",
  "userOwner"
] as const

const withTargetOrders = hopLayout(ammV4SwapAccounts, "amm", "coinVault", "pcVault")
const withoutTargetOrders = hopLayout(accountsWithoutTargetOrders, "amm", "coinVault", "pcVault")
const withoutMarket = hopLayout(ammV4SwapV2Accounts, "amm", "coinVault", "pcVault")

const layoutOf = (tag: number | undefined, accounts: number): HopLayout | null => {
  switch (tag) {
    case SWAP_BASE_IN:
    case SWAP_BASE_OUT:
      return accounts === accountsWithoutTargetOrders.length ? withoutTargetOrders : withTargetOrders
    case SWAP_BASE_IN_V2:
    case SWAP_BASE_OUT_V2:
      return withoutMarket
    default:
      return null
  }
}

/** Data of an exact-input swap. */
export const encodeAmmV4Swap = (swap: {
  readonly withMarket: boolean
  readonly amountIn: bigint
  readonly minimumOut: bigint
}): Uint8Array => pack(u8(swap.withMarket ? SWAP_BASE_IN : SWAP_BASE_IN_V2), u64(swap.amountIn), u64(swap.minimumOut))

const LOG_SWAP_BASE_IN = 3
const LOG_SWAP_BASE_OUT = 4
const LOG_SIZE = 57
/**
 * Offsets of the amounts in the log. An exact-input swap logs input, minimum, output; an exact-output swap logs
 * maximum, output, input.
 */
const logOffsets = { first: 1, second: 9, last: 49 } as const
const PC_TO_COIN = 1n
const COIN_TO_PC = 2n

/** The log line `ray_log` of an exact-input swap. Balances are from before the swap. */
export const encodeAmmV4SwapLog = (
  coinToPc: boolean,
  log: {
    readonly amountIn: bigint
    readonly minimumOut: bigint
    readonly userSource: bigint
    readonly poolCoin: bigint
    readonly poolPc: bigint
    readonly amountOut: bigint
  }
): string => {
  const direction = coinToPc ? COIN_TO_PC : PC_TO_COIN
  const { amountIn, amountOut, minimumOut, poolCoin, poolPc, userSource } = log
  const amounts = [amountIn, minimumOut, direction, userSource, poolCoin, poolPc, amountOut]
  const bytes = pack(u8(LOG_SWAP_BASE_IN), ...amounts.map(u64))
  return `ray_log: ${Buffer.from(bytes).toString("base64")}`
}

/** Instructions of providers, by their first byte: `initialize2`, `deposit` and `withdraw`. */
const liquidityLayouts: ReadonlyMap<number | undefined, LiquidityLayout> = new Map([
  [1, { pool: 4, vaults: [10, 11], opens: true }],
  [3, { pool: 1, vaults: [6, 7] }],
  [4, { pool: 1, vaults: [6, 7] }]
])

/** Decodes swaps on Raydium's AMM v4. */
export const raydiumAmmV4Swaps: SwapDecoder = {
  dex: raydiumAmmV4.dex,
  programId: raydiumAmmV4.programId,
  tagBytes: 1,
  hops: (data, accounts) => {
    const layout = layoutOf(data[0], accounts.length)
    return layout === null ? [] : hopsAt(accounts, [layout])
  },
  liquidity: (data, accounts) => {
    const layout = liquidityLayouts.get(data[0])
    return layout === undefined ? null : liquidityAt(accounts, layout)
  },
  logged: (payload) => {
    if (payload.length !== LOG_SIZE) {
      return null
    }
    const { first, last, second } = logOffsets
    switch (payload[0]) {
      case LOG_SWAP_BASE_IN:
        return { amountIn: readU64(payload, first), amountOut: readU64(payload, last), traderLamports: null }
      case LOG_SWAP_BASE_OUT:
        return { amountIn: readU64(payload, last), amountOut: readU64(payload, second), traderLamports: null }
      default:
        return null
    }
  }
}
