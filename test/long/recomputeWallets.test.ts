/**
 * Compares positions and profits of wallets over HTTP with a computation from raw blocks that shares no code with them.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, Layer, Schema, Stream } from "effect"
import { listAccounts } from "../../scripts/recompute/heldAccounts.ts"
import { blocksOf, call as rpc, slotsBetween } from "../../scripts/recompute/chain.ts"
import {
  busiest,
  checkWallet,
  makeReading,
  type ReadService,
  transferPairs,
  type WalletReading
} from "../../scripts/recompute/wallets.ts"
import { lamportsAt } from "../../scripts/recompute/walletHoldings.ts"
import type { Address, Mint } from "../../src/domain/Address.ts"
import { IdentityRecord } from "../../src/api/schemas/WalletIdentity.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { layerWithTrades, Simulator } from "../../src/testing/SimulatedMarket.ts"
import * as TokenAccountsRpc from "../../src/chain/rpc/TokenAccountsRpc.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { IdentityStore } from "../../src/wallets/IdentityStore.ts"
import { WalletAccounts } from "../../src/wallets/WalletAccounts.ts"
import { LedgerReader } from "../../src/wallets/LedgerReader.ts"
import { WalletIndex } from "../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import { keyOf, running, secretOf } from "../support/http.ts"

const STRETCHES = 3
const SLOTS = 150
const WALLETS = 25
const LINKED = 8

/** Keys that take turns, because a key may start 60 reads of wallets a minute. */
const KEYS = Array.from("abcdefghijklmnop")

