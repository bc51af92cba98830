/** Raydium AMM v4: instructions by one byte; a log line of base64 for every swap. Layout: raydium-amm, program/src/{instruction,log}.rs. */
import { raydiumAmmV4 } from "./ammV4.ts"
import { readU64 } from "../math/bytes.ts"
import { type HopLayout, hopsAt, type SwapDecoder } from "../SwapDecoder.ts"

const SWAP_BASE_IN = 9
const SWAP_BASE_OUT = 11
const SWAP_BASE_IN_V2 = 16
const SWAP_BASE_OUT_V2 = 17

/** The account of target orders may be left out of the first two instructions, which moves the vaults up by one. */
const withTargetOrders: HopLayout = { pool: 1, vaultA: 5, vaultB: 6 }
const withoutTargetOrders: HopLayout = { pool: 1, vaultA: 4, vaultB: 5 }
const withoutMarket: HopLayout = { pool: 1, vaultA: 3, vaultB: 4 }
const ACCOUNTS_WITHOUT_TARGET_ORDERS = 17

const layoutOf = (tag: number | undefined, accounts: number): HopLayout | null => {
  switch (tag) {
    case SWAP_BASE_IN:
    case SWAP_BASE_OUT:
      return accounts === ACCOUNTS_WITHOUT_TARGET_ORDERS ? withoutTargetOrders : withTargetOrders
    case SWAP_BASE_IN_V2:
    case SWAP_BASE_OUT_V2:
      return withoutMarket
    default:
      return null
  }
}

const LOG_SWAP_BASE_IN = 3
const LOG_SWAP_BASE_OUT = 4
const LOG_LENGTH = 57

/** Swaps of Raydium's AMM v4. */
export const raydiumAmmV4Swaps: SwapDecoder = {
  dex: raydiumAmmV4.dex,
  programId: raydiumAmmV4.programId,
  hops: (data, accounts) => {
    const layout = layoutOf(data[0], accounts.length)
    return layout === null ? [] : hopsAt(accounts, [layout])
  },
  logged: (payload) => {
    if (payload.length !== LOG_LENGTH) {
      return null
    }
    switch (payload[0]) {
      case LOG_SWAP_BASE_IN:
        return { amountIn: readU64(payload, 1), amountOut: readU64(payload, 49), traderLamports: null }
      case LOG_SWAP_BASE_OUT:
        return { amountIn: readU64(payload, 49), amountOut: readU64(payload, 9), traderLamports: null }
      default:
        return null
    }
  }
}
