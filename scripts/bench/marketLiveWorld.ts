/** The market socket on a real server, over a tape that the benchmark writes: keys, tickets, blocks. */
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import { type Address, addressFromBytes, type Mint } from "../../src/domain/Address.ts"
import { DEFAULT_PLAN, Plan } from "../../src/api/schemas/Plan.ts"
import { Drain } from "../../src/http/Drain.ts"
import { Listening, serve } from "../../src/http/server/NodeServer.ts"
import { Settings } from "../../src/http/Settings.ts"
import { liveSockets } from "../../src/http/streams/LiveSocket.ts"
import { marketSocket } from "../../src/http/streams/marketSocket.ts"
import { EvmCandles } from "../../src/market/reads/EvmCandles.ts"
import type { PricedBatch } from "../../src/market/model/TradeBatch.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import { TradesReader } from "../../src/market/reads/TradesReader.ts"
import { QuoteTicks } from "../../src/quotes/QuoteTicks.ts"
import { MarketFeed } from "../../src/live/market/MarketFeed.ts"
import { MarketSessions } from "../../src/live/market/MarketSessions.ts"
import { MarketTickets } from "../../src/live/market/MarketTickets.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import * as MemoryAccounts from "../../test/support/memoryAccounts.ts"
import * as MemoryUsage from "../../test/support/memoryUsage.ts"
import { secrets } from "./http/world.ts"
import { signatureOf } from "./liveWorld.ts"
import { warmMarket } from "./warmPools.ts"
import * as MemoryKeys from "../../test/support/memoryKeys.ts"

const address = (family: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(9)
  bytes[0] = family
  new DataView(bytes.buffer).setUint32(8, n)
  return addressFromBytes(bytes)
}

/** The `n`th token that is traded. The first one is the hot one. */
export const mintOf = (n: number): Mint => address(1, n)
/** The `n`th wallet that trades. */
export const walletOf = (n: number): Address => address(2, n)

const made = new Map<number, Mint>()
const mintAt = (n: number): Mint => {
  const mint = made.get(n) ?? mintOf(n)
  made.set(n, mint)
  return mint
}

/** Tokens of the trades of a block, in its order, as a function of its time. */
export const blockOf = (slot: number, tokens: ReadonlyArray<number>): ((timeMs: number) => PricedBatch) => {
  const trades = tokens.map((token, place) => {
    const n = slot * 4096 + place
    return {
      role: "both",
      signature: signatureOf(n),
      slot,
      index: place * 64,
      timeMs: 0,
      wallet: walletOf(n % 5000),
      mint: mintAt(token),
      side: n % 3 === 0 ? "sell" : "buy",
      amount: BigInt(1_000_000 + (n % 1000)),
      decimals: 6,
      lamports: 100_000_000n,
      priceUsd: 0.1 + (n % 97) / 1000,
      volumeUsdNanos: 15_000_000_000n + BigInt(n % 1000),
      pool: null,
      dex: "amm-one",
      launchpad: null,
      solUsdNanos: null
    } as const
  })
  return (timeMs) => ({
    slot,
    timeMs,
    launches: null,
    afterGap: false,
    transactions: [],
    trades: trades.map((trade) => ({ ...trade, timeMs }))
  })
}

/** Every mint is a plain one of six decimals. */
const tokens = Layer.succeed(TokenBook, {
  read: () => ({
    _tag: "Token",
    facts: {
      _tag: "Mint",
      tokenProgram: "spl-token",
      supply: 10n ** 15n,
      decimals: 6,
      mintAuthority: null,
      freezeAuthority: null,
      extensions: [],
      metadata: null
    },
    metadata: null,
    observation: { slot: 1, observedAtMs: 1 }
  }),
  named: () => [],
  commitment: "confirmed",
  warm: () => Effect.void
})

const tapeLimits = { tokens: 10_000, bars: 100_000, trades: 50_000, traders: 30_000 }

const keys = secrets.map((secret, n) => ({ secret: Redacted.make(secret), id: `key_${n}`, accountId: `account_${n}` }))

// Every subscription is paid for the whole run: the budget is not what is measured.
const plan = Plan.make({ ...DEFAULT_PLAN, name: "bench", rest: 100_000_000, sockets: 10_000 })

/** The live service. */
export const marketLiveWorld = Layer.effect(
  Listening,
  Effect.flatMap(Effect.flatMap(Effect.all([marketSocket]), liveSockets), (upgrade) =>
    serve(Effect.succeed(HttpServerResponse.empty({ status: 404 })), { upgrade })
  )
).pipe(
  Layer.provideMerge(MarketSessions.layer),
  Layer.provideMerge([MarketFeed.layer, MarketReader.layer, QuoteTicks.layer, TradesReader.layer]),
  Layer.provideMerge([
    Market.layerManual(tapeLimits),
    EvmCandles.layerNone,
    tokens,
    PriceBook.layer,
    MemoryKeys.layer({ keys }),
    MemoryAccounts.layer,
    MemoryUsage.layer,
    RateLimiter.layerMemory,
    Settings.layer({ port: 0 }),
    MarketTickets.layerMemory,
    Drain.layer
  ]),
  Layer.provide(warmMarket),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ MARKET_SOCKETS: "20000" })))
)

/** A ticket of the `n`th socket. */
export const ticketFor = Effect.fnUntraced(function* (n: number) {
  const key = n % keys.length
  const grant = {
    keyId: `key_${key}`,
    session: null,
    accountId: `account_${key}`,
    control: true,
    streamId: `str_${n}`,
    sockets: plan.sockets,
    plan
  }
  return (yield* MarketTickets.use((tickets) => tickets.issue(grant))).ticket
})
