/** Instructions and event of Raydium CLMM: raydium-clmm, programs/amm/src/{instructions/swap,instructions/swap_v2,states/pool}.rs. */
import { eventLayout, inLog } from "../layout/anchorEvents.ts"
import type { Address } from "../../domain/Address.ts"
import { hopLayout, hopsAt, taggedHops } from "../layout/hops.ts"
import { taggedLiquidity } from "../layout/liquidityCalls.ts"
import { ANCHOR_SWAP, ANCHOR_SWAP_EVENT, ANCHOR_SWAP_V2, tagAt, tagOf } from "../layout/anchor.ts"
import { readU64 } from "../layout/bytes.ts"
import { bool, hex, pack, u128, u64 } from "../layout/pack.ts"
import { type Hop, type SwapDecoder, type SwapReport } from "../interface/SwapDecoder.ts"
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

/** Data of an exact-output `swap_v2` without a price limit. */
export const encodeClmmSwapOut = (swap: { readonly amountOut: bigint; readonly maximumIn: bigint }): Uint8Array =>
  pack(hex(ANCHOR_SWAP_V2), u64(swap.amountOut), u64(swap.maximumIn), u128(0n), bool(false))

/**
 * Event of a swap. Both amounts are without transfer fees, which have their own fields. Price, liquidity and tick are
 * from after the swap.
 */
export const clmmSwapEvent = eventLayout(ANCHOR_SWAP_EVENT, [
  ["pool", "address"],
  ["sender", "address"],
  ["tokenAccount0", "address"],
  ["tokenAccount1", "address"],
  ["amount0", "u64"],
  ["transferFee0", "u64"],
  ["amount1", "u64"],
  ["transferFee1", "u64"],
  ["zeroForOne", "bool"],
  ["sqrtPrice", "u128"],
  ["liquidity", "u128"],
  ["tick", "i32"]
])

/**
 * Returns a possible hop at every account. Only the sizes of the accounts would tell tick arrays from the next hop,
 * and sizes are unknown here.
 */
const routerHops = (accounts: ReadonlyArray<Address>): ReadonlyArray<Hop> => {
  const count = Math.max(0, accounts.length - ROUTER_FIXED_ACCOUNTS - routerHopAccounts.length + 1)
  const places = Array.from({ length: count }, (_, i) => ({
    pool: ROUTER_FIXED_ACCOUNTS + i + routerHop.pool,
    vaultA: ROUTER_FIXED_ACCOUNTS + i + routerHop.vaultA,
    vaultB: ROUTER_FIXED_ACCOUNTS + i + routerHop.vaultB
  }))
  return hopsAt(accounts, places).map((hop) => ({ ...hop, perhaps: true }))
}

const single = taggedHops([
  [tagOf(ANCHOR_SWAP), tagOf(ANCHOR_SWAP_V2)],
  [hopLayout(clmmSwapAccounts, "poolState", "inputVault", "outputVault")]
])

const { endOf, offsetOf } = clmmSwapEvent
const at = {
  amount0: offsetOf("amount0"),
  transferFee0: offsetOf("transferFee0"),
  amount1: offsetOf("amount1"),
  transferFee1: offsetOf("transferFee1"),
  zeroForOne: offsetOf("zeroForOne")
}
const SHORTEST_EVENT = endOf("zeroForOne")

const reportOf = (event: bigint, body: Uint8Array): SwapReport | null => {
  if (event !== clmmSwapEvent.tag || body.length < SHORTEST_EVENT) {
    return null
  }
  const [amount0, amount1] = [readU64(body, at.amount0), readU64(body, at.amount1)]
  return body[at.zeroForOne] === 1
    ? { amountIn: amount0, amountOut: amount1 + readU64(body, at.transferFee1), traderLamports: null }
    : { amountIn: amount1, amountOut: amount0 + readU64(body, at.transferFee0), traderLamports: null }
}

/** Instructions of providers: open_position*.rs, increase_liquidity*.rs and decrease_liquidity*.rs. */
const liquidity = taggedLiquidity(
  [["2e9cf3760dcdfbb2", "851d59df45eeb00a"], { pool: 2, vaults: [9, 10] }],
  [["a026d06f685b2c01", "3a7fbc3e4f52c460"], { pool: 3, vaults: [5, 6], paysFees: true }],
  [["87802f4d0f98f031", "4db84ad67056f1c7"], { pool: 5, vaults: [12, 13] }],
  [["4dffae527d1dc92e"], { pool: 4, vaults: [11, 12] }]
)

/** Decodes swaps on Raydium's concentrated pools. */
export const raydiumClmmSwaps: SwapDecoder = {
  dex: raydiumClmm.dex,
  programId: raydiumClmm.programId,
  hops: (data, accounts) => (tagAt(data, 0) === routerBaseIn ? routerHops(accounts) : single(data, accounts)),
  liquidity,
  logged: inLog(reportOf)
}
