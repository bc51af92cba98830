import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { LighthouseAnswer, OverviewAnswer } from "../../../src/api/Market.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, reading, setSecond } from "../../support/reads.ts"
import { at, DOLLAR, priceAll } from "../../support/views.ts"

const books = makeBooks()
const keys = "abc".split("").map((letter) => keyOf(letter))
const read = (path: string, key = "a") => call(`/api/v1/market/${path}`, { key })
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const decode = <A, I>(schema: Schema.Codec<A, I>) => Schema.decodeUnknownEffect(Schema.fromJsonString(schema))

const values = (group: Record<string, { readonly value: string | null }>) =>
  Object.fromEntries(Object.entries(group).map(([name, { value }]) => [name, value]))

const now = 4000
const launch = { mint: mintOf(1), launchpad: "pump-fun", pool: null }
/** A block of so many trades, each of so many dollars. */
const traded = (second: number, count: number, dollars: bigint) =>
  block(second, {
    trades: Array.from({ length: count }, (_, n) => at(second, { index: n, volumeUsdNanos: dollars * DOLLAR }))
  })
const unknown = { total: null, buys: null, sells: null, changePct: null }

layer(reading({ books, world: { keys } }))("the whole market", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* read("lighthouse")), "503 data_unavailable")
      assert.strictEqual(code(yield* read("overview")), "503 data_unavailable")
    })
  )

  it.effect("is shown venue by venue, by what was traded in a day, and null where nothing was observed", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      priceAll(books, [])
      yield* setSecond(now)
      yield* tape.apply(block(0))
      yield* tape.apply(block(1000, { launches: [{ ...launch, event: "created" }] }))
      yield* tape.apply(
        block(now, {
          trades: [
            at(2000, { dex: "pumpswap", volumeUsdNanos: 4n * DOLLAR }),
            at(now - 400, { dex: "raydium-cpmm", volumeUsdNanos: 10n * DOLLAR }),
            at(now - 10, { dex: "raydium-cpmm", volumeUsdNanos: 25n * DOLLAR, wallet: walletOf(2) }),
            at(now - 9, { dex: "pump-fun-curve", launchpad: "pump-fun", side: "sell", volumeUsdNanos: 5n * DOLLAR }),
            at(now - 8, { mint: SOL, priceUsd: 150, dex: "orca-whirlpool", volumeUsdNanos: DOLLAR / 2n })
          ],
          launches: [{ ...launch, event: "migrated" }]
        })
      )
      const answer = yield* read("lighthouse")
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      const { data, meta } = yield* decode(LighthouseAnswer)(answer.text)
      assert.deepStrictEqual(
        data.markets.map(({ key, kind, label }) => [key, kind, label]),
        [
          ["all", "all", "All markets"],
          ["raydium-cpmm", "dex", "Raydium CPMM"],
          ["pump-fun", "launchpad", "Pump.fun"],
          ["pump-fun-curve", "dex", "Pump.fun curves"],
          ["pumpswap", "dex", "PumpSwap"],
          ["orca-whirlpool", "dex", "Orca Whirlpools"]
        ]
      )
      const [all, raydium, pump] = data.markets
      assert.deepStrictEqual(all?.stats["5m"], {
        trades: { total: 3, buys: 2, sells: 1, changePct: 200 },
        volumeUsd: { total: 30.5, buys: 25.5, sells: 5, changePct: 205 },
        traders: { total: 2, approximate: true, changePct: 100 },
        tokensCreated: { total: 0, changePct: null },
        migrations: { total: 1, changePct: null }
      })
      assert.deepInclude(all?.stats["1h"].trades, { total: 5, changePct: null })
      assert.deepStrictEqual(all?.stats["6h"].volumeUsd, unknown)
      assert.deepStrictEqual(all?.stats["24h"].traders, { total: null, approximate: true, changePct: null })
      assert.deepStrictEqual(raydium?.stats["5m"].tokensCreated, { total: null, changePct: null })
      assert.deepStrictEqual(pump?.stats["1h"].tokensCreated, { total: 1, changePct: null })
      const { requestId: _requestId, ...rest } = meta
      assert.deepStrictEqual(rest, {
        methodVersion: "public-lighthouse-v1",
        chain: "solana",
        slot: 1000 + now,
        tradersBasis: "pool_swaps",
        observedAtMs: (MONDAY + now) * 1000,
        staleAfterMs: 30_000,
        status: "partial",
        coverage: { complete: false, reason: "not_captured" },
        windowCoverage: {
          "5m": { complete: true, reason: null },
          "1h": { complete: true, reason: null },
          "6h": { complete: false, reason: "not_captured" },
          "24h": { complete: false, reason: "not_captured" }
        }
      })
    })
  )

  it.effect("gives each number with its own status", () =>
    Effect.gen(function* () {
      const answer = yield* read("overview?window=5m")
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta } = yield* decode(OverviewAnswer)(answer.text)
      assert.deepStrictEqual(values(data.activity), {
        volumeUsd: "30.5",
        buyVolumeUsd: "25.5",
        sellVolumeUsd: "5",
        trades: "3",
        buys: "2",
        sells: "1",
        traders: "2"
      })
      assert.deepStrictEqual(values(data.change), {
        volumeChangePct: "205",
        tradesChangePct: "200",
        tradersChangePct: "100"
      })
      assert.deepStrictEqual(values(data.launches), { tokensCreated: "0", migrations: "1", migrationRatePct: null })
      assert.deepStrictEqual(values(data.breadth), { advancing: "0", declining: "0", unchanged: "1" })
      assert.deepStrictEqual(values(data.reference), { solUsd: "1000", solChangePct: null })
      assert.strictEqual(data.activity.volumeUsd.status, "known")
      assert.strictEqual(data.activity.traders.coverage.reason, "budget")
      assert.strictEqual(data.change.tradersChangePct.coverage.reason, "budget")
      assert.strictEqual(data.change.volumeChangePct.status, "known")
      assert.strictEqual(data.launches.migrationRatePct.status, "unavailable")
      assert.strictEqual(meta.methodVersion, "public-overview-v1")
      // Like the lighthouse of the same swaps. The estimate of traders is marked in its own value.
      assert.strictEqual(meta.status, "known")
      assert.deepStrictEqual(
        meta.coverage,
        (yield* decode(LighthouseAnswer)((yield* read("lighthouse")).text)).meta.windowCoverage["5m"]
      )
    })
  )

  it.effect("is null and never zero in windows that were not observed in full", () =>
    Effect.gen(function* () {
      const { json } = yield* read("overview")
      assert.strictEqual(json("data.window"), "24h")
      for (const name of ["activity.trades", "activity.volumeUsd", "launches.tokensCreated", "breadth.advancing"]) {
        assert.strictEqual(json(`data.${name}.value`), null, name)
        assert.strictEqual(json(`data.${name}.status`), "unavailable", name)
        assert.strictEqual(json(`data.${name}.coverage.reason`), "not_captured", name)
      }
      const hour = yield* read("overview?window=1h")
      assert.strictEqual(hour.json("data.activity.trades.value"), "5")
      assert.strictEqual(hour.json("data.change.tradesChangePct.value"), null)
    })
  )

  it.effect("leaves out trades without a price", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 1)
      yield* tape.apply(block(now + 1, { trades: [at(now + 1, { volumeUsdNanos: null, priceUsd: null })] }))
      const overview = yield* read("overview?window=5m", "b")
      assert.strictEqual(overview.json("data.activity.buyVolumeUsd.value"), "25.5")
      assert.strictEqual(overview.json("data.activity.buyVolumeUsd.status"), "partial")
      assert.strictEqual(overview.json("data.activity.buyVolumeUsd.coverage.reason"), "mark_unknown")
      assert.strictEqual(overview.json("data.activity.sellVolumeUsd.status"), "known")
      assert.strictEqual(overview.json("data.change.volumeChangePct.coverage.reason"), "mark_unknown")
      assert.strictEqual(overview.json("data.change.tradesChangePct.status"), "known")
      const { json } = yield* read("lighthouse", "b")
      assert.strictEqual(json("meta.windowCoverage.5m.reason"), "mark_unknown")
      assert.strictEqual(json("data.markets.0.stats.5m.volumeUsd.total"), 30.5)
      assert.deepStrictEqual(overview.json("meta.coverage"), json("meta.windowCoverage.5m"))
    })
  )

  it.effect("names launchpads as discovery does, and a venue of the same name differently", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 2)
      const curve = { dex: "meteora-dbc", launchpad: "meteora-dbc" }
      yield* tape.apply(
        block(now + 2, {
          trades: [at(now + 2, { ...curve, index: 9 })],
          launches: [{ mint: mintOf(2), launchpad: "meteora-dbc", pool: null, event: "created" }]
        })
      )
      const { data } = yield* decode(LighthouseAnswer)((yield* read("lighthouse", "c")).text)
      const keys = data.markets
        .filter(({ label }) => label.startsWith("Meteora DBC"))
        .map(({ key, kind }) => [kind, key])
      assert.sameDeepMembers(keys, [
        ["launchpad", "meteora-dbc"],
        ["dex", "meteora-dbc-curve"]
      ])
      const found = yield* read("discovery?launchpad=meteora-dbc", "c")
      assert.strictEqual(found.json("data.0.launchpad"), "meteora-dbc")
    })
  )

  it.effect("reports that no launch feed is configured", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 3)
      yield* tape.apply(block(now + 3, { launches: null }))
      const overview = yield* read("overview?window=5m", "b")
      assert.strictEqual(overview.json("data.launches.migrations.value"), null)
      assert.strictEqual(overview.json("data.launches.migrations.coverage.reason"), "not_captured")
      assert.strictEqual((yield* read("lighthouse", "b")).json("data.markets.0.stats.5m.migrations.total"), null)
    })
  )

  it.effect("has values of what was seen while the chain is silent, as movement and /freshness report it", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 34)
      const silent = yield* read("lighthouse", "b")
      assert.strictEqual(silent.json("meta.status"), "partial")
      assert.strictEqual(silent.json("meta.coverage.reason"), "source_gap")
      assert.strictEqual(silent.json("data.markets.0.stats.5m.trades.changePct"), null)
      assert.isAbove(Number(silent.json("data.markets.0.stats.5m.trades.total")), 0)
      const five = silent.json("meta.windowCoverage.5m.share")
      assert.isTrue(Number(five) > 0.85 && Number(five) < 0.95, String(five))
      const overview = yield* read("overview?window=1h", "b")
      assert.strictEqual(overview.json("data.activity.trades.coverage.reason"), "source_gap")
      assert.strictEqual(overview.json("data.activity.trades.status"), "partial")
      assert.isAbove(Number(overview.json("data.activity.trades.value")), 0)
      const movement = yield* read("movement?window=5m&rank=trades&minLiquidityUsd=0", "b")
      assert.strictEqual(movement.json("meta.status"), "partial")
      assert.strictEqual(movement.json("meta.coverage.share"), five)
      assert.isAbove(Number(movement.json("data.0.trades.value")), 0)
      // Of a window of five minutes, too little is left after three.
      yield* setSecond(now + 200)
      const long = yield* read("lighthouse", "b")
      assert.deepStrictEqual(long.json("data.markets.0.stats.5m.trades"), unknown)
      assert.isAbove(Number(long.json("data.markets.0.stats.1h.trades.total")), 0)
      assert.strictEqual(long.json("meta.status"), "partial")
      yield* setSecond(now + 34)
      yield* tape.apply(block(now + 34, { afterGap: true }))
      assert.strictEqual((yield* read("lighthouse", "b")).json("meta.windowCoverage.5m.reason"), "source_gap")
    })
  )

  it.effect("has values of what was seen while old blocks are read, and none when too little was", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 600)
      yield* tape.apply(block(now + 569))
      const overview = yield* read("overview?window=5m", "c")
      assert.strictEqual(overview.json("data.activity.trades.value"), "0")
      assert.strictEqual(overview.json("data.activity.trades.status"), "partial")
      assert.strictEqual(overview.json("data.activity.trades.coverage.reason"), "backfill_running")
      assert.isBelow(Number(overview.json("data.activity.trades.coverage.share")), 269 / 300)
      assert.isAbove(Number(overview.json("data.activity.trades.coverage.share")), 0.5)
      const { json } = yield* read("lighthouse", "c")
      assert.strictEqual(json("data.markets.0.stats.5m.trades.total"), 0)
      assert.strictEqual(json("meta.windowCoverage.5m.reason"), "backfill_running")
      const chart = (query: string) => read(`chart/${SOL}?${query}`, "c")
      assert.strictEqual((yield* chart("")).json("meta.coverage.reason"), "backfill_running")
      const past = yield* chart(`from=${MONDAY + now + 240}&to=${MONDAY + now + 500}`)
      assert.strictEqual(past.json("meta.coverage.reason"), null)
      yield* setSecond(now + 800)
      yield* tape.apply(block(now + 569))
      const older = yield* read("overview?window=5m", "c")
      assert.strictEqual(older.json("data.activity.trades.value"), null)
      assert.strictEqual(older.json("data.activity.trades.coverage.share"), undefined)
      assert.deepStrictEqual((yield* read("lighthouse", "c")).json("data.markets.0.stats.5m.trades"), unknown)
      yield* tape.apply(block(now + 790))
      assert.strictEqual((yield* read("overview?window=5m", "c")).json("data.activity.trades.value"), "0")
    })
  )

  it.effect("rounds a change to the nearest hundredth of a percent", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 700)
      yield* tape.apply(traded(now + 700, 3, 5n))
      yield* setSecond(now + 1000)
      yield* tape.apply(traded(now + 1000, 5, 1n))
      const { json } = yield* read("lighthouse", "c")
      assert.strictEqual(json("data.markets.0.stats.5m.trades.changePct"), 66.67)
      assert.strictEqual(json("data.markets.0.stats.5m.volumeUsd.changePct"), -66.67)
    })
  )

  it.effect("refuses unknown parameters", () =>
    Effect.gen(function* () {
      for (const path of [
        "lighthouse?window=5m",
        "overview?window=2h",
        "overview?window=5m&window=1h",
        "overview?x=1"
      ]) {
        assert.strictEqual(code(yield* read(path, "c")), "400 invalid_request", path)
      }
    })
  )
})
