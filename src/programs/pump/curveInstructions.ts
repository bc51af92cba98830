/**
 * Trades on Pump.fun's bonding curve as instructions and events. Layout: pump-public-docs, idl/pump.json and
 * docs/instructions.
 */
import { eventLayout } from "../layout/anchorEvents.ts"
import { pumpCurve } from "./curve.ts"
import { BUY, BUY_EXACT_QUOTE_IN_V2, BUY_V2, encodeBuyExactIn, encodeTrade, SELL, SELL_V2 } from "./discriminators.ts"
import { readU32, readU64 } from "../layout/bytes.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import type { Hop, SwapDecoder, SwapReport } from "../interface/SwapDecoder.ts"
import { tagAt, tagOf } from "../layout/anchor.ts"

const BUY_EXACT_SOL_IN = tagOf("38fc74089edfcd5f")
const BUY_V3 = tagOf("07051dc4f5176550")
const SELL_V3 = tagOf("1c92de7726c469d5")
const BUY_EXACT_QUOTE_IN_V3 = tagOf("e1f7501ed5b38488")

const first = [
  "global",
  "feeRecipient",
  "mint",
  "bondingCurve",
  "associatedBondingCurve",
  "associatedUser",
  "user",
  "systemProgram"
] as const

/** Accounts of `buy` and `buy_exact_sol_in`, and of `sell`. */
export const curveBuyAccounts = [
  ...first,
  "tokenProgram",
  "creatorVault",
  "eventAuthority",
  "program",
  "globalVolumeAccumulator",
  "userVolumeAccumulator",
  "feeConfig",
  "feeProgram"
] as const
export const curveSellAccounts = [
  ...first,
  "creatorVault",
  "tokenProgram",
  "eventAuthority",
  "program",
  "feeConfig",
  "feeProgram"
] as const

/** Accounts of `buy_v3`, `buy_exact_quote_in_v3` and `sell_v3`. */
export const curveV3Accounts = [
  "global",
  "mint",
  "quoteMint",
  "baseTokenProgram",
  "quoteTokenProgram",
  "bondingCurve",
  "associatedBondingCurve",
  "associatedQuoteBondingCurve",
  "user",
  "associatedUser",
  "associatedQuoteUser",
  "userVolumeAccumulator",
  "feeConfig",
  "buybackFeeRecipient",
  "systemProgram",
  "eventAuthority",
  "program"
] as const

/** The data of `buy_exact_quote_in_v3`. */
export const encodeCurveBuyV3 = (quote: bigint, minimumTokens: bigint): Uint8Array =>
  encodeBuyExactIn(BUY_EXACT_QUOTE_IN_V3, quote, minimumTokens)

/** The data of `buy_v3`: exact tokens. */
export const encodeCurveBuyOutV3 = (tokens: bigint, maximumQuote: bigint): Uint8Array =>
  encodeTrade(BUY_V3, tokens, maximumQuote)

/** The data of `sell_v3`. */
export const encodeCurveSellV3 = (tokens: bigint, minimumQuote: bigint): Uint8Array =>
  encodeTrade(SELL_V3, tokens, minimumQuote)

/** The data of `buy_exact_sol_in`. */
export const encodeCurveBuy = (lamports: bigint, minimumTokens: bigint): Uint8Array =>
  encodeBuyExactIn(BUY_EXACT_SOL_IN, lamports, minimumTokens)

/** Indexes among an instruction's accounts. */
interface CurveLayout {
  readonly curve: number
  readonly baseVault: number
  readonly user: number
  readonly feeRecipient: number | null
  /** Null for the first instructions, which only know lamports. */
  readonly quote: { readonly mint: number; readonly vault: number } | null
}

