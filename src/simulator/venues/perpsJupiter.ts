import { type Address, addressFromBytes } from "../../domain/Address.ts"
import { tenTo } from "../../domain/decimal.ts"
import {
  AG_PRICE_FEED_DISCRIMINATOR,
  custodies,
  CUSTODY_DISCRIMINATOR,
  CUSTODY_LENGTH,
  custodyAt,
  DOVES_PROGRAM,
  PERPETUALS_PROGRAM,
  PRICE_FEED_LENGTH,
  priceFeedAt
} from "../../programs/jupiter/perpetuals.ts"
import { newAccountData, writeAddress, writeI64, writeU64 } from "../../programs/layout/bytes.ts"
import type { SimBook, SimPerp } from "./perpsMarkets.ts"
import { listedOn, ok, refused, type VenueRequest, type VenueResponse } from "./perpsShapes.ts"

/** Doves states prices with eight digits. */
const EXPO = -8
const DOLLAR = tenTo(6)
/**
 * The base fee is 6 bps. Each time the size grows by this many millionths of a dollar, the fee grows by 10,000 bps.
 */
const BASE_BPS = 6n
const SCALAR = 1_250_000_000n * DOLLAR
const SLOT_MS = 400

const oracleOf = ({ id }: SimPerp): Address => addressFromBytes(new Uint8Array(32).fill(0x40 + id))

const limits = {
  tradeImpactFeeScalar: SCALAR,
  maxGlobalLongSizes: 1_000_000_000n * DOLLAR,
  maxGlobalShortSizes: 1_000_000_000n * DOLLAR,
  increasePositionBps: BASE_BPS,
  maxPositionSizeUsd: 100_000_000n * DOLLAR,
  minRateBps: 1000n,
  targetRateBps: 3500n,
  maxRateBps: 15_000n,
  targetUtilizationRate: 800_000_000n
} as const

/** A custody that owns twice `free`. Half is locked, so `free` can still be used. */
const custodyData = (decimals: number, free: bigint, oracle: Address | null): Uint8Array => {
  const data = newAccountData(CUSTODY_LENGTH, CUSTODY_DISCRIMINATOR)
  data[custodyAt.decimals] = decimals
  data[custodyAt.allowIncreasePosition] = 1
  for (const [field, value] of Object.entries({ ...limits, owned: 2n * free, locked: free })) {
    writeU64(data, offsetOf(field), value)
  }
  if (oracle !== null) {
    writeAddress(data, custodyAt.dovesAgOracle, oracle)
  }
  return data
}

const offsetOf = (field: string): number => new Map(Object.entries<number>(custodyAt)).get(field) ?? 0

const priceData = ({ asks: [ask], asOfMs, bids: [bid] }: SimBook, { priceDigits }: SimPerp): Uint8Array => {
  const data = newAccountData(PRICE_FEED_LENGTH, AG_PRICE_FEED_DISCRIMINATOR)
  const mid = ((bid?.ticks ?? 0n) + (ask?.ticks ?? 0n)) * tenTo(-EXPO - priceDigits)
  writeU64(data, priceFeedAt.price, mid / 2n)
  data[priceFeedAt.expo] = 256 + EXPO
  writeI64(data, priceFeedAt.timestamp, BigInt(Math.floor(asOfMs / 1000)))
  return data
}

const DECIMALS = 9

/** The pool's accounts by address. The size of the asks is what can still be opened. */
const accountsOf = (book: VenueRequest["book"]): ReadonlyMap<string, readonly [owner: Address, data: Uint8Array]> => {
  const entries = listedOn("jupiter").flatMap((perp) => {
    const lines = book(perp)
    const free = lines.asks.reduce((sum, { lots }) => sum + lots, 0n) * tenTo(DECIMALS - perp.sizeDigits)
    const address = new Map<string, Address>(Object.entries(custodies)).get(perp.symbol)
    const feed = [oracleOf(perp), [DOVES_PROGRAM, priceData(lines, perp)]] as const
    return address === undefined
      ? [feed]
      : [feed, [address, [PERPETUALS_PROGRAM, custodyData(DECIMALS, free, oracleOf(perp))]] as const]
  })
  const dollars = custodyData(6, 200_000_000n * DOLLAR, null)
  return new Map<string, readonly [Address, Uint8Array]>([...entries, [custodies.USDC, [PERPETUALS_PROGRAM, dollars]]])
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

/** A Solana node that has the accounts of Jupiter Perpetuals. It only answers `getMultipleAccounts`. */
export const simJupiter = ({ body, book, nowMs }: VenueRequest): VenueResponse => {
  const params = fieldOf(body, "params")
  const [addresses] = Array.isArray(params) ? params : []
  if (fieldOf(body, "method") !== "getMultipleAccounts" || !Array.isArray(addresses)) {
    return refused(400, { jsonrpc: "2.0", id: null, error: { code: -32601, message: "Method not found" } })
  }
  const accounts = accountsOf(book)
  const value = addresses.map((address) => {
    const found = accounts.get(String(address))
    if (found === undefined) {
      return null
    }
    const [owner, data] = found
    const base64 = Buffer.from(data).toString("base64")
    return { owner, lamports: 1, data: [base64, "base64"], executable: false, rentEpoch: 0, space: data.length }
  })
  const context = { slot: Math.floor(nowMs / SLOT_MS) }
  return ok({ jsonrpc: "2.0", id: fieldOf(body, "id") ?? null, result: { context, value } })
}
