/** Blocks for tracked wallets, and a feed over them. */
import { Effect, Layer } from "effect"
import { type Address, addressFromBytes, type Mint, SOL } from "../../../src/domain/Address.ts"
import { Signature } from "../../../src/domain/Signature.ts"
import type { BalanceChange } from "../../../src/api/schemas/Trade.ts"
import { PLACES } from "../../../src/market/model/tapeTrades.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import type { Tape } from "../../../src/market/tape/Tape.ts"
import type { PricedBatch } from "../../../src/market/model/TradeBatch.ts"
import type { BlockTransaction } from "../../../src/chain/decoding/TradeBlock.ts"
import { PriceBook, type Prices } from "../../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../../src/tokens/TokenBook.ts"
import type { TokenState } from "../../../src/tokens/TokenCache.ts"
import type { Mark } from "../../../src/wallets/marks.ts"
import { TrackerFeed } from "../../../src/wallets/tracker/TrackerFeed.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { WalletAccounts } from "../../../src/wallets/WalletAccounts.ts"
import * as TrackerStoreMemory from "../../support/TrackerStoreMemory.ts"

/** Time of block 1. */
export const START = 1_791_633_600_000

const address = (family: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(9)
  bytes[0] = family
  new DataView(bytes.buffer).setUint32(8, n)
  return addressFromBytes(bytes)
}
export const walletOf = (n: number): Address => address(2, n)
export const mintOf = (n: number): Mint => address(1, n)

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

const SAMPLE = "2soASZVz6NaEUZtRyCbf3hAdpPAAiecRovUSi99FFw9GJGQTbdoPFaFctNx1Nzt2FzPMLj5JjBnkXJm6CGofULNX"

/** The `n`th signature: 64 bytes in base58. */
export const signatureOf = (n: number): Signature => {
  const digits = Array.from({ length: 6 }, (_, place) => ALPHABET[Math.floor(n / 58 ** (5 - place)) % 58])
  return Signature.make(SAMPLE.slice(0, 82) + digits.join(""))
}

/** A swap: a wallet buys or sells units for dollars. */
export interface Deal {
  readonly wallet: Address
  readonly mint?: Mint
  readonly side?: "buy" | "sell"
  readonly amount?: bigint
  readonly usd?: number | null
  readonly role?: TapeTrade["role"]
  /** Units held afterwards; without it the block has no balance change. */
  readonly after?: bigint
}

const tradeIn = (deal: Deal, slot: number, place: number, timeMs: number): TapeTrade => {
  const amount = deal.amount ?? 2_000_000n
  const usd = deal.usd === undefined ? 2 : deal.usd
  return {
    role: deal.role ?? "both",
    signature: signatureOf(slot * 1000 + place),
    slot,
    index: place * PLACES,
    timeMs,
    wallet: deal.wallet,
    mint: deal.mint ?? mintOf(1),
    side: deal.side ?? "buy",
    amount,
    decimals: 6,
    lamports: 10_000_000n,
    priceUsd: usd === null ? null : usd / (Number(amount) / 1e6),
    volumeUsdNanos: usd === null ? null : BigInt(Math.round(usd * 1e9)),
    pool: null,
    dex: "amm-one",
    launchpad: null,
    solUsdNanos: null
  }
}

/** Block time of a slot, in whole seconds. */
export const timeOf = (slot: number): number => START + Math.floor((slot * 400) / 1000) * 1000

const changeOf = ({
  after,
  amount = 2_000_000n,
  mint = mintOf(1),
  side = "buy",
  wallet
}: Deal): ReadonlyArray<BalanceChange> => {
  if (after === undefined) {
    return []
  }
  const delta = side === "buy" ? amount : -amount
  return [{ owner: wallet, mint, before: after - delta, after, delta, decimals: 6, native: false, cause: "trade" }]
}

/** A transaction that only changed balances. */
export const transactionOf = (
  slot: number,
  place: number,
  changes: ReadonlyArray<BalanceChange>
): BlockTransaction => ({
  signature: signatureOf(slot * 1000 + place),
  index: place,
  legs: [],
  nets: [],
  transfers: [],
  changes,
  moves: [],
  unresolved: 0
})

/** A block of swaps, one per transaction, in this order. */
export const blockOf = (
  slot: number,
  deals: ReadonlyArray<Deal>,
  overrides: Partial<PricedBatch> = {}
): PricedBatch => ({
  slot,
  timeMs: timeOf(slot),
  transactions: deals.map((deal, place) => transactionOf(slot, place, changeOf(deal))),
  launches: null,
  afterGap: false,
  trades: deals.map((deal, place) => tradeIn(deal, slot, place, overrides.timeMs ?? timeOf(slot))),
  ...overrides
})

/** Lamports received without a trade. */
export const received = (wallet: Address, lamports: bigint, after: bigint): BalanceChange => ({
  owner: wallet,
  mint: SOL,
  before: after - lamports,
  after,
  delta: lamports,
  decimals: 9,
  native: true,
  cause: "transfer"
})

/** A mutable price: dollars for a million units of any mint. */
export interface Marks {
  usd: bigint | null
}

/** Current prices. */
export const pricesOf = (marks: Marks, nowMs: number): Prices => ({
  // Micro-dollars for one unit: a dollar for a million units is one.
  of: () => ({ sol: null, usd: marks.usd === null ? null : { numerator: marks.usd, denominator: 1n } }),
  lifetime: { observedAtMs: nowMs, expiresAtMs: null },
  isStale: false,
  silentMs: 0,
  clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
})

/** Current marks. */
export const marksOf = (marks: Marks, nowMs: number) => (): Mark | null =>
  marks.usd === null ? null : { price: { numerator: marks.usd, denominator: 1n }, method: "pool_median", atMs: nowMs }

/** A token with metadata and a supply of a billion. */
export const named: TokenState = {
  _tag: "Token",
  observation: { slot: 1, observedAtMs: START },
  metadata: { name: "Exämple", symbol: "XMPL", uri: null },
  facts: {
    _tag: "Mint",
    tokenProgram: "spl-token",
    supply: 1_000_000_000_000_000n,
    decimals: 6,
    mintAuthority: null,
    freezeAuthority: null,
    extensions: [],
    metadata: null
  }
}

/** The feed over a manual tape and a store in memory. Unless accounts are given, transactions name all accounts. */
export const feedOver = (
  marks: Marks = { usd: 1n },
  tape: Layer.Layer<Market | Tape> = Market.layerManual(),
  accounts: Layer.Layer<WalletAccounts> = WalletAccounts.layerNamed
) =>
  TrackerFeed.layer.pipe(
    Layer.provideMerge([
      tape,
      accounts,
      Layer.succeed(PriceBook, { at: (nowMs: number) => pricesOf(marks, nowMs), warm: () => Effect.void }),
      Layer.succeed(TokenBook, {
        read: () => named,
        named: () => [],
        commitment: "confirmed",
        warm: () => Effect.void
      }),
      TrackerStoreMemory.layer
    ]),
    Layer.provideMerge(WatchList.layer)
  )
