import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TrackerSnapshot, TrackerTrades } from "../../../src/api/Tracker.ts"
import type { Address } from "../../../src/domain/Address.ts"
import type { TrackerState, TrackerTrade } from "../../../src/api/schemas/Tracker.ts"
import type { FeedHealth } from "../../../src/live/FeedHealth.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { addressOf, START } from "../../callouts/callouts.ts"
import { call } from "../../support/http.ts"
import { trackerFeed, trackerTrade } from "../../support/tracker.ts"
import { assertDetail, later, listed, READS, serving, SNAPSHOT, track, TRADES, untrack } from "./trackerCalls.ts"

const [fern, moss, reed] = [addressOf(1), addressOf(2), addressOf(3)]

/** State of the feed of these tests. Each test sets it anew. */
const feedState: {
  trades: ReadonlyArray<TrackerTrade>
  seen: ReadonlyMap<Address, number>
  health: FeedHealth
  truncated: boolean
} = { trades: [], seen: new Map(), health: { ingestLagMs: null, heardAtMs: null }, truncated: false }

const feed = trackerFeed({
  health: () => feedState.health,
  lastEventAtMs: (wallet) => feedState.seen.get(wallet) ?? null,
  tradesOf: (asked, limit) => {
    const trades = feedState.trades
      .filter(({ ts, wallet }) => asked.some((one) => one.wallet === wallet && ts >= one.sinceMs))
      .slice(0, limit)
    return {
      trades,
      oldestTs: trades.at(-1)?.ts ?? null,
      newestTs: trades[0]?.ts ?? null,
      truncated: feedState.truncated && asked.length > 0
    }
  }
})

