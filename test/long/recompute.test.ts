/** The figures of the service against a recomputation that shares no code with it, on a simulated chain. */
import { assert, layer } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, Layer, Schedule } from "effect"
import { call } from "../../scripts/recompute/chain.ts"
import { checkBars, checkLiquidity, comparisons, mostTraded } from "../../scripts/recompute/check.ts"
import type { TradeRecord } from "../../scripts/recompute/record.ts"
import { compareLeaders, compareLighthouse, compareMovement, compareOverview } from "../../scripts/recompute/compare.ts"
import { compareMarketValues } from "../../scripts/recompute/compareSupply.ts"
import { makeFindings } from "../../scripts/recompute/differences.ts"
import { followChain } from "../../scripts/recompute/follow.ts"
import type { Service, WireLeader } from "../../scripts/recompute/service.ts"
import { tokenWindows, windowNames } from "../../scripts/recompute/windows.ts"
import type { Mint } from "../../src/domain/Address.ts"
import { Address } from "../../src/domain/Address.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import * as tokenActivity from "../../src/market/reads/tokenActivity.ts"
import { TopTraders } from "../../src/market/reads/TopTraders.ts"
import { PoolBook } from "../../src/quotes/pools/PoolBook.ts"
import { ChainFeed } from "../../src/chain/ChainFeed.ts"
import { layerWithTrades, Simulator } from "../../src/testing/SimulatedMarket.ts"
import { TokenReader } from "../../src/tokens/TokenReader.ts"

const SLOTS = 300
const SLOT_MS = 400

// Old enough that no block is priced by the pools of now, which no one can recompute.
const startUnixMs = Date.now() - 600_000

/** A clock that stands still, so that answers do not depend on the time that the test takes. */
const clockAt = (ms: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => ms,
  currentTimeMillis: Effect.succeed(ms),
  currentTimeNanosUnsafe: () => BigInt(ms) * 1_000_000n,
  currentTimeNanos: Effect.succeed(BigInt(ms) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => BigInt(ms) * 1_000_000n,
  monotonicTimeNanos: Effect.succeed(BigInt(ms) * 1_000_000n),
  sleep: () => Effect.never
})

/** A screen without filters. */
const ANY = {
  mints: null,
  launchpads: null,
  platforms: null,
  venues: null,
  creator: null,
  graduated: null,
  mintAuthority: null,
  freezeAuthority: null
}

const NOTHING = { numerator: 0n, denominator: 1n }

const mintOf = (mint: string) => Address.make(mint)

