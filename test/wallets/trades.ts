/** Trades of wallets for tests. */
import { Address, addressFromBytes } from "../../src/domain/Address.ts"
import { NANOS_PER_USD } from "../../src/domain/units.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import type { PricedBatch } from "../../src/market/model/TradeBatch.ts"

export const WALLET = Address.make("B8nmkjxmcUjVxFe65rPx4vVYPhGFUHRZ63BHW8SRD6et")
export const OTHER = Address.make("83dxKodC6tqf4mMkZihCqeXVW1ffjGQm68fX2PHK8GT3")
export const MINT = Address.make("FdKdXtJtbNVC7gfYWDRfsbwNLhPXJECnTqFvZmW7GuSn")
export const MINT_2 = Address.make("4WShe4GjxtcjM54xcfky72bi7WwTmW99UsE5cW1dKfVH")
export const START = 1_700_000_000_000

/** Whole dollars in nano-dollars. */
export const usd = (dollars: number): bigint => (BigInt(Math.round(dollars * 1e6)) * NANOS_PER_USD) / 1_000_000n

/** A trade of `WALLET` in `MINT`, with overrides. */
export const tradeOf = (overrides: Partial<TapeTrade> = {}): TapeTrade => ({
  role: "both",
  signature: `sig_${overrides.slot ?? 1}_${overrides.index ?? 0}`,
  slot: 1,
  index: 0,
  timeMs: START + (overrides.slot ?? 1) * 400,
  wallet: WALLET,
  mint: MINT,
  side: "buy",
  amount: 1_000_000n,
  decimals: 6,
  lamports: null,
  priceUsd: null,
  volumeUsdNanos: usd(1),
  pool: null,
  dex: null,
  launchpad: null,
  solUsdNanos: null,
  ...overrides
})

/** A block of these trades. */
export const blockOf = (trades: ReadonlyArray<TapeTrade>, overrides: Partial<PricedBatch> = {}): PricedBatch => ({
  slot: trades[0]?.slot ?? 1,
  timeMs: trades[0]?.timeMs ?? START,
  transactions: [],
  launches: null,
  afterGap: false,
  trades,
  ...overrides
})

/** The `n`th of many wallets. */
export const walletOf = (n: number): Address => {
  const bytes = new Uint8Array(32).fill(3)
  new DataView(bytes.buffer).setUint32(4, n)
  return addressFromBytes(bytes)
}
