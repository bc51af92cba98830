import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Schedule } from "effect"
import { type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import type { HolderFigures } from "../../../src/api/schemas/TokenHolders.ts"
import type { CoverageReason } from "../../../src/domain/Scalar.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import * as SimulatedMarket from "../../../src/testing/SimulatedMarket.ts"
import { HolderReader } from "../../../src/tokens/HolderReader.ts"
import { type RawChain, readRaw } from "./rawHolders.ts"

const eventually = Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 1000 })

const readOf = Effect.fnUntraced(function* (raw: RawChain, mint: Mint) {
  const { tokenProgram } = raw.of(mint)
  const holders = yield* HolderReader
  return holders.holdersOf({ mint, tokenProgram, limit: 100, after: null, nowMs: yield* Clock.currentTimeMillis })
})

/** The raw accounts of now, once the tape has read as far. */
const settled = Effect.gen(function* () {
  const { rpcUrl } = yield* Simulator
  const tape = yield* Market
  const raw = yield* Effect.promise(() => readRaw(rpcUrl))
  yield* Effect.sync(tape.newestSlot).pipe(
    Effect.filterOrFail((newest) => newest === raw.slot),
    eventually
  )
  return raw
})

const advance = (slots: number) => Simulator.use(({ advance: make }) => Effect.andThen(make(slots), settled))

/** The complete figures of the slot of the raw accounts, which must equal them. */
const assertEqual = Effect.fnUntraced(function* (chain: RawChain, mint: Mint) {
  const figures: HolderFigures = yield* readOf(chain, mint).pipe(
    Effect.filterOrFail(({ holders, slot }) => slot === chain.slot && holders.coverage.complete),
    eventually
  )
  const raw = chain.of(mint)
  assert.strictEqual(figures.state, "followed")
  assert.strictEqual(figures.holders.value, String(raw.owners.length))
  assert.strictEqual(figures.heldAmount, raw.total)
  const amounts = new Map(raw.owners)
  assert.deepStrictEqual(
    figures.top?.map(({ amount }) => amount),
    raw.owners.slice(0, 100).map(([, amount]) => amount)
  )
  assert.isTrue(figures.top?.every(({ amount, owner }) => amounts.get(owner) === amount))
  return figures
})

const coinsOf = Simulator.useSync(({ mints }) =>
  mints()
    .map(({ address }) => address)
    .filter((mint) => mint !== SOL && mint !== USDC)
)

const market = SimulatedMarket.layerWithTrades({ seed: "holders", speed: 0, swapsPerSecond: 60, retailWallets: 30 })

layer(market, { excludeTestServices: true })("holders of a simulated chain", (it) => {
  it.effect("equal a count of the raw accounts when they are read, and after the blocks since", () =>
    Effect.gen(function* () {
      const begun = yield* advance(2)
      const all = yield* coinsOf
      const isNewer = (mint: Mint) => begun.of(mint).tokenProgram === "token-2022"
      // Of both token programs.
      const coins = [...all.slice(0, 3), ...all.filter(isNewer).slice(0, 1)]
      assert.isTrue(coins.some(isNewer))
      for (const mint of coins) {
        const { holders, retryAfterMs, state, top } = yield* readOf(begun, mint)
        assert.deepStrictEqual([state, holders.value, top], ["backfill_running", null, null])
        assert.isAbove(retryAfterMs ?? 0, 0)
      }
      const first = yield* advance(1)
      const before = yield* Effect.forEach(coins, (mint) => assertEqual(first, mint))
      const later = yield* advance(15)
      const after = yield* Effect.forEach(coins, (mint) => assertEqual(later, mint))
      assert.notDeepEqual(
        after.map(({ top }) => top),
        before.map(({ top }) => top)
      )
    })
  )

  it.effect("are read again for alerts and signals after a read that failed", () =>
    Effect.gen(function* () {
      const { faults } = yield* Simulator
      const raw = yield* settled
      const holders = yield* HolderReader
      const mint = (yield* coinsOf).at(-1) ?? SOL
      const { tokenProgram } = raw.of(mint)
      const nowMs = yield* Clock.currentTimeMillis
      const suggested = (atMs: number, reason: CoverageReason | null) =>
        Effect.sync(() => holders.suggest(mint, tokenProgram, atMs)).pipe(
          Effect.filterOrFail((lacking) => lacking === reason),
          eventually
        )
      yield* faults.set({ searches: "disabled" })
      yield* suggested(nowMs, "backfill_running")
      yield* suggested(nowMs, "not_captured")
      yield* faults.set({ searches: "ok" })
      yield* suggested(nowMs + 3_600_000, "backfill_running")
      yield* suggested(nowMs, null)
      assert.isNotNull(holders.knownOf(mint, nowMs))
    })
  )

  it.effect("are incomplete after a block that was not read, and whole again", () =>
    Effect.gen(function* () {
      const { faults, advance: make } = yield* Simulator
      const [mint = SOL] = yield* coinsOf
      const { slot } = yield* settled
      yield* faults.set({ truncatedBlocks: { from: slot + 2, to: slot + 3 } })
      const holders = yield* HolderReader
      // At every turn, because the accounts are read again at once.
      const marked = yield* Effect.map(Clock.currentTimeMillis, (nowMs) => holders.countOf(mint, nowMs)).pipe(
        Effect.tap(Effect.yieldNow),
        Effect.repeat({ until: ({ coverage }) => coverage.reason === "source_gap" }),
        Effect.forkChild({ startImmediately: true })
      )
      yield* make(20)
      assert.isNotNull((yield* Fiber.join(marked)).value)
      yield* assertEqual(yield* settled, mint)
    })
  )
})
