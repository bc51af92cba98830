import { assert, layer } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ChainEvent } from "../../src/chain/ChainFeed.ts"
import { recordedStateAt } from "../../src/chain/recording/recordedState.ts"
import type { Moment } from "../../src/chain/recording/recordEntry.ts"
import { RecordWriter } from "../../src/chain/recording/RecordWriter.ts"
import { SOL } from "../../src/domain/Address.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import * as PastMarkets from "../../src/past/PastMarkets.ts"
import { plainMint } from "../../src/programs/layout/tokenAccount.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { QuoteEngine } from "../../src/quotes/QuoteEngine.ts"
import { at, toyPool, toyProgram, vault } from "../quotes/toyChain.ts"
import { type Answer, call, keyOf, running } from "../support/http.ts"
import { engineOver, makeMarket } from "../support/market.ts"

const START_MS = 1_790_000_000_000
const M = 1_000_000n
const [POOL, TOKEN, VAULT_A, VAULT_B] = [at(1), at(10), at(20), at(21)]

const timeOf = (slot: number) => START_MS + slot * 400

const moment = (slot: number, state: Moment["state"] = "live"): Moment => ({
  slot,
  heardAtMs: timeOf(slot),
  state,
  epoch: 3,
  unixTimestamp: Math.floor(timeOf(slot) / 1000)
})

const eventOf = (slot: number, accounts: ReadonlyArray<OnChainAccount>): ChainEvent => ({
  _tag: "Writes",
  slot,
  accounts: new Map(accounts.map((account) => [account.address, account]))
})

const pool = toyPool({ address: POOL, mintA: TOKEN, mintB: SOL, vaultA: VAULT_A, vaultB: VAULT_B })
const accounts = [pool, plainMint(TOKEN), plainMint(SOL), vault(VAULT_A, M), vault(VAULT_B, M)]

/** Units of SOL in the pool at the end of a slot. */
const solAt = (slot: number) => M * BigInt(slot)

/** Slots 12 to 40 but 25 to 29, when the node could not be heard. Written every four slots. */
const record = Effect.fnUntraced(function* (folder: string) {
  const writer = new RecordWriter({ folder, run: "a", bounds: { mostBytes: 1e9, keptMs: 1e9 } })
  writer.setGenesis("the chain")
  writer.watch(accounts.map(({ address }) => address))
  writer.take(eventOf(10, accounts), moment(10))
  for (let slot = 10; slot <= 40; slot++) {
    const isDown = slot >= 25 && slot < 30
    if (!isDown) {
      writer.take(eventOf(slot, [vault(VAULT_B, solAt(slot), slot)]), moment(slot))
    }
    if (slot % 4 === 0 || isDown) {
      yield* Effect.promise(() => writer.flush(moment(slot, isDown ? "down" : "live")))
    }
  }
})

const folder = mkdtempSync(join(tmpdir(), "fathom-past-"))

const recorded = Layer.effectDiscard(
  Effect.acquireRelease(record(folder), () => Effect.sync(() => rmSync(folder, { recursive: true })))
)

const books = QuoteEngine.layerRouter.pipe(Layer.provideMerge(PoolBook.layerPrograms([toyProgram])))

const settings = (named: string) =>
  ConfigProvider.layer(
    ConfigProvider.fromUnknown({ RECORD_DIR: named, ROUTER_HUBS: "", PRICE_HUBS: "", STABLE_MINTS: "" })
  )

const stateAt = (slot: number) => recordedStateAt(folder, slot)
const knownAt = (slot: number) =>
  Effect.map(stateAt(slot), (state) => state ?? assert.fail(`slot ${slot} is not known`))

const sale = { inputMint: TOKEN, outputMint: SOL, amount: 1000n, slippageBps: 100 }

/** What the pool pays for a thousand units at the end of a slot. */
const paidAt = (slot: number) => (solAt(slot) * 1000n) / (M + 1000n)

layer(recorded)("the recorded state at a slot", (it) => {
  it.effect("has every write up to the end of the slot and none after it", () =>
    Effect.gen(function* () {
      for (const slot of [13, 16, 22]) {
        const { accounts, clock, heardAtMs } = yield* knownAt(slot)
        assert.deepStrictEqual(accounts.get(VAULT_B)?.data, vault(VAULT_B, solAt(slot)).data)
        assert.strictEqual(accounts.size, 5)
        assert.deepStrictEqual(clock, { slot, epoch: 3, unixTimestamp: Math.floor(timeOf(slot) / 1000) })
        assert.strictEqual(heardAtMs, timeOf(slot))
      }
    })
  )

  it.effect("has the last slot of the recording", () =>
    Effect.map(knownAt(40), ({ accounts }) =>
      assert.deepStrictEqual(accounts.get(VAULT_B)?.data, vault(VAULT_B, solAt(40)).data)
    )
  )

  it.effect("is unknown in a gap, before the recording and after it", () =>
    Effect.gen(function* () {
      for (const slot of [5, 27, 41]) {
        assert.isNull(yield* stateAt(slot))
      }
    })
  )
})