/** The reads of the service in this process, as its callers get them, at a time. */
const readsAt = (ms: number) =>
  Effect.gen(function* () {
    const [reader, traders, tokens] = [yield* MarketReader, yield* TopTraders, yield* TokenReader]
    const tape = yield* Market
    const context = yield* Effect.context<never>()
    const run = <A, E>(read: Effect.Effect<A, E>) =>
      Effect.runPromiseWith(context)(Effect.provideService(read, Clock.Clock, clockAt(ms)))
    const service: Service = {
      newestSlot: async () => tape.newestSlot(),
      bars: (mint, { denom, from, pool, resolution, to }) =>
        run(
          Effect.map(
            reader.chart(mintOf(mint), {
              resolution: resolution as "1m",
              denom,
              mode: "price",
              from,
              to,
              limit: 1500,
              ...(pool === undefined ? {} : { pool: mintOf(pool) })
            }),
            ({ data }) => data.bars
          )
        ),
      marketValues: (mint, { denom, from, resolution, to }) =>
        run(
          Effect.map(
            reader.chart(mintOf(mint), { resolution: resolution as "1m", denom, mode: "mcap", from, to, limit: 1500 }),
            ({ data, knowledge }) => ({ bars: data.bars, supply: knowledge.supply })
          )
        ),
      movement: (window, rank) =>
        run(
          Effect.map(
            reader.movement(
              { window, rank: rank as "volume", minLiquidityUsd: NOTHING, minVolumeUsd: NOTHING },
              { limit: 200, pin: null }
            ),
            ({ data }) => data
          )
        ),
      screen: ({ ranges, show, sort }) =>
        run(
          Effect.map(
            reader.screen(
              {
                ...ANY,
                ranges: ranges.map(({ min, statistic }) => ({
                  statistic: statistic as "trades.5m",
                  min: { numerator: BigInt(min), denominator: 1n },
                  max: null,
                  takesUnknown: false
                })),
                sort: sort as { readonly statistic: "trades.5m"; readonly direction: "desc" },
                show: show as ReadonlyArray<"trades.5m">
              },
              { limit: 200, pin: null }
            ),
            ({ data }) => data
          )
        ),
      overview: (window) => run(Effect.map(reader.overview(window), ({ data }) => data)),
      lighthouse: () => run(Effect.map(reader.lighthouse, ({ data }) => data.markets)),
      topTraders: (mint, window) =>
        run(Effect.map(traders.rank({ mint: mintOf(mint), window, limit: 10_000, pin: null }), ({ rows }) => rows)),
      leaders: (window, sort) =>
        run(
          Effect.map(
            reader.leaders({ window, sort, minKnownPct: 0, minTrades: 1, limit: 100, pin: null }),
            ({ rows, slot, wallets }) => ({ rows, wallets, slot })
          )
        ),
      liquidity: (mint) => run(Effect.map(tokens.liquidityOf(mintOf(mint), 50), ({ data }) => data.pools)),
      liquidityEvents: async () => [],
      holders: (mint) => run(Effect.map(tokens.holdersOf(mintOf(mint), 100), ({ data }) => data)),
      holderHistory: async () => [],
      prices: (mints) =>
        run(
          Effect.map(tokens.pricesOf(mints.map(mintOf)), ({ data }) => {
            return new Map(data.map(({ mint, priceUsd }) => [String(mint), priceUsd.value]))
          })
        )
    }
    return service
  })

/**
 * Waits until every pool of these mints is in memory, as the chain is now. Prices are those of the time that is compared: by the
 * clock they expire, since no slot follows.
 */
const poolsLoaded = (
  { now, record }: { readonly now: number; readonly record: TradeRecord },
  mints: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const [book, feed, tokens] = [yield* PoolBook, yield* ChainFeed, yield* TokenReader]
    const newest = record.pools.at(-1)?.slot ?? 0
    yield* tokens.pricesOf(mints.map(mintOf)).pipe(
      Effect.provideService(Clock.Clock, clockAt(now * 1000 + 1000)),
      Effect.filterOrFail(
        ({ data }) =>
          data.every(({ mint, priceUsd }) => priceUsd.value !== null && book.isLoaded(mint)) &&
          feed.freshness().slot >= newest
      ),
      Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 1000 })
    )
  })

/** The chain, read by the service and by the recomputation. */
const bothRead = Effect.gen(function* () {
  const [simulator, tape] = [yield* Simulator, yield* Market]
  const newestSlot = Number(yield* Effect.promise(() => call(simulator.rpcUrl, "getSlot", [])))
  const chain = followChain(simulator.rpcUrl, newestSlot - 2 * SLOTS)
  yield* Effect.promise(() => chain.readOn())
  const newest = chain.blocks.at(-1)?.slot ?? 0
  yield* Effect.sleep("20 millis").pipe(Effect.repeat({ until: () => tape.newestSlot() >= newest, times: 5000 }))
  const found = chain.after(undefined, true)
  return { found, rpc: simulator.rpcUrl, service: yield* readsAt(found.now * 1000 + 1000), tape }
})

const services = Layer.mergeAll(TopTraders.layer, TokenReader.layer.pipe(Layer.provide(tokenActivity.layer))).pipe(
  Layer.provideMerge(layerWithTrades({ seed: "recompute", speed: 0, swapsPerSecond: 12, startUnixMs })),
  // Two minutes of a day are compared, too.
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ MIN_COVERAGE: "0.0001" })))
)

