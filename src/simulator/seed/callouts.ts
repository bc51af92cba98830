/** Demo callouts for the simulated coins, with the visits and trades that followed from them. */
import { Effect } from "effect"
import type { CalloutLink } from "../../callouts/attribution.ts"
import { CalloutStore } from "../../callouts/CalloutStore.ts"
import type { AttributedTrade, NewCallout } from "../../api/schemas/Callout.ts"
import { fromAtomic } from "../../domain/decimal.ts"
import { inventBytes } from "../chain/addresses.ts"
import type { SimWallet } from "../traders/cast.ts"
import { coins } from "../pools/catalog.ts"
import { makeRandom, type Random } from "../chain/Random.ts"
import type { SimMint } from "../chain/SimPool.ts"
import { patiently } from "./patience.ts"

/** A callout, how many visits it got, and the trades attributed to it. */
interface SimCallout {
  readonly callout: NewCallout
  readonly clicks: number
  readonly trades: ReadonlyArray<AttributedTrade>
}

const DAY_MS = 86_400_000
const LIFE_MS = 7 * DAY_MS
/** How long before the start of their day the oldest callouts were made. */
const PAST_MS = 4 * DAY_MS
const COUNT = 18
const NANOS_PER_CENT = 10_000_000n

const people: ReadonlyArray<readonly [username: string, displayName: string]> = [
  ["mira_tides", "Mira Tides"],
  ["lowwater", "Low Water"],
  ["oskar.reef", "Oskar Reef"],
  ["plumbline", "The Plumb Line"],
  ["juno_keel", "Juno Keel 🦦"],
  ["slackwater", "Slack Water Capital"]
]

const bodies: ReadonlyArray<(symbol: string) => string> = [
  (symbol) => `${symbol} has held this level three days in a row while volume doubled. I am in.`,
  (symbol) =>
    `Watching $${symbol} since the pool got deeper.\n\nEntry here, out below yesterday's low. If the depth goes, so do I.`,
  (symbol) => `Quiet accumulation on ${symbol}: same five wallets, small sizes, every hour.`,
  (symbol) => `Everyone is looking elsewhere. ${symbol} is up on the week and hardly discussed 👀`,
  (symbol) => `${symbol}/SOL looks ready. Small position, wide stop, no leverage.`,
  (symbol) => `Took half off $${symbol} on the way up. The rest rides until the trend breaks.`,
  (symbol) =>
    `Three reasons for ${symbol}:\n1. liquidity in four venues\n2. fees are earned, not promised\n3. the chart`
]

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 9)).toString("hex")

const creatorOf = (random: Random): NewCallout["creator"] => {
  const [username, displayName] = random.pick(people)
  return { id: `u_${username}`, username, displayName, avatarUrl: `https://images.example/people/${username}.png` }
}

/**
 * A price near the coin's initial price, as plain decimal text; null when the catalogue has no price for the mint.
 */
const priceOf = (mint: SimMint, random: Random): string | null => {
  const coin = coins.find(({ symbol }) => symbol === mint.symbol)
  return coin === undefined ? null : fromAtomic(BigInt(Math.round(coin.priceUsd * random.between(0.8, 1.1) * 1e12)), 12)
}

const tradesOf = (calloutId: string, wallets: ReadonlyArray<SimWallet>, random: Random): SimCallout["trades"] =>
  Array.from({ length: random.below(8) }, (_, index) => {
    const volumeUsdNanos = BigInt(2_000 + random.below(400_000)) * NANOS_PER_CENT
    return {
      tradeId: `${calloutId}_${index}`,
      calloutId,
      trader: random.pick(wallets).address,
      volumeUsdNanos,
      earnedUsdNanos: volumeUsdNanos / 1000n,
      points: volumeUsdNanos / 10_000_000_000n
    }
  })

/**
 * The callouts of a day. The same coins and day give the same callouts, including ids. All are made before the day
 * begins, and none expires within two days after it.
 */
export const calloutsOf = (options: {
  readonly nowMs: number
  readonly mints: ReadonlyArray<SimMint>
  readonly wallets: ReadonlyArray<SimWallet>
}): ReadonlyArray<SimCallout> => {
  const { mints, nowMs, wallets } = options
  const day = Math.floor(nowMs / DAY_MS)
  const called = mints.filter(({ symbol }) => coins.some((coin) => coin.symbol === symbol))
  // Coin addresses derive from the market's seed, so they can serve as the seed here.
  const seed = called[0]?.address ?? ""
  const random = makeRandom(`${seed} callouts ${day}`)
  return Array.from({ length: called.length === 0 ? 0 : COUNT }, (_, index) => {
    const mint = random.pick(called)
    const id = `co_${hex(inventBytes(seed, `callout ${day} ${index}`))}`
    const createdAtMs = day * DAY_MS - random.below(PAST_MS)
    const trades = tradesOf(id, wallets, random)
    const callout = {
      id,
      mint: mint.address,
      body: random.pick(bodies)(mint.symbol),
      createdAtMs,
      expiresAtMs: createdAtMs + LIFE_MS,
      creator: creatorOf(random),
      tokenSymbol: mint.symbol,
      tokenName: mint.name,
      tokenImageUrl: `https://images.example/tokens/${mint.symbol.toLowerCase()}.png`,
      priceUsdAtCreate: priceOf(mint, random)
    }
    return { callout, clicks: trades.length + random.below(240), trades }
  })
}

/** Links of the wallets that traded before `nowMs`. Their later trades are attributed as well. */
export const calloutLinksOf = (callouts: ReadonlyArray<SimCallout>, nowMs: number): ReadonlyArray<CalloutLink> =>
  callouts.flatMap(({ callout, trades }) =>
    Array.from(new Set(trades.map(({ trader }) => trader)), (wallet) => ({
      calloutId: callout.id,
      mint: callout.mint,
      wallet,
      visitorId: `u_of_${wallet}`,
      creatorId: callout.creator.id,
      fromMs: nowMs,
      untilMs: callout.expiresAtMs
    }))
  )

/** Limits how many callouts are written at a time. */
const CONCURRENCY = { concurrency: 4, discard: true } as const

/**
 * Posts the callouts, then adds visits and trades to callouts that have none. Visits come last: if a run is
 * interrupted, the next one completes the callout and counts nothing twice.
 */
export const seedCallouts = Effect.fnUntraced(function* (callouts: ReadonlyArray<SimCallout>) {
  const store = yield* CalloutStore
  const addPast = Effect.fnUntraced(function* ({ callout, clicks, trades }: SimCallout) {
    const posted = yield* patiently(store.find(callout.id))
    if (posted?.clickCount === 0) {
      yield* Effect.forEach(trades, (trade) => patiently(store.attribute(trade)), { discard: true })
      yield* patiently(store.recordClick(callout.id, clicks))
    }
  })
  yield* Effect.forEach(callouts, ({ callout }) => patiently(store.post(callout)), CONCURRENCY)
  yield* Effect.forEach(callouts, addPast, CONCURRENCY)
})
