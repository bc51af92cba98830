/**
 * Swaps of PumpSwap as instructions and events. Layout: pump-public-docs, idl/pump_amm.json and
 * docs/instructions/{PUMP_SWAP_TRADE_V2,MULTI_HOP_SWAP}.md.
 */
import { hopLayout, hopsAt, taggedHops } from "../layout/hops.ts"
import { taggedLiquidity } from "../layout/liquidityCalls.ts"
import { eventLayout } from "../layout/anchorEvents.ts"
import { BUY, BUY_EXACT_QUOTE_IN_V2, BUY_V2, encodeBuyExactIn, encodeTrade, SELL, SELL_V2 } from "./discriminators.ts"
import { pumpSwap } from "./pumpSwap.ts"
import { readU64 } from "../layout/bytes.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import type { Hop, SwapDecoder } from "../interface/SwapDecoder.ts"
import { tagAt, tagOf } from "../layout/anchor.ts"

const BUY_EXACT_QUOTE_IN = tagOf("c62e1552b4d9e870")

const untilVaults = [
  "pool",
  "user",
  "globalConfig",
  "baseMint",
  "quoteMint",
  "userBaseTokenAccount",
  "userQuoteTokenAccount",
  "poolBaseTokenAccount",
  "poolQuoteTokenAccount"
] as const

const untilCreator = [
  ...untilVaults,
  "protocolFeeRecipient",
  "protocolFeeRecipientTokenAccount",
  "baseTokenProgram",
  "quoteTokenProgram",
  "systemProgram",
  "associatedTokenProgram",
  "eventAuthority",
  "program",
  "coinCreatorVaultAta",
  "coinCreatorVaultAuthority"
] as const

/** Accounts of `buy` and `buy_exact_quote_in`, and of `sell`. */
export const pumpSwapBuyAccounts = [
  ...untilCreator,
  "globalVolumeAccumulator",
  "userVolumeAccumulator",
  "feeConfig",
  "feeProgram"
] as const
export const pumpSwapSellAccounts = [...untilCreator, "feeConfig", "feeProgram"] as const

/** Accounts of `buy_v2`, `buy_exact_quote_in_v2` and `sell_v2`. */
export const pumpSwapV2Accounts = [
  ...untilVaults,
  "baseTokenProgram",
  "quoteTokenProgram",
  "systemProgram",
  "userVolumeAccumulator",
  "feeConfig",
  "buybackFeeRecipient",
  "eventAuthority",
  "program"
] as const

/** The data of `buy_exact_quote_in_v2`. */
export const encodePumpSwapBuyV2 = (quote: bigint, minimumBase: bigint): Uint8Array =>
  encodeTrade(BUY_EXACT_QUOTE_IN_V2, quote, minimumBase)

/** The data of `buy_v2`: exact base tokens. */
export const encodePumpSwapBuyOutV2 = (base: bigint, maximumQuote: bigint): Uint8Array =>
  encodeTrade(BUY_V2, base, maximumQuote)

/** The data of `sell_v2`. */
export const encodePumpSwapSellV2 = (base: bigint, minimumQuote: bigint): Uint8Array =>
  encodeTrade(SELL_V2, base, minimumQuote)

/** The data of `buy_exact_quote_in`. */
export const encodePumpSwapBuy = (quote: bigint, minimumBase: bigint): Uint8Array =>
  encodeBuyExactIn(BUY_EXACT_QUOTE_IN, quote, minimumBase)

const hops = [hopLayout(untilCreator, "pool", "poolBaseTokenAccount", "poolQuoteTokenAccount")]
/** The program spends its boost vault in a pool and burns what the pool pays. */
const BOOST_BUY_AND_BURN = tagOf("694406af000723a2")
const boostHops = [{ pool: 0, vaultA: 5, vaultB: 6 }]

const single = taggedHops(
  [[BUY, SELL, BUY_EXACT_QUOTE_IN, BUY_V2, SELL_V2, BUY_EXACT_QUOTE_IN_V2], hops],
  [[BOOST_BUY_AND_BURN], boostHops]
)

const MULTI_HOP_SWAP = tagOf("2b644913e9f66f94")
const FIXED_ACCOUNTS = 16
const ACCOUNTS_A_HOP = 5

