/** What both servers read from memory: 5,000 trades of one token, its mint account, and 20 wallets. */
import { Effect, Layer } from "effect"
import { ActivityReader } from "../../../src/tokens/ActivityReader.ts"
import { AuditReader } from "../../../src/tokens/AuditReader.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { RiskReader } from "../../../src/tokens/risk/RiskReader.ts"
import { TokenBook } from "../../../src/tokens/TokenBook.ts"
import { TokenReader } from "../../../src/tokens/TokenReader.ts"
import { TokenAccounts } from "../../../src/chain/rpc/TokenAccounts.ts"
import { MarketFeed } from "../../../src/live/market/MarketFeed.ts"
import { MarketTickets } from "../../../src/live/market/MarketTickets.ts"
import { EvmCandles } from "../../../src/market/reads/EvmCandles.ts"
import { MarketReader } from "../../../src/market/reads/MarketReader.ts"
import { TokenSearch } from "../../../src/market/reads/TokenSearch.ts"
import { TopTraders } from "../../../src/market/reads/TopTraders.ts"
import { TradesReader } from "../../../src/market/reads/TradesReader.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { IdentityStore } from "../../../src/wallets/IdentityStore.ts"
import { LedgerReader } from "../../../src/wallets/LedgerReader.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { TrackerFeed } from "../../../src/wallets/tracker/TrackerFeed.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { WalletAccounts } from "../../../src/wallets/WalletAccounts.ts"
import { WalletIndex } from "../../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../../src/wallets/WalletReader.ts"
import * as TrackerStoreMemory from "../../../test/support/TrackerStoreMemory.ts"
import { OPENING_MS } from "../tapeMarket.ts"
import { warmMarket } from "../warmPools.ts"
import { trades, wallets } from "./trades.ts"

export const manualTape = Market.layerManual()

/** Applies the trades in one block, once everything that follows the tape is there. */
export const filled = Layer.effectDiscard(
  Effect.flatMap(Tape, ({ apply }) =>
    apply({
      slot: trades.at(-1)?.slot ?? 1,
      timeMs: trades.at(-1)?.timeMs ?? OPENING_MS,
      trades,
      transactions: [],
      launches: [],
      afterGap: false
    })
  )
).pipe(Layer.provide(manualTape))

/** One mint account. */
export const tokenBook = Layer.succeed(TokenBook, {
  read: () => ({
    _tag: "Token",
    observation: { slot: 1, observedAtMs: OPENING_MS },
    facts: {
      _tag: "Mint",
      tokenProgram: "spl-token",
      supply: 1_000_000_000_000_000n,
      decimals: 6,
      mintAuthority: null,
      freezeAuthority: null,
      extensions: [],
      metadata: null
    },
    metadata: null
  }),
  named: () => [],
  commitment: "confirmed",
  warm: () => Effect.void
})

export const tokens = Layer.mergeAll(TokenReader.layer, RiskReader.layer.pipe(Layer.provide(AuditReader.layer))).pipe(
  Layer.provide([tokenBook, PriceBook.layer, ActivityReader.layerUnknown]),
  Layer.provide(warmMarket)
)

/** Reads of the market on a tape. */
export const marketOver = <E, R>(tape: Layer.Layer<Market, E, R>) =>
  Layer.mergeAll(
    MarketFeed.layer,
    MarketReader.layer,
    MarketTickets.layerMemory,
    TokenSearch.layer,
    TopTraders.layer,
    TradesReader.layer
  ).pipe(Layer.provide([tape, tokenBook, PriceBook.layer, EvmCandles.layerNone]), Layer.provide(warmMarket))

export const walletsOver = <E, R>(tape: Layer.Layer<Market, E, R>) =>
  WalletReader.layer.pipe(
    Layer.provide([
      IdentityStore.layerMemory,
      LedgerReader.layerNone,
      WalletAccounts.layerNamed,
      TokenAccounts.layerUnreachable,
      PriceBook.layer,
      tape,
      WalletIndex.layerMemory.pipe(Layer.provide(tape))
    ]),
    Layer.provide(warmMarket)
  )

const tracked = Layer.effectDiscard(
  Effect.flatMap(TrackerStore, (store) =>
    store.addAll(
      "local",
      wallets.map((wallet) => ({
        accountId: "local",
        wallet,
        groupId: null
      }))
    )
  )
)

/** A tracker of an account that tracks every wallet of the trades. */
export const trackerOver = <E, R>(tape: Layer.Layer<Market, E, R>) =>
  Layer.mergeAll(tracked, TrackerFeed.layer, Tickets.layerMemory).pipe(
    Layer.provideMerge(TrackerStoreMemory.layer),
    Layer.provide([WatchList.layer, WalletAccounts.layerNamed, tape, PriceBook.layer, tokenBook]),
    Layer.provide(warmMarket)
  )