const snapshot = Effect.fnUntraced(function* (key: string, query = "") {
  const answer = yield* call(SNAPSHOT + query, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* Schema.decodeEffect(Schema.fromJsonString(TrackerSnapshot))(answer.text)
})

const trades = Effect.fnUntraced(function* (key: string, query = "") {
  const answer = yield* call(TRADES + query, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* Schema.decodeEffect(Schema.fromJsonString(TrackerTrades))(answer.text)
})

layer(serving({ trackerFeed: feed }))("GET /api/v1/tracker/snapshot", (it) => {
  it.effect("shows an account that tracks nothing its Main group, idle", () =>
    Effect.gen(function* () {
      yield* later()
      feedState.health = { ingestLagMs: 12, heardAtMs: START }
      const answer = yield* call(SNAPSHOT, { key: "a" })
      assert.deepStrictEqual(JSON.parse(answer.text), {
        groups: [{ groupId: "grp_main", name: "Main", isMain: true, walletCount: 0, createdAtMs: START }],
        wallets: [],
        status: {
          state: "idle",
          walletsTracked: 0,
          walletsLive: 0,
          walletsPending: 0,
          walletLimit: 500,
          lastEventAtMs: null,
          ingestLagMs: 12,
          observedAtMs: START
        }
      })
    })
  )

  it.effect("counts a wallet as live as soon as something was seen since it was added", () =>
    Effect.gen(function* () {
      yield* later(500)
      yield* track("b", { wallet: fern })
      yield* track("b", { wallet: moss })
      yield* track("b", { wallet: reed })
      yield* later(9000)
      feedState.health = { ingestLagMs: 640, heardAtMs: START + 8800 }
      feedState.seen = new Map([
        [fern, START + 8000],
        [moss, START - 1000],
        [reed, START]
      ])
      const { status, wallets } = yield* snapshot("b")
      assert.deepStrictEqual(status, {
        state: "live",
        walletsTracked: 3,
        walletsLive: 2,
        walletsPending: 1,
        walletLimit: 500,
        lastEventAtMs: START + 8000,
        ingestLagMs: 640,
        observedAtMs: START + 9000
      })
      const statuses = new Map(wallets.map((item) => [item.wallet, [item.status, item.lastEventAtMs]]))
      assert.deepStrictEqual(statuses.get(fern), ["live", START + 8000])
      assert.deepStrictEqual(statuses.get(moss), ["pending", null])
      assert.deepStrictEqual(statuses.get(reed), ["live", START])
      const store = yield* TrackerStore
      // The list is the same, and what the store has heard meanwhile is not lost when the feed has forgotten it.
      assert.strictEqual((yield* listed("b")).filter((item) => item["status"] === "live").length, 2)
      yield* store.recordActivity([{ wallet: moss, atMs: START + 7000 }])
      feedState.seen = new Map()
      assert.deepInclude((yield* snapshot("b")).status, { walletsLive: 1, lastEventAtMs: START + 7000 })
    })
  )

  it.effect("shows the wallets of one group, and all the groups", () =>
    Effect.gen(function* () {
      const store = yield* TrackerStore
      yield* later()
      const { groupId } = yield* store.createGroup({ accountId: "account_c", name: "Whales" })
      yield* track("c", { wallet: fern })
      yield* track("c", { wallet: moss, group: groupId })
      const { groups, status, wallets } = yield* snapshot("c", `?group=${groupId}`)
      assert.deepStrictEqual(
        groups.map(({ name, walletCount }) => [name, walletCount]),
        [
          ["Main", 1],
          ["Whales", 1]
        ]
      )
      assert.deepStrictEqual(
        wallets.map(({ wallet }) => wallet),
        [moss]
      )
      assert.strictEqual(status.walletsTracked, 1)
    })
  )

  it.effect("distinguishes a late chain from a silent one", () =>
    Effect.gen(function* () {
      yield* later(100_000)
      yield* track("d", { wallet: fern })
      const nowMs = START + 100_000
      const states: ReadonlyArray<readonly [FeedHealth, TrackerState]> = [
        [{ ingestLagMs: 5000, heardAtMs: nowMs }, "live"],
        [{ ingestLagMs: 5001, heardAtMs: nowMs }, "delayed"],
        [{ ingestLagMs: 5001, heardAtMs: nowMs - 29_999 }, "delayed"],
        [{ ingestLagMs: 100, heardAtMs: nowMs - 30_000 }, "down"],
        [{ ingestLagMs: null, heardAtMs: null }, "down"],
        [{ ingestLagMs: null, heardAtMs: nowMs }, "live"]
      ]
      for (const [health, state] of states) {
        feedState.health = health
        assert.deepInclude((yield* snapshot("d")).status, { state, ingestLagMs: health.ingestLagMs })
      }
    })
  )
})

layer(serving({ trackerFeed: feed }))("GET /api/v1/tracker/trades", (it) => {
  it.effect("shows trades as the contract has them, amounts exact and the unknown null", () =>
    Effect.gen(function* () {
      yield* later()
      yield* track("a", { wallet: fern })
      feedState.trades = [trackerTrade(fern, START + 123)]
      const { text } = yield* call(TRADES, { key: "a" })
      const signature = trackerTrade(fern, 0).signature
      assert.deepStrictEqual(JSON.parse(text), {
        count: 1,
        trades: [
          {
            type: "trade",
            eventId: `${signature}:${START + 123}`,
            wallet: fern,
            mint: fern,
            side: "buy",
            price_usd: 0.000122,
            volume_usd: 244,
            volume_sol: 1.52,
            market_cap_usd: null,
            amount: "18446744073709551615",
            decimals: 6,
            ts: START + 123,
            slot: Math.floor((START + 123) / 400),
            index: 2,
            commitment: "confirmed",
            signature,
            pool: null,
            dex: "orca",
            quotable: null,
            fees: { priorityLamports: "12345", tipLamports: "0", frontEndUsd: "1.5", frontEndLamports: null },
            symbol: null,
            name: null,
            image: null,
            imageProxyUrl: null,
            imageStatus: "missing"
          }
        ],
        oldestTs: START + 123,
        newestTs: START + 123,
        truncated: false
      })
    })
  )

  it.effect("narrows to a wallet, to a group and to a number", () =>
    Effect.gen(function* () {
      yield* later()
      const store = yield* TrackerStore
      const { groupId } = yield* store.createGroup({ accountId: "account_b", name: "Whales" })
      yield* track("b", { wallet: fern })
      yield* track("b", { wallet: moss, group: groupId })
      feedState.trades = Array.from({ length: 600 }, (_, i) =>
        trackerTrade(i % 2 === 0 ? fern : moss, START + 600_000 - i)
      )
      feedState.truncated = true
      const whole = yield* trades("b")
      assert.deepInclude(whole, { count: 100, newestTs: START + 600_000, oldestTs: START + 599_901, truncated: true })
      assert.strictEqual((yield* trades("b", "?limit=500")).trades.length, 500)
      assert.strictEqual((yield* trades("b", "?limit=1")).count, 1)
      for (const query of [`?wallet=${moss}`, `?group=${groupId}`, `?group=${groupId}&wallet=${moss}`]) {
        assert.deepStrictEqual(new Set((yield* trades("b", query)).trades.map(({ wallet }) => wallet)), new Set([moss]))
      }
      const nothing = { count: 0, trades: [], oldestTs: null, newestTs: null, truncated: false }
      for (const query of [`?wallet=${reed}`, `?group=${groupId}&wallet=${fern}`]) {
        assert.deepStrictEqual(yield* trades("b", query), nothing)
      }
      feedState.truncated = false
    })
  )

  it.effect("refuses unknown and malformed parameters", () =>
    Effect.gen(function* () {
      const wrong = [
        ["limit=0", "limit", "out_of_range"],
        ["limit=501", "limit", "out_of_range"],
        ["limit=1.5", "limit", "format"],
        ["wallet=x", "wallet", "format"],
        [`wallet=${fern}&wallet=${moss}`, "wallet", "repeated"],
        ["cursor=x", "cursor", "unknown"]
      ] as const
      for (const [query, field, issue] of wrong) {
        assertDetail(yield* call(`${TRADES}?${query}`, { key: "c" }), "query", field, issue)
      }
    })
  )
})

layer(serving({ trackerFeed: feed }))("what one account tracks", (it) => {
  it.effect("is the same for all keys of the account", () =>
    Effect.gen(function* () {
      yield* later()
      yield* track("m", { wallet: fern, label: "mine" })
      assert.deepStrictEqual(yield* listed("n"), yield* listed("m"))
      assert.strictEqual((yield* track("n", { wallet: fern })).status, 200)
      yield* untrack("n", fern)
      assert.deepStrictEqual(yield* listed("m"), [])
    })
  )

  it.effect("does not exist for another account", () =>
    Effect.gen(function* () {
      const store = yield* TrackerStore
      yield* later()
      const theirs = yield* store.createGroup({ accountId: "account_a", name: "Private" })
      yield* track("a", { wallet: fern, group: theirs.groupId, label: "secret" })
      feedState.trades = [trackerTrade(fern, START + 5000)]
      feedState.seen = new Map([[fern, START + 5000]])
      feedState.truncated = true
      yield* later(60_000)
      const without = (text: string) =>
        text
          .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gu, "ID")
          .replaceAll(theirs.groupId, "GROUP")
          .replaceAll("grp_nobody00000", "GROUP")
      for (const path of READS) {
        const asked = yield* call(`${path}?group=${theirs.groupId}`, { key: "b" })
        const absent = yield* call(`${path}?group=grp_nobody00000`, { key: "b" })
        assert.strictEqual(asked.status, 400)
        assert.strictEqual(without(asked.text), without(absent.text))
      }
      const placed = yield* track("b", { wallet: moss, group: theirs.groupId })
      const nowhere = yield* track("b", { wallet: moss, group: "grp_nobody00000" })
      assert.strictEqual(placed.status, 400)
      assert.strictEqual(without(placed.text), without(nowhere.text))
      assert.deepStrictEqual(yield* trades("b", `?wallet=${fern}`), yield* trades("b", `?wallet=${reed}`))
      assert.strictEqual((yield* untrack("b", fern)).text, (yield* untrack("b", fern)).text)
      assert.deepStrictEqual(yield* listed("b"), [])
      assert.strictEqual((yield* listed("a"))[0]?.["label"], "secret")
      // Tracking the same wallet later reveals nothing that was observed for another account before.
      assert.strictEqual((yield* track("b", { wallet: fern })).status, 201)
      assert.deepInclude((yield* listed("b"))[0], { status: "pending", lastEventAtMs: null, groups: ["grp_main"] })
      assert.strictEqual((yield* trades("b")).count, 0)
      assert.strictEqual((yield* trades("a")).count, 1)
      feedState.truncated = false
    })
  )
})