const lamportsOnly: CurveLayout = {
  curve: first.indexOf("bondingCurve"),
  baseVault: first.indexOf("associatedBondingCurve"),
  user: first.indexOf("user"),
  feeRecipient: first.indexOf("feeRecipient"),
  quote: null
}
const second: CurveLayout = { curve: 10, baseVault: 11, user: 13, feeRecipient: 6, quote: { mint: 2, vault: 12 } }
const third: CurveLayout = {
  curve: curveV3Accounts.indexOf("bondingCurve"),
  baseVault: curveV3Accounts.indexOf("associatedBondingCurve"),
  user: curveV3Accounts.indexOf("user"),
  feeRecipient: null,
  quote: {
    mint: curveV3Accounts.indexOf("quoteMint"),
    vault: curveV3Accounts.indexOf("associatedQuoteBondingCurve")
  }
}

const layouts: ReadonlyMap<bigint, CurveLayout> = new Map([
  [BUY, lamportsOnly],
  [SELL, lamportsOnly],
  [BUY_EXACT_SOL_IN, lamportsOnly],
  [BUY_V2, second],
  [SELL_V2, second],
  [BUY_EXACT_QUOTE_IN_V2, second],
  [BUY_V3, third],
  [SELL_V3, third],
  [BUY_EXACT_QUOTE_IN_V3, third]
])

const hopOf = (layout: CurveLayout, accounts: ReadonlyArray<Address>): Hop | null => {
  const pool = accounts[layout.curve]
  const baseVault = accounts[layout.baseVault]
  const trader = accounts[layout.user]
  if (pool === undefined || baseVault === undefined || trader === undefined) {
    return null
  }
  if (layout.quote === null || accounts[layout.quote.mint] === SOL) {
    const feeRecipient = layout.feeRecipient === null ? null : (accounts[layout.feeRecipient] ?? null)
    return { pool, vaults: [baseVault, pool], native: { trader, feeRecipient } }
  }
  const quoteVault = accounts[layout.quote.vault]
  return quoteVault === undefined ? null : { pool, vaults: [baseVault, quoteVault] }
}

/** Event `TradeEvent`, up to the instruction's name. Lamports are before fees. */
export const curveTradeEvent = eventLayout("bddb7fd34ee661ee", [
  ["mint", "address"],
  ["solAmount", "u64"],
  ["tokenAmount", "u64"],
  ["isBuy", "bool"],
  ["user", "address"],
  ["timestamp", "i64"],
  ["virtualSolReserves", "u64"],
  ["virtualTokenReserves", "u64"],
  ["realSolReserves", "u64"],
  ["realTokenReserves", "u64"],
  ["feeRecipient", "address"],
  ["feeBasisPoints", "u64"],
  ["fee", "u64"],
  ["creator", "address"],
  ["creatorFeeBasisPoints", "u64"],
  ["creatorFee", "u64"],
  ["trackVolume", "bool"],
  ["totalUnclaimedTokens", "u64"],
  ["totalClaimedTokens", "u64"],
  ["currentSolVolume", "u64"],
  ["lastUpdateTimestamp", "i64"]
])

/** Event `CompleteEvent`: the curve has sold its last token. */
export const curveCompleteEvent = eventLayout("5f72619cd42e9808", [
  ["user", "address"],
  ["mint", "address"],
  ["bondingCurve", "address"],
  ["timestamp", "i64"],
  ["quoteMint", "address"]
])

/**
 * Event `PostCompleteBuyEvent`: the part of a completing purchase that is paid from the tokens of the future pool. It
 * follows the `TradeEvent` of the curve's part and the `CompleteEvent`.
 */
export const curvePostCompleteEvent = eventLayout("6fb06d8b316cd5fb", [
  ["user", "address"],
  ["mint", "address"],
  ["bondingCurve", "address"],
  ["quoteMint", "address"],
  ["timestamp", "i64"],
  ["baseOut", "u64"],
  ["quoteIn", "u64"],
  ["feeBasisPoints", "u64"],
  ["fee", "u64"],
  ["creatorFeeBasisPoints", "u64"],
  ["creatorFee", "u64"],
  ["buybackFee", "u64"],
  ["poolBaseReservesBefore", "u64"],
  ["poolQuoteReservesBefore", "u64"],
  ["poolBaseReservesAfter", "u64"],
  ["poolQuoteReservesAfter", "u64"]
])

