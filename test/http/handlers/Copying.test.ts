import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../../src/domain/Address.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { copyOf, START } from "../../wallets/copying/copies.ts"
import { call, running } from "../../support/http.ts"
import {
  COPY,
  copying,
  fillsNewestFirst,
  idsOf,
  keys,
  metaOf,
  MINT,
  NOW,
  OTHER,
  read,
  walk,
  warmed
} from "./copyingWorld.ts"

const ids = (query: string) => Effect.map(read("fills", query, "b"), idsOf)

layer(running({ keys, copying }))("the copy-trading reads", (it) => {
  it.effect("show a follow in full, alone and in the list", () =>
    Effect.gen(function* () {
      const follow = {
        id: "cf_one",
        leader: { wallet: addressOf(900), label: "Low Water" },
        ownedWallet: { walletId: "w_main", family: "solana", address: addressOf(901) },
        status: "active",
        sizing: { mode: "fixed", amount: "100000000", ratioPct: null, maxPerTrade: null, asset: "sol" },
        filters: { buys: true, sells: true, minLeaderUsd: null, maxMarketCapUsd: null, slippageBps: 100 },
        counts: { filled: 2, failed: 1, skipped: 1 },
        lastFillAtMs: START + 3200,
        createdAtMs: START,
        updatedAtMs: START,
        stoppedAtMs: null
      }
      yield* TestClock.setTime(NOW)
      const one = yield* call(`${COPY}/follows/cf_one`)
      assert.deepStrictEqual(JSON.parse(one.text), { data: follow, meta: metaOf(one) })
      assert.strictEqual(one.headers.get("cache-control"), "no-store")
      const list = yield* read("follows", "?status=active")
      assert.deepStrictEqual(JSON.parse(list.text), { data: [follow], nextCursor: null, meta: metaOf(list) })
      assert.deepStrictEqual(idsOf(yield* read("follows")), ["cf_end", "cf_two", "cf_one"])
    })
  )

  it.effect("show the profit of a sale, its delay and its slippage", () =>
    Effect.gen(function* () {
      const answer = yield* read("fills", "?followId=cf_one&limit=1&status=filled")
      const { leader, execution } = copyOf({ followId: "cf_one", number: 2, side: "sell", tokens: 500n, usdNanos: 0n })
      assert.deepStrictEqual(answer.json("data"), [
        {
          id: "fl_one_00002",
          followId: "cf_one",
          mint: MINT,
          side: "sell",
          status: "filled",
          reason: null,
          leader: {
            wallet: leader.wallet,
            signature: leader.signature,
            slot: leader.slot,
            atMs: leader.atMs,
            priceUsd: "0.000131",
            valueUsd: "655"
          },
          execution: {
            signature: execution?.signature,
            slot: leader.slot + 3,
            atMs: leader.atMs + 1200,
            inMint: MINT,
            inAmount: "500",
            outMint: SOL,
            outAmount: "5000000",
            priceUsd: "0.0001298",
            valueUsd: "80",
            feeUsd: "0.5"
          },
          latencyMs: 1200,
          slippageVsLeaderPct: "0.916030534351145",
          realized: "29"
        }
      ])
      assert.deepStrictEqual(answer.json("meta"), metaOf(answer))
    })
  )

  it.effect("show skipped fills without an execution, and pending ones with or without", () =>
    Effect.gen(function* () {
      const answer = yield* read("fills", "?followId=cf_one&limit=200")
      const rows = Array.from(Object(answer.json("data")), (row: Record<string, unknown>) => [
        row["status"],
        row["reason"],
        row["execution"] === null,
        row["latencyMs"],
        row["slippageVsLeaderPct"],
        row["realized"]
      ])
      assert.deepStrictEqual(rows, [
        ["pending", null, true, null, null, null],
        ["pending", null, false, 1200, "-0.916030534351145", null],
        ["skipped", "filter", true, null, null, null],
        ["failed", "slippage", true, null, null, null],
        ["filled", null, false, 1200, "0.916030534351145", "29"],
        ["filled", null, false, 1200, "-0.916030534351145", null]
      ])
    })
  )

  it.effect("choose fills by follow, mint, status and the leader's time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ids(""), fillsNewestFirst)
      assert.deepStrictEqual(yield* ids("?followId=cf_two"), ["fl_two_00007"])
      assert.deepStrictEqual(yield* ids(`?mint=${OTHER}`), ["fl_two_00007"])
      assert.deepStrictEqual(yield* ids(`?mint=${OTHER}&followId=cf_one`), [])
      assert.deepStrictEqual(yield* ids("?status=failed"), ["fl_one_00003"])
      const [from, to] = [START + 3000, START + 5000]
      assert.deepStrictEqual(yield* ids(`?sinceMs=${from}&untilMs=${to}`), fillsNewestFirst.slice(2, 5))
      assert.deepStrictEqual(yield* ids(`?sinceMs=${to}&untilMs=${to}`), ["fl_one_00005"])
    })
  )

  it.effect("page through the whole list once", () =>
    Effect.gen(function* () {
      for (const limit of [1, 3, 7]) {
        const pages = yield* walk("fills", `limit=${limit}`, "c")
        assert.deepStrictEqual(pages.flat(), fillsNewestFirst)
        assert.strictEqual(pages.length, Math.ceil(7 / limit))
      }
      assert.deepStrictEqual(yield* walk("follows", "limit=2", "c"), [["cf_end", "cf_two"], ["cf_one"]])
    })
  )

  it.effect("give the profit of copying, in all, by mint and by follow", () =>
    Effect.gen(function* () {
      const fern = {
        realized: "29",
        unrealized: "24.5",
        total: "53.5",
        costUsd: "101",
        soldCostUsd: "50.5",
        proceedsUsd: "79.5",
        feesUsd: "1.5",
        roiPct: "52.970297029703",
        fills: 2,
        wins: 1,
        losses: 0,
        unknownBasis: 0,
        openPositions: 1,
        known: {
          realized: "29",
          unrealized: "24.5",
          total: "53.5",
          costUsd: "101",
          proceedsUsd: "79.5",
          feesUsd: "1.5",
          unmarkedPositions: 0
        },
        pnlMode: "unknown-basis-null",
        coverage: { complete: true, reason: null }
      }
      const unmarked = { complete: false, reason: "mark_unknown" }
      const total = {
        ...fern,
        unrealized: null,
        total: null,
        costUsd: "202",
        roiPct: null,
        feesUsd: "2.5",
        known: {
          realized: "29",
          unrealized: "24.5",
          total: "53.5",
          costUsd: "202",
          proceedsUsd: "79.5",
          feesUsd: "2.5",
          unmarkedPositions: 1
        },
        fills: 3,
        openPositions: 2,
        coverage: unmarked
      }
      const other = {
        ...total,
        realized: "0",
        costUsd: "101",
        soldCostUsd: "0",
        proceedsUsd: "0",
        feesUsd: "1",
        roiPct: null,
        fills: 1,
        wins: 0,
        openPositions: 1,
        known: {
          realized: "0",
          unrealized: null,
          total: null,
          costUsd: "101",
          proceedsUsd: "0",
          feesUsd: "1",
          unmarkedPositions: 1
        }
      }
      const window = { window: "30d", fromMs: NOW - 30 * 86_400_000, throughMs: NOW }
      const whole = yield* read("pnl", "", "d")
      assert.deepStrictEqual(JSON.parse(whole.text), {
        data: { ...window, total, groups: [] },
        nextCursor: null,
        meta: { ...metaOf(whole), status: "partial", coverage: unmarked }
      })
      assert.include(warmed, OTHER)
      const byMint = yield* read("pnl", "?groupBy=mint", "d")
      assert.deepStrictEqual(
        byMint.json("data.groups"),
        [
          { key: MINT, label: "FERN", pnl: fern },
          { key: OTHER, label: null, pnl: other }
        ].toSorted((a, b) => (a.key < b.key ? -1 : 1))
      )
      const byFollow = yield* read("pnl", "?groupBy=follow&window=all", "d")
      assert.deepStrictEqual(byFollow.json("data"), {
        window: "all",
        fromMs: null,
        throughMs: NOW,
        total,
        groups: [
          { key: "cf_one", label: "Low Water", pnl: fern },
          { key: "cf_two", label: null, pnl: other }
        ]
      })
      assert.deepStrictEqual((yield* read("pnl", "?followId=cf_one", "d")).json("data.total"), fern)
    })
  )

  it.effect("page through groups in the window of the first page", () =>
    Effect.gen(function* () {
      const first = yield* read("pnl", "?groupBy=follow&limit=1&window=24h", "e")
      assert.strictEqual(first.json("data.groups.0.key"), "cf_one")
      const rest = `?groupBy=follow&window=24h&cursor=${first.json("nextCursor")}`
      yield* TestClock.setTime(NOW + 60_000)
      const second = yield* call(`${COPY}/pnl${rest}`, { key: "e" })
      assert.strictEqual(second.json("data.groups.0.key"), "cf_two")
      assert.isUndefined(second.json("data.groups.1"))
      assert.isNull(second.json("nextCursor"))
      assert.strictEqual(second.json("data.throughMs"), NOW)
      assert.deepStrictEqual(second.json("data.total"), first.json("data.total"))
    })
  )
})
