/** Raydium CLMM. Layout: raydium-clmm, programs/amm/src/{instructions/swap,instructions/swap_v2,states/pool}.rs. */
import { raydiumClmm } from "./clmm.ts"
import { readU64 } from "../math/bytes.ts"
import type { Address } from "../../domain/Address.ts"
import { type Hop, hopsAt, type SwapDecoder, tagAt, taggedHops, tagOf } from "../SwapDecoder.ts"

const swap = [{ pool: 2, vaultA: 5, vaultB: 6 }]
const SWAP_EVENT = tagOf("40c6cde8260871e2")
const EVENT_LENGTH = 8 + 161

const SWAP_ROUTER_BASE_IN = tagOf("457d73daf5baf2c4")
const ROUTER_FIXED_ACCOUNTS = 6

/**
 * A route over pools: each has its config, itself, the account it pays to, its two vaults, its output mint, its
 * observation and any number of tick arrays. Where the next one begins only the accounts' sizes tell, which are not here.
 */
const routerHops = (accounts: ReadonlyArray<Address>): ReadonlyArray<Hop> => {
  const count = Math.max(0, accounts.length - ROUTER_FIXED_ACCOUNTS - 6)
  const starts = Array.from({ length: count }, (_, i) => ROUTER_FIXED_ACCOUNTS + i)
  const places = starts.map((at) => ({ pool: at + 1, vaultA: at + 3, vaultB: at + 4 }))
  return hopsAt(accounts, places).map((hop) => ({ ...hop, perhaps: true }))
}

const single = taggedHops(
  new Map([
    [tagOf("f8c69e91e17587c8"), swap],
    [tagOf("2b04ed0b1ac91e62"), swap]
  ])
)

/** Swaps of Raydium's concentrated pools. */
export const raydiumClmmSwaps: SwapDecoder = {
  dex: raydiumClmm.dex,
  programId: raydiumClmm.programId,
  hops: (data, accounts) => (tagAt(data, 0) === SWAP_ROUTER_BASE_IN ? routerHops(accounts) : single(data, accounts)),
  logged: (payload) => {
    if (tagAt(payload, 0) !== SWAP_EVENT || payload.length < EVENT_LENGTH) {
      return null
    }
    const amount0 = readU64(payload, 136)
    const amount1 = readU64(payload, 152)
    const zeroForOne = payload[168] === 1
    return {
      amountIn: zeroForOne ? amount0 : amount1,
      amountOut: zeroForOne ? amount1 : amount0,
      traderLamports: null
    }
  }
}
