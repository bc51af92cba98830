/** The live side of the tracker on a real socket, over a tape that the benchmark writes: accounts, wallets, tickets, blocks. */
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { type Address, addressFromBytes, type Mint, SOL } from "../../src/domain/Address.ts"
import type { BalanceChange } from "../../src/api/schemas/Trade.ts"
import { Signature } from "../../src/domain/Signature.ts"
import { PLACES } from "../../src/market/model/tapeTrades.ts"
import { Market } from "../../src/market/tape/Market.ts"
import type { PricedBatch } from "../../src/market/model/TradeBatch.ts"
import { Drain } from "../../src/http/Drain.ts"
import { Listening, serve } from "../../src/http/server/NodeServer.ts"
import { Settings } from "../../src/http/Settings.ts"
import { liveSockets } from "../../src/http/streams/LiveSocket.ts"
import { trackerSocket } from "../../src/http/streams/trackerSocket.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { LiveSessions } from "../../src/wallets/tracker/LiveSessions.ts"
import { Tickets } from "../../src/wallets/tracker/Tickets.ts"
import { TrackerFeed } from "../../src/wallets/tracker/TrackerFeed.ts"
import { TrackerStore } from "../../src/wallets/tracker/TrackerStore.ts"
import { WatchList } from "../../src/wallets/tracker/WatchList.ts"
import { secrets } from "./http/world.ts"
import { warmMarket } from "./warmPools.ts"
import * as MemoryAccounts from "../../test/support/memoryAccounts.ts"
import * as MemoryAlerts from "../../test/support/memoryAlerts.ts"
import * as MemoryUsage from "../../test/support/memoryUsage.ts"
import { WalletAccounts } from "../../src/wallets/WalletAccounts.ts"
import * as TrackerStoreMemory from "../../test/support/TrackerStoreMemory.ts"
import * as MemoryKeys from "../../test/support/memoryKeys.ts"

/** Wallets that each socket tracks. */
export const WALLETS_EACH = 20
const MINTS = 50

const address = (family: number, n: number): Address => {
  const bytes = new Uint8Array(32).fill(7)
  bytes[0] = family
  new DataView(bytes.buffer).setUint32(8, n)
  return addressFromBytes(bytes)
}
const mints: ReadonlyArray<Mint> = Array.from({ length: MINTS }, (_, n) => address(1, n))

/** The `n`th tracked wallet. */
export const walletOf = (n: number): Address => address(2, n)

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const SAMPLE = "2soASZVz6NaEUZtRyCbf3hAdpPAAiecRovUSi99FFw9GJGQTbdoPFaFctNx1Nzt2FzPMLj5JjBnkXJm6CGofULNX"

/** The signature of the `n`th trade. */
export const signatureOf = (n: number): Signature => {
  const digits = Array.from({ length: 6 }, (_, place) => ALPHABET[Math.floor(n / 58 ** (5 - place)) % 58])
  return Signature.make(SAMPLE.slice(0, 82) + digits.join(""))
}

/** Balance changes of a trade: tokens and lamports. */
const changesOf = (wallet: Address, mint: Mint, n: number): ReadonlyArray<BalanceChange> => {
  const after = BigInt(2_000_000 + (n % 1000))
  const tokens = {
    owner: wallet,
    mint,
    before: 0n,
    after,
    delta: after,
    decimals: 6,
    native: false,
    cause: "trade"
  } as const
  const paid = { before: 9_000_000_000n, after: 8_900_000_000n, delta: -100_000_000n }
  return [tokens, { owner: wallet, mint: SOL, ...paid, decimals: 9, native: true, cause: "trade" }]
}

/** A block in which these wallets trade, each in its own transaction, as a function of its time. */
export const blockOf = (slot: number, wallets: ReadonlyArray<Address>): ((timeMs: number) => PricedBatch) => {
  const deals = wallets.map((wallet, place) => {
    const n = slot * 4096 + place
    return { wallet, mint: mints[n % MINTS] ?? SOL, signature: signatureOf(n), n, place }
  })
  const made: PricedBatch = {
    slot,
    timeMs: 0,
    launches: null,
    afterGap: false,
    trades: deals.map(({ mint, n, place, signature, wallet }) => ({
      role: "both",
      signature,
      slot,
      index: place * PLACES,
      timeMs: 0,
      wallet,
      mint,
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
    })),
    transactions: deals.map(({ mint, n, place, signature, wallet }) => ({
      signature,
      index: place,
      legs: [],
      nets: [],
      transfers: [],
      changes: changesOf(wallet, mint, n),
      moves: [],
      launches: [],
      unresolved: 0
    }))
  }
  return (timeMs) => ({ ...made, timeMs, trades: made.trades.map((trade) => ({ ...trade, timeMs })) })
}

// Full after half a minute, so that later growth is not the tape's.
const smallTape = { tokens: 1000, bars: 20_000, trades: 50_000, traders: 30_000 }

const keys = secrets.map((secret, n) => ({ secret: Redacted.make(secret), id: `key_${n}`, accountId: `account_${n}` }))

/** The live service; `replayBytes` bounds the replay buffer. */
export const liveWorld = (replayBytes: number) =>
  Layer.effect(
    Listening,
    Effect.flatMap(Effect.flatMap(Effect.all([trackerSocket]), liveSockets), (upgrade) =>
      serve(Effect.succeed(HttpServerResponse.empty({ status: 404 })), { upgrade })
    )
  ).pipe(
    Layer.provideMerge(LiveSessions.layer),
    Layer.provideMerge(TrackerFeed.layer),
    Layer.provideMerge([
      MemoryAlerts.layer,
      TrackerStoreMemory.layer,
      Market.layerManual(smallTape),
      WalletAccounts.layerNamed,
      TokenBook.layer,
      PriceBook.layer,
      MemoryKeys.layer({ keys }),
      MemoryAccounts.layer,
      Settings.layer({ port: 0 }),
      Tickets.layerMemory,
      Drain.layer
    ]),
    Layer.provideMerge([WatchList.layer, MemoryUsage.layer]),
    Layer.provide(warmMarket),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ TRACKER_REPLAY_BYTES: String(replayBytes) })))
  )

/** A ticket for the `n`th account, which tracks these wallets. */
export const ticketFor = Effect.fnUntraced(function* (n: number, wallets: ReadonlyArray<Address>) {
  const store = yield* TrackerStore
  const tickets = yield* Tickets
  const accountId = `account_${n}`
  for (const wallet of wallets) {
    yield* store.add({ accountId, wallet, groupId: null })
  }
  const grant = {
    keyId: `key_${n}`,
    session: null,
    accountId,
    wallets,
    group: null,
    control: false,
    streamId: `str_${n}`
  }
  return (yield* tickets.issue(grant)).ticket
})