/** Each hop has five accounts: both mints, the pool or curve, and its two token accounts. */
const multiHops = (accounts: ReadonlyArray<Address>): ReadonlyArray<Hop> => {
  const count = Math.max(0, Math.floor((accounts.length - FIXED_ACCOUNTS) / ACCOUNTS_A_HOP))
  const starts = Array.from({ length: count }, (_, hop) => FIXED_ACCOUNTS + ACCOUNTS_A_HOP * hop)
  const hops = hopsAt(
    accounts,
    starts.map((at) => ({ pool: at + 2, vaultA: at + 3, vaultB: at + 4 }))
  )
  const [trader] = accounts
  // A curve among the hops may trade in lamports, where a pool would move wrapped SOL.
  return hops.map((hop, i) =>
    trader !== undefined && accounts[(starts[i] ?? 0) + 1] === SOL
      ? { ...hop, native: { trader, feeRecipient: null } }
      : hop
  )
}

const fields = [
  ["timestamp", "i64"],
  ["baseAmount", "u64"],
  ["limit", "u64"],
  ["userBaseReserves", "u64"],
  ["userQuoteReserves", "u64"],
  ["poolBaseReserves", "u64"],
  ["poolQuoteReserves", "u64"],
  ["poolQuoteAmount", "u64"],
  ["lpFeeBasisPoints", "u64"],
  ["lpFee", "u64"],
  ["protocolFeeBasisPoints", "u64"],
  ["protocolFee", "u64"],
  ["quoteWithoutOtherFees", "u64"],
  ["userQuoteAmount", "u64"],
  ["pool", "address"],
  ["user", "address"],
  ["userBaseTokenAccount", "address"],
  ["userQuoteTokenAccount", "address"],
  ["protocolFeeRecipient", "address"],
  ["protocolFeeRecipientTokenAccount", "address"],
  ["coinCreator", "address"],
  ["coinCreatorFeeBasisPoints", "u64"],
  ["coinCreatorFee", "u64"]
] as const

/** Event `SellEvent`. `quoteWithoutOtherFees` is before the fees of protocol and creator. */
export const pumpSwapSellEvent = eventLayout("3e2f370aa503dc2a", fields)

/**
 * Event `BuyEvent`, up to the instruction's name. `quoteWithoutOtherFees` includes only the liquidity providers' fee.
 */
export const pumpSwapBuyEvent = eventLayout("67f4521f2cf57777", [
  ...fields,
  ["trackVolume", "bool"],
  ["totalUnclaimedTokens", "u64"],
  ["totalClaimedTokens", "u64"],
  ["currentSolVolume", "u64"],
  ["lastUpdateTimestamp", "i64"],
  ["minBaseAmountOut", "u64"]
])

const at = {
  base: pumpSwapSellEvent.offsetOf("baseAmount"),
  quote: pumpSwapSellEvent.offsetOf("quoteWithoutOtherFees")
}
const EVENT_LENGTH = pumpSwapSellEvent.endOf("userQuoteAmount")

/** Instructions of providers: `deposit`, `withdraw` and `create_pool`. */
const liquidity = taggedLiquidity(
  [["f223c68952e1f2b6", "b712469c946da122"], { pool: 0, vaults: [9, 10] }],
  [["e992d18ecf6840bc"], { pool: 0, vaults: [9, 10], opens: true }]
)

/**
 * Decodes swaps on PumpSwap. Depending on the instruction, the fees of protocol and creator bypass the pool or wait
 * in it, so only the event states the price.
 */
export const pumpSwapSwaps: SwapDecoder = {
  dex: pumpSwap.dex,
  programId: pumpSwap.programId,
  hops: (data, accounts) => (tagAt(data, 0) === MULTI_HOP_SWAP ? multiHops(accounts) : single(data, accounts)),
  liquidity,
  selfCall: (event, body) => {
    if (body.length < EVENT_LENGTH) {
      return null
    }
    const base = readU64(body, at.base)
    const quote = readU64(body, at.quote)
    if (event === pumpSwapBuyEvent.tag) {
      return { amountIn: quote, amountOut: base, traderLamports: null }
    }
    return event === pumpSwapSellEvent.tag ? { amountIn: base, amountOut: quote, traderLamports: null } : null
  },
  reportDecides: true
}
