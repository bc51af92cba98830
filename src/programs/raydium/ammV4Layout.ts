/** Accounts of Raydium AMM v4: raydium-io/raydium-amm, program/src/state.rs at 27f461d. Offsets count from the start of the account. */
import { Address } from "../../domain/Address.ts"

/** Raydium's first program: constant product over the two vaults. */
export const AMM_V4_PROGRAM: Address = Address.make("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8")

/** The owner of every pool's vaults. */
export const AMM_V4_AUTHORITY: Address = Address.make("5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1")

/** Bytes of a pool account. It has no discriminator. */
export const AMM_V4_SIZE = 752

/** Fields of the pool account. Coin is token A and pc is token B. */
export const ammV4Offsets = {
  status: 0,
  nonce: 8,
  orderNumber: 16,
  depth: 24,
  minSeparateNumerator: 128,
  minSeparateDenominator: 136,
  tradeFeeNumerator: 144,
  tradeFeeDenominator: 152,
  pnlNumerator: 160,
  pnlDenominator: 168,
  swapFeeNumerator: 176,
  swapFeeDenominator: 184,
  coinPnl: 192,
  pcPnl: 200,
  poolOpenTime: 224,
  coinVault: 336,
  pcVault: 368,
  coinMint: 400,
  pcMint: 432,
  lpMint: 464,
  openOrders: 496,
  market: 528,
  marketProgram: 560,
  targetOrders: 592,
  /** LP tokens issued and not redeemed. */
  lpIssued: 720
} as const

/**
 * Total swapped amounts by direction, in units of the incoming token, the outgoing token, and the token of the fee.
 */
export const ammV4SwapTotals = {
  coinToPc: { in: 256, out: 272, fee: 328 },
  pcToCoin: { in: 296, out: 312, fee: 288 }
} as const

/** Values of `status`. */
export const ammV4Status = {
  initialized: 1n,
  withoutSwaps: [2n, 3n, 4n, 5n],
  withdrawOnly: 3n,
  swapOnly: 6n,
  waitingTrade: 7n
} as const