const readFrom = (url: string): ReadService => {
  let reads = 0
  return async (path) => {
    const key = KEYS[reads++ % KEYS.length] ?? "a"
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${secretOf(key)}` } })
    assert.strictEqual(response.status, 200)
    return (await response.json()) as Awaited<ReturnType<ReadService>>
  }
}

/** The busiest wallets, and a few that sent units to each other. */
const comparedOf = (reading: WalletReading, linked: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  Array.from(new Set([...busiest(reading, WALLETS), ...Array.from(linked.keys()).slice(0, LINKED)]))

/** Compares wallets. Returns the numbers of figures, of rows of transfers, and of their pages after the first. */
const compareAll = Effect.fnUntraced(function* (reading: WalletReading, linked: ReadonlyMap<string, string>) {
  const { url } = yield* Listening
  const { rpcUrl } = yield* Simulator
  const linkedTo = (wallet: string) => {
    const other = linked.get(wallet)
    return other === undefined ? [] : [other]
  }
  return yield* Effect.promise(async () => {
    let [figures, transfers, pages] = [0, 0, 0]
    const read = readFrom(url)
    for (const wallet of comparedOf(reading, linked)) {
      const compared = await checkWallet(reading, wallet, {
        read,
        linkedTo,
        list: (of) => listAccounts(rpcUrl, of),
        lamportsOf: (of) => lamportsAt(rpcUrl, of)
      })
      assert.deepStrictEqual(compared.differences, [])
      figures += compared.figures
      transfers += compared.transfers.rows
      pages += compared.transfers.pages - compared.transfers.lists
    }
    return { figures, transfers, pages }
  })
})

// Blocks of the future are not accepted, so the chain begins ten minutes ago.
const startUnixMs = Date.now() - 600_000

const accounts = WalletAccounts.layer.pipe(
  Layer.provideMerge(
    Layer.unwrap(Effect.map(Simulator, ({ rpcUrl }) => TokenAccountsRpc.layer({ rpcUrl }))).pipe(
      Layer.provide(NodeHttpClient.layerUndici)
    )
  ),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ WALLET_ACCOUNTS_RATE: 200 })))
)

const market = WalletReader.layer.pipe(
  Layer.provide([LedgerReader.layerNone, WalletIndex.layerMemory]),
  Layer.provideMerge(IdentityStore.layerMemory),
  Layer.provideMerge(accounts),
  Layer.provideMerge(layerWithTrades({ seed: "wallets", speed: 0, swapsPerSecond: 20, startUnixMs }))
)

layer(market, { timeout: "3 minutes", excludeTestServices: true })("an independent recomputation of wallets", (it) => {
  it.effect(
    "finds every holding, lot and profit, strict and known, including transfers, wallets of one owner and swaps of two tokens",
    () =>
      Effect.gen(function* () {
        const [simulator, tape, wallets] = [yield* Simulator, yield* Market, yield* WalletReader]
        const reading = makeReading()
        const newest = () => Effect.promise(() => rpc(simulator.rpcUrl, "getSlot", []).then(Number))
        const applied = (slot: number) =>
          Effect.sleep("20 millis").pipe(Effect.repeat({ until: () => tape.newestSlot() >= slot, times: 5000 }))
        const seen: Array<number> = []
        yield* tape.applied.pipe(
          Stream.runForEach(({ slot }) => Effect.sync(() => void seen.push(slot))),
          Effect.forkScoped({ startImmediately: true })
        )
        // The service begins with the block that is newest when it first looks.
        yield* simulator
          .advance(1)
          .pipe(Effect.andThen(Effect.sleep("50 millis")), Effect.repeat({ until: () => seen.length > 0, times: 2000 }))
        let from = (seen[0] ?? 0) - 1
        for (let stretch = 0; stretch < STRETCHES; stretch++) {
          yield* simulator.advance(SLOTS)
          const to = yield* newest()
          yield* Effect.promise(async () => {
            for await (const block of blocksOf(simulator.rpcUrl, await slotsBetween(simulator.rpcUrl, from + 1, to))) {
              reading.add(block)
            }
          })
          yield* applied(to)
          from = to
        }
        const mints = new Set(Array.from(reading.events.values()).flatMap((events) => events.map(({ mint }) => mint)))
        const prices = yield* PriceBook
        yield* Effect.forEach(mints, (mint) => prices.warm(mint as Mint), { discard: true })
        const hasMarks = Effect.map(Clock.currentTimeMillis, (nowMs) => {
          const { isStale, of } = prices.at(nowMs)
          return !isStale && Array.from(mints).some((mint) => of(mint as Mint)?.usd)
        })
        yield* Effect.sleep("50 millis").pipe(
          Effect.andThen(hasMarks),
          Effect.repeat({ until: (has) => has, times: 500 })
        )
        const pairs = transferPairs(reading)
        const owned = pairs.flatMap((pair, at) => pair.map((wallet) => ({ wallet, owner: `owner-${at}` })))
        const records = yield* Schema.decodeEffect(Schema.Array(IdentityRecord))(owned)
        yield* IdentityStore.use((store) => store.replace("test", records))
        const linked = new Map(pairs.flatMap(([from, to]) => [[from, to] as const, [to, from] as const]))
        const accounts = yield* WalletAccounts
        const asked = comparedOf(reading, linked)
          .flatMap((wallet) => [wallet, linked.get(wallet) ?? wallet])
          .map((wallet) => wallet as Address)
        accounts.ask(asked)
        yield* Effect.sleep("50 millis").pipe(
          Effect.andThen(Effect.sync(() => asked.every((wallet) => typeof accounts.of(wallet) === "object"))),
          Effect.repeat({ until: (isRead) => isRead, times: 1000 })
        )
        const compared = yield* compareAll(reading, linked).pipe(
          Effect.provide(
            running({ wallets: Layer.succeed(WalletReader, wallets), keys: KEYS.map((letter) => keyOf(letter)) })
          )
        )
        assert.isAbove(compared.figures, 500)
        assert.isAbove(compared.transfers, 30)
        assert.isAbove(compared.pages, 10)
        assert.isAbove(comparedOf(reading, linked).filter((wallet) => linked.has(wallet)).length, 3)
        assert.isAbove(reading.counts.transfers, 10)
        assert.isAbove(reading.counts.partial, 10)
        assert.isAbove(reading.counts.tokenSwaps, 10)
      }),
    600_000
  )
})