const postAt = {
  baseOut: curvePostCompleteEvent.offsetOf("baseOut"),
  quoteIn: curvePostCompleteEvent.offsetOf("quoteIn"),
  fee: curvePostCompleteEvent.offsetOf("fee"),
  creatorFee: curvePostCompleteEvent.offsetOf("creatorFee")
}
const SHORTEST_POST_COMPLETE = curvePostCompleteEvent.endOf("creatorFee")

/** `buyback_fee` is a share of `fee`, as in `TradeEvent`. */
const postCompleteOf = (body: Uint8Array): SwapReport | null => {
  if (body.length < SHORTEST_POST_COMPLETE) {
    return null
  }
  const amountIn = readU64(body, postAt.quoteIn)
  const fees = readU64(body, postAt.fee) + readU64(body, postAt.creatorFee)
  return { amountIn, amountOut: readU64(body, postAt.baseOut), traderLamports: amountIn + fees, continues: true }
}

const at = {
  lamports: curveTradeEvent.offsetOf("solAmount"),
  tokens: curveTradeEvent.offsetOf("tokenAmount"),
  isBuy: curveTradeEvent.offsetOf("isBuy"),
  fee: curveTradeEvent.offsetOf("fee"),
  creatorFee: curveTradeEvent.offsetOf("creatorFee")
}
/** Length of the event in early 2024, which had no fees. */
const SHORTEST_EVENT = curveTradeEvent.endOf("virtualSolReserves")
const WITH_FEES = curveTradeEvent.endOf("creatorFee")
const INSTRUCTION_NAME_AT = curveTradeEvent.endOf("lastUpdateTimestamp")
const SHAREHOLDER_LENGTH = 34

/**
 * The cashback and the quote amount. They follow a name and a list of variable length. Null in events with older
 * layouts.
 */
const tailOf = (body: Uint8Array): { readonly cashback: bigint; readonly quoteAmount: bigint } | null => {
  if (body.length < INSTRUCTION_NAME_AT + 4) {
    return null
  }
  const afterName = INSTRUCTION_NAME_AT + 4 + readU32(body, INSTRUCTION_NAME_AT)
  const shareholdersAt = afterName + 33
  if (body.length < shareholdersAt + 4) {
    return null
  }
  const quoteAmountAt = shareholdersAt + 4 + SHAREHOLDER_LENGTH * readU32(body, shareholdersAt) + 32
  return body.length < quoteAmountAt + 8
    ? null
    : { cashback: readU64(body, afterName + 9), quoteAmount: readU64(body, quoteAmountAt) }
}

const reportOf = (body: Uint8Array): SwapReport | null => {
  if (body.length < SHORTEST_EVENT) {
    return null
  }
  const lamports = readU64(body, at.lamports)
  const tokens = readU64(body, at.tokens)
  const isBuy = body[at.isBuy] === 1
  const tail = tailOf(body)
  const quote = lamports === 0n && tail !== null ? tail.quoteAmount : lamports
  const fees =
    body.length < WITH_FEES ? null : readU64(body, at.fee) + readU64(body, at.creatorFee) + (tail?.cashback ?? 0n)
  const traderLamports = fees === null ? null : isBuy ? lamports + fees : lamports - fees
  return isBuy
    ? { amountIn: quote, amountOut: tokens, traderLamports }
    : { amountIn: tokens, amountOut: quote, traderLamports }
}

const reportIn = (event: bigint, body: Uint8Array): SwapReport | null =>
  event === curveTradeEvent.tag ? reportOf(body) : event === curvePostCompleteEvent.tag ? postCompleteOf(body) : null

/**
 * Decodes trades on Pump.fun's curves. Lamports move without an instruction, so only the event states their amount.
 */
export const pumpCurveSwaps: SwapDecoder = {
  dex: pumpCurve.dex,
  programId: pumpCurve.programId,
  hops: (data, accounts) => {
    const layout = layouts.get(tagAt(data, 0))
    const hop = layout === undefined ? null : hopOf(layout, accounts)
    return hop === null ? [] : [hop]
  },
  selfCall: reportIn,
  logged: (payload) => reportIn(tagAt(payload, 0) ?? 0n, payload.subarray(8)),
  reportDecides: true
}