layer(PastMarkets.layer(books).pipe(Layer.provide(settings(folder)), Layer.provide(recorded)), {
  excludeTestServices: true
})("a past market", (it) => {
  it.effect("pays what the pool of that slot paid, with the recorded time", () =>
    Effect.gen(function* () {
      const markets = yield* PastMarkets.PastMarkets
      for (const slot of [22, 12, 33, 12, 35, 36, 37]) {
        const { clock, engine, tokens } = yield* markets.at(slot, [TOKEN, SOL])
        const quote = yield* Effect.provideService(engine.quote(sale), Clock.Clock, clock)
        assert.strictEqual(quote.outAmount, paidAt(slot))
        assert.deepInclude(quote, { contextSlot: slot, stateSlot: slot, quotedAtMs: timeOf(slot), stateAgeMs: 0 })
        const { data } = yield* Effect.provideService(tokens.liquidityOf(TOKEN, 5), Clock.Clock, clock)
        assert.strictEqual(data.pools[0]?.stateSlot, slot)
      }
    }).pipe(Effect.scoped)
  )
})

const live = makeMarket()
const server = running({ keys: [keyOf("a")], engine: engineOver(live) }).pipe(
  Layer.provide(PastMarkets.layer(books)),
  Layer.provide(settings(folder)),
  Layer.provide(recorded)
)

const send = (path: string, body: object) =>
  call(path, {
    key: "a",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })

const trade = { inputMint: TOKEN, outputMint: SOL, amount: "1000" }
const quoteAt = (slot: number | string) =>
  call(`/api/v1/spot/quote?inputMint=${TOKEN}&outputMint=${SOL}&amount=1000&atSlot=${slot}`, { key: "a" })

const assertRefused = (answer: Answer, part: string) => {
  assert.strictEqual(answer.status, 400, answer.text)
  assert.deepInclude([answer.json("error.details")].flat(), { in: part, field: "atSlot", issue: "out_of_range" })
  assert.include(answer.text, "from 12 to 40")
}

layer(server, { excludeTestServices: true })("atSlot", (it) => {
  it.effect("answers a quote, a batch, a route and an exit check from the recorded state", () =>
    Effect.gen(function* () {
      const quote = yield* quoteAt(22)
      assert.strictEqual(quote.status, 200, quote.text)
      assert.strictEqual(quote.json("outAmount"), String(paidAt(22)))
      assert.strictEqual(quote.headers.get("x-ratelimit-cost"), "5")
      const quotes = yield* send("/api/v1/spot/quotes", { quotes: [trade], atSlot: 12 })
      assert.strictEqual(quotes.json("quotes.0.quote.outAmount"), String(paidAt(12)), quotes.text)
      const route = yield* send("/api/v1/route", { ...trade, atSlot: 33 })
      assert.strictEqual(route.json("outAmount"), String(paidAt(33)), route.text)
      const exit = yield* send("/api/v1/spot/exit-check", { mint: TOKEN, amount: "1000", ladder: [1], atSlot: 22 })
      assert.strictEqual(exit.status, 200, exit.text)
      assert.include(exit.text, String(paidAt(22)))
    })
  )

  it.effect("refuses a slot that is not recorded, and names the recorded ones", () =>
    Effect.gen(function* () {
      assertRefused(yield* quoteAt(27), "query")
      assertRefused(yield* send("/api/v1/route", { ...trade, atSlot: 41 }), "body")
      assert.strictEqual((yield* quoteAt("0")).status, 400)
    })
  )

  it.effect("refuses to execute programs on a past state", () =>
    Effect.map(send("/api/v1/route", { ...trade, atSlot: 22, simulate: true }), (answer) => {
      assert.strictEqual(answer.status, 400, answer.text)
      assert.include(answer.text, "simulate")
    })
  )
})

layer(running({ keys: [keyOf("a")], engine: engineOver(makeMarket()) }))("atSlot without a recording", (it) => {
  it.effect("is a 400 that says so", () =>
    Effect.map(quoteAt(22), (answer) => {
      assert.strictEqual(answer.status, 400, answer.text)
      assert.include(answer.text, "no recording")
    })
  )
})