layer(services, { timeout: "2 minutes", excludeTestServices: true })("an independent recomputation", (it) => {
  it.effect("is of a chain with every venue", () =>
    Effect.gen(function* () {
      yield* (yield* Simulator).advance(SLOTS)
      const { found } = yield* bothRead
      assert.isAbove(found.record.pools.length, 1000)
      assert.isAbove(found.record.wallets.length, 500)
      assert.strictEqual(found.record.unknown.size, 0)
      assert.strictEqual(found.record.unexplained.size, 0)
      assert.isAbove(new Set(found.record.pools.map(({ program }) => program)).size, 7)
      assert.approximately(found.now - (found.record.pools[0]?.second ?? 0), (SLOTS * SLOT_MS) / 1000, 5)
    })
  )

  it.effect("finds the same windows, rankings, totals and top traders", () =>
    Effect.gen(function* () {
      const { found, service } = yield* bothRead
      const findings = makeFindings()
      const mints = mostTraded(found.record, 40)
      yield* poolsLoaded(found, mints)
      for (const compare of comparisons(mints)) {
        yield* Effect.promise(() => compare(service, found, findings))
      }
      assert.deepStrictEqual(findings.differences.slice(0, 10), [])
      assert.isAbove(findings.compared.get("leaders") ?? 0, 300)
      assert.isAbove(findings.compared.get("windows") ?? 0, 300)
      assert.isAbove(findings.compared.get("ranks") ?? 0, 100)
      assert.isAbove(findings.compared.get("screens") ?? 0, 100)
      assert.isAbove(findings.compared.get("totals") ?? 0, 100)
      assert.isAbove(findings.compared.get("traders") ?? 0, 1000)
      assert.isAbove(findings.compared.get("pool volumes") ?? 0, 30)
      assert.isAbove(findings.compared.get("market values") ?? 0, 10)
    })
  )

  it.effect("finds the same purchases, sales and first prices of every window", () =>
    Effect.gen(function* () {
      const { found, tape } = yield* bothRead
      // As if every token had been created in the record: its change is then from its first price.
      const created = Array.from(new Set(found.record.pools.map(({ mint }) => mint)), (mint) => ({
        event: "created" as const,
        launchpad: "pump-fun",
        mint,
        pool: mint,
        creator: null,
        second: found.now,
        slot: 0
      }))
      for (const name of windowNames) {
        const windows = tokenWindows({ ...found.record, launches: created }, name, found.now)
        assert.isAbove(windows.length, 10)
        for (const { buys, launch, mint, sells, start, traders, unpriced } of windows) {
          const own = tape.state.window(mint as Mint, name)
          assert.deepStrictEqual(
            [own?.buys, own?.sells, own?.unpriced, own?.traders],
            [buys, sells, unpriced, traders],
            `${name} ${mint}`
          )
          assert.strictEqual(own?.startPrice === null, start === null)
          assert.approximately(own?.startPrice ?? 0, start ?? 0, 1e-12 * (start ?? 1))
          assert.approximately(own?.firstPrice ?? 0, launch ?? 0, 1e-12 * (launch ?? 1))
        }
      }
    })
  )

  it.effect("finds the same candles, of tokens and of single pools", () =>
    Effect.gen(function* () {
      const { found, service } = yield* bothRead
      const findings = makeFindings()
      const mints = mostTraded(found.record, 12)
      yield* Effect.promise(() => checkBars(service, found, findings, mints))
      assert.deepStrictEqual(findings.differences.slice(0, 10), [])
      assert.isAbove(findings.compared.get("bars") ?? 0, 2000)
    })
  )

  it.effect("finds the same reserves in the vaults, and their value", () =>
    Effect.gen(function* () {
      const { found, rpc, service } = yield* bothRead
      const mints = mostTraded(found.record, 12)
      yield* poolsLoaded(found, mints)
      const findings = makeFindings()
      const moving = yield* Effect.promise(() => checkLiquidity(service, rpc, found.record, findings, mints))
      assert.deepStrictEqual(findings.differences.slice(0, 10), [])
      assert.strictEqual(moving, 0)
      assert.isAbove(findings.compared.get("liquidity") ?? 0, 60)
    })
  )

  it.effect("reports a figure that differs", () =>
    Effect.gen(function* () {
      const { found, service } = yield* bothRead
      const findings = makeFindings()
      const [first, ...rest] = found.record.pools.toReversed()
      assert.isDefined(first)
      const record = { ...found.record, pools: rest.toReversed() }
      yield* Effect.promise(() => compareMovement(service, { ...found, record }, findings, "5m", "volume"))
      assert.isAbove(findings.differences.length, 0)
      assert.include(findings.differences.map(({ field }) => field).join(), "trades")

      const [mint = ""] = mostTraded(found.record, 1)
      const at = { creator: null, second: found.now, slot: 0 }
      const launch = { event: "created", launchpad: "pump-fun", mint, pool: mint, ...at } as const
      const launched = makeFindings()
      const young = { ...found, record: { ...found.record, launches: [launch] } }
      yield* Effect.promise(() => compareMovement(service, young, launched, "24h", "volume"))
      assert.include(launched.differences.map(({ field }) => field).join(), "changeSince")
      const burned = { ...found.record, supply: [{ mint, slot: 1, second: found.now, change: -1_000_000_000n }] }
      const values = makeFindings()
      yield* Effect.promise(() => compareMarketValues(service, { ...found, record: burned }, values, mint))
      assert.deepStrictEqual([...new Set(values.differences.map(({ field }) => field))], ["close"])

      const leaderFields = async (change: (row: WireLeader) => WireLeader) => {
        const own = makeFindings()
        const leaders: Service["leaders"] = async (window, sort) => {
          const { rows, ...known } = await service.leaders(window, sort)
          return { rows: rows.map((row, place) => (place === 0 ? change(row) : row)), ...known }
        }
        await compareLeaders({ ...service, leaders }, found, own, "1h", "volume")
        return own.differences.map(({ field }) => field)
      }
      const changed: ReadonlyArray<readonly [string, (row: WireLeader) => WireLeader]> = [
        ["buys", (row) => ({ ...row, buys: row.buys + 1 })],
        ["knownVolumeUsd", (row) => ({ ...row, knownVolumeUsd: "1" })],
        ["knownUsd", (row) => ({ ...row, realized: { ...row.realized, knownUsd: "1" } })],
        ["costUsd", (row) => ({ ...row, realized: { ...row.realized, costUsd: "1" } })],
        ["roiPct", (row) => ({ ...row, realized: { ...row.realized, roiPct: "123" } })],
        ["knownSharePct", (row) => ({ ...row, realized: { ...row.realized, knownSharePct: "123" } })],
        ["place", (row) => ({ ...row, wallet: mint })]
      ]
      for (const [field, change] of changed) {
        assert.deepStrictEqual(yield* Effect.promise(() => leaderFields(change)), [field])
      }
    })
  )

  it.effect("leaves a window out that began before the record, where the service states nothing of it", () =>
    Effect.gen(function* () {
      const { found, service } = yield* bothRead
      const overview: Service["overview"] = async (window) => {
        const stated = await service.overview(window)
        const trades = { ...stated.activity.trades, value: null }
        return { ...stated, activity: { ...stated.activity, trades } }
      }
      const unstated: Service = { ...service, overview, movement: async () => [], lighthouse: async () => [] }
      const differencesOf = async (of: typeof found) => {
        const findings = makeFindings()
        await compareOverview(unstated, of, findings, "1h")
        await compareLighthouse(unstated, of, findings, "1h", ["all"])
        await compareMovement(unstated, of, findings, "1h", "volume")
        return Array.from(new Set(findings.differences.map((each) => each.of)))
      }
      assert.deepStrictEqual(yield* Effect.promise(() => differencesOf(found)), [])
      const covered = { ...found, from: found.now - 7200 }
      assert.deepStrictEqual(yield* Effect.promise(() => differencesOf(covered)), [
        "overview 1h",
        "lighthouse all 1h",
        "volume 1h"
      ])
    })
  )
})
