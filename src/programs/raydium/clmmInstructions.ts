/** Instructions and event of Raydium CLMM: raydium-clmm, programs/amm/src/{instructions/swap,instructions/swap_v2,states/pool}.rs. */
import type { Address } from "../../domain/Address.ts"
import { hopLayout } from "../accountOrder.ts"
import { ANCHOR_SWAP, ANCHOR_SWAP_EVENT, ANCHOR_SWAP_V2 } from "../anchor.ts"
import { readU64 } from "../math/bytes.ts"
import { bool, hex, i32, key, pack, recordEncoder, u128, u64 } from "../math/pack.ts"
import { type Hop, hopsAt, type SwapDecoder, tagAt, taggedHops, tagOf } from "../SwapDecoder.ts"
import { raydiumClmm } from "./clmm.ts"

/** Accounts of `swap`. Tick arrays follow in the order the price meets them. */
export const clmmSwapAccounts = [
  "payer",
  "ammConfig",
  "poolState",
  "inputTokenAccount",
  "outputTokenAccount",
  "inputVault",
  "outputVault",
  "observationState",
  "tokenProgram"
] as const

/** Accounts of `swap_v2`. Tick arrays follow in the order the price meets them. */
export const clmmSwapV2Accounts = [
  ...clmmSwapAccounts,
  "tokenProgram2022",
  "memoProgram",
  "inputVaultMint",
  "outputVaultMint"
] as const

const SWAP_ROUTER_BASE_IN = "457d73daf5baf2c4"
const routerBaseIn = tagOf(SWAP_ROUTER_BASE_IN)
const ROUTER_FIXED_ACCOUNTS = 6

/** Accounts of one hop of `swap_router_base_in`. Any number of tick arrays follows. */
const routerHopAccounts = [
  "ammConfig",
  "poolState",
  "outputTokenAccount",
  "inputVault",
  "outputVault",
  "outputTokenMint",
  "observationState"
] as const
const routerHop = hopLayout(routerHopAccounts, "poolState", "inputVault", "outputVault")

/** Data of an exact-input `swap` or `swap_v2` without a price limit. */
export const encodeClmmSwap = (swap: {
  readonly second: boolean
  readonly amountIn: bigint
  readonly minimumOut: bigint
}): Uint8Array =>
  pack(hex(swap.second ? ANCHOR_SWAP_V2 : ANCHOR_SWAP), u64(swap.amountIn), u64(swap.minimumOut), u128(0n), bool(true))

/** Fields of the event that a trade is read from, and the bytes up to the price. */
const eventOffsets = { amount0: 136, transferFee0: 144, amount1: 152, transferFee1: 160, zeroForOne: 168 } as const
const EVENT_SIZE = 169

/** Event of a swap. Both amounts are net of their transfer fees, which stand beside them. Price, liquidity and tick are those after it. */
export const encodeClmmSwapEvent = recordEncoder(ANCHOR_SWAP_EVENT, {
  pool: key,
  sender: key,
  tokenAccount0: key,
  tokenAccount1: key,
  amount0: u64,
  transferFee0: u64,
  amount1: u64,
  transferFee1: u64,
  zeroForOne: bool,
  sqrtPrice: u128,
  liquidity: u128,
  tick: i32
})

/** A place for a hop at every account: only the accounts' sizes, which are not here, separate tick arrays from the next hop. */
const routerHops = (accounts: ReadonlyArray<Address>): ReadonlyArray<Hop> => {
  const count = Math.max(0, accounts.length - ROUTER_FIXED_ACCOUNTS - routerHopAccounts.length + 1)
  const places = Array.from({ length: count }, (_, i) => ({
    pool: ROUTER_FIXED_ACCOUNTS + i + routerHop.pool,
    vaultA: ROUTER_FIXED_ACCOUNTS + i + routerHop.vaultA,
    vaultB: ROUTER_FIXED_ACCOUNTS + i + routerHop.vaultB
  }))
  return hopsAt(accounts, places).map((hop) => ({ ...hop, perhaps: true }))
}

const swapHops = [hopLayout(clmmSwapAccounts, "poolState", "inputVault", "outputVault")]
const single = taggedHops(
  new Map([
    [tagOf(ANCHOR_SWAP), swapHops],
    [tagOf(ANCHOR_SWAP_V2), swapHops]
  ])
)
const SWAP_EVENT = tagOf(ANCHOR_SWAP_EVENT)

/** Swaps of Raydium's concentrated pools. */
export const raydiumClmmSwaps: SwapDecoder = {
  dex: raydiumClmm.dex,
  programId: raydiumClmm.programId,
  hops: (data, accounts) => (tagAt(data, 0) === routerBaseIn ? routerHops(accounts) : single(data, accounts)),
  logged: (payload) => {
    if (tagAt(payload, 0) !== SWAP_EVENT || payload.length < EVENT_SIZE) {
      return null
    }
    const at = (name: keyof typeof eventOffsets) => readU64(payload, eventOffsets[name])
    return payload[eventOffsets.zeroForOne] === 1
      ? { amountIn: at("amount0"), amountOut: at("amount1") + at("transferFee1"), traderLamports: null }
      : { amountIn: at("amount1"), amountOut: at("amount0") + at("transferFee0"), traderLamports: null }
  }
}
