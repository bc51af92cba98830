import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { TokenRiskAnswer } from "../../../src/api/Tokens.ts"
import { signalCodes } from "../../../src/api/schemas/TokenSignals.ts"
import { COMPLETE, unavailable } from "../../../src/domain/Scalar.ts"
import { HolderReader, unknownFigures } from "../../../src/tokens/HolderReader.ts"
import { LaunchReader } from "../../../src/tokens/risk/LaunchReader.ts"
import { at } from "../../quotes/toyChain.ts"
import { type Answer, running } from "../../support/http.ts"
import { COLD, eventually, makeTokenWorld, PLAIN, pools, TOKEN, tokensOver } from "../../support/tokens.ts"
import { classicMint } from "../../tokens/mints.ts"
import { keys, risk } from "./tokenCalls.ts"

const LP = at(70)
const [CREATOR, BUYER, OTHER] = [at(71), at(72), at(73)]
const DAY = 86_400_000

const world = makeTokenWorld()
const all = world.pools.pools.map((pool) =>
  pool.address === pools.SOL_POOL ? { ...pool, lp: { mint: LP, issued: 1000n } } : pool
)
const valued = all.filter(({ address }) => address !== pools.ODD_POOL)
world.pools.pools = valued
world.chain.put(classicMint(LP, { supply: 40n, slot: 70 }))

const amounts = new Map([
  [CREATOR, 60n],
  [BUYER, 30n],
  [OTHER, 10n]
])
const suggested: Array<string> = []
const holders = Layer.succeed(HolderReader, {
  historyOf: () => Effect.die("not asked"),
  holdersOf: () => unknownFigures("not_captured"),
  countOf: () => unavailable("count", "not_captured"),
  suggest: (mint) => {
    suggested.push(mint)
    return mint === TOKEN ? null : "limit_clipped"
  },
  knownOf: (mint, nowMs) =>
    mint === TOKEN
      ? {
          total: 1000n,
          holders: 3,
          amountOf: (owner) => amounts.get(owner) ?? 0n,
          largest: () => 100n,
          poolCoverage: COMPLETE,
          life: { observedAtMs: nowMs, expiresAtMs: nowMs + 60_000 },
          slot: 76,
          lacking: null
        }
      : null
})
const launches = Layer.succeed(LaunchReader, {
  launchOf: () =>
    Effect.succeed({
      creator: CREATOR,
      buyers: [CREATOR, BUYER, OTHER].map((wallet) => ({ wallet, slot: 5, signature: "tx", afterMs: 0 })),
      isCut: false,
      coverage: COMPLETE
    })
})

const tokens = tokensOver(world).pipe(Layer.provide([holders, launches]))
const signal = (answer: Answer, code: (typeof signalCodes)[number]) =>
  answer.json(`data.signals.${signalCodes.indexOf(code)}`) as Record<string, unknown>

layer(running({ keys, tokens }))("measured signals of GET /api/v1/tokens/{chain}/{address}/risk", (it) => {
  it.effect("come from holders, the launch and the LP tokens of the largest pool", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const answer = yield* eventually(risk(TOKEN), (each) => each.json("data.signals.4.measure.value") !== null)
      yield* Schema.decodeUnknownEffect(Schema.fromJsonString(TokenRiskAnswer))(answer.text)
      assert.deepInclude(signal(answer, "top10_concentration"), { state: "absent", thresholdPct: "30" })
      assert.deepInclude(signal(answer, "creator_share"), { state: "present" })
      assert.deepInclude(signal(answer, "bundled_buyers"), { state: "absent", source: "launch-trades" })
      assert.deepStrictEqual(answer.json("data.signals.3.proof"), {
        slot: 76,
        part: "40",
        total: "1000",
        addresses: [BUYER, OTHER],
        signatures: ["tx"]
      })
      assert.deepInclude(signal(answer, "lp_not_burnt"), { state: "absent", source: "lp-mint" })
      assert.deepStrictEqual(answer.json("data.signals.4.measure"), {
        value: "4",
        unit: "percent",
        status: "known",
        observedAtMs: 1000,
        expiresAtMs: 1000 + DAY,
        coverage: { complete: true, reason: null }
      })
      assert.deepStrictEqual(answer.json("data.signals.4.proof.addresses"), [pools.SOL_POOL, LP])
      assert.strictEqual(answer.json("data.tags.length"), 10)

      // A pool without a value may be the largest one.
      world.pools.pools = all
      const unsure = yield* risk(TOKEN)
      world.pools.pools = valued
      assert.deepInclude(signal(unsure, "lp_not_burnt"), { state: "unknown" })
      assert.deepInclude(unsure.json("data.signals.4.measure"), { value: "4", status: "partial" })
    })
  )

  it.effect(
    "are unknown of a token whose holders are not followed, which it suggests, and whose pools are not loaded",
    () =>
      Effect.gen(function* () {
        const answer = yield* eventually(risk(COLD), () => suggested.includes(COLD))
        assert.deepInclude(signal(answer, "top10_concentration"), { state: "unknown", proof: null })
        assert.strictEqual(answer.json("data.signals.0.measure.coverage.reason"), "limit_clipped")
        assert.strictEqual(answer.json("data.signals.4.measure.coverage.reason"), "backfill_running")
        assert.isTrue(world.pools.warmed.has(COLD))
      })
  )

  it.effect("have no LP tokens of a pool without any", () =>
    Effect.gen(function* () {
      const answer = yield* risk(PLAIN)
      assert.deepInclude(signal(answer, "lp_not_burnt"), { state: "unknown", source: "none" })
      assert.strictEqual(answer.json("data.signals.4.measure.coverage.reason"), "not_captured")
    })
  )
})
