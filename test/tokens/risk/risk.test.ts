import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TokenRisk } from "../../../src/api/schemas/TokenRisk.ts"
import type { MintAudit } from "../../../src/tokens/AuditReader.ts"
import { riskOf } from "../../../src/tokens/risk/risk.ts"
import { at } from "../../quotes/toyChain.ts"

const MINT = at(10)
const DAY = 86_400_000
const OBSERVED = 1_700_000_000_000

const audit: MintAudit = {
  tokenProgram: "spl-token",
  mintAuthority: at(1),
  freezeAuthority: null,
  slot: 5,
  observedAtMs: OBSERVED,
  commitment: "confirmed"
}

const tagOf = (risk: Omit<TokenRisk, "signals">, code: string) => risk.tags.find((tag) => tag.code === code)

const unknownCodes = [
  "concentrated_top10",
  "developer_holding",
  "developer_sold_all",
  "sniper_holding",
  "insider_holding",
  "bundled_holding",
  "suspected_wash_volume",
  "lp_not_burned"
]

const assertAllUnknown = (risk: Omit<TokenRisk, "signals">) => {
  assert.strictEqual(risk.tags.length, 10)
  for (const { coverage, state, status, value } of risk.tags) {
    assert.strictEqual(state, "unknown")
    assert.isNull(value)
    assert.include(["stale", "unavailable"], status)
    assert.isFalse(coverage.complete)
    assert.isNotNull(coverage.reason)
  }
  assert.isTrue(Object.values(risk.facts).every((fact) => fact === null))
}

describe("riskOf", () => {
  it("derives the two authority signals from a proof, and leaves the rest unknown", () => {
    const risk = riskOf(MINT, audit, OBSERVED + 1)
    assert.deepInclude(risk, { chain: "solana", address: MINT, modelVersion: "public-risk-v1" })
    assert.deepStrictEqual(tagOf(risk, "mint_authority_active"), {
      code: "mint_authority_active",
      state: "present",
      severity: "warning",
      value: true,
      unit: "boolean",
      status: "known",
      source: "mint-account",
      methodVersion: "public-token-v1",
      observedAtMs: OBSERVED,
      staleAfterMs: DAY,
      coverage: { complete: true, reason: null }
    })
    assert.deepInclude(tagOf(risk, "freeze_authority_active"), { state: "absent", value: false, status: "known" })
    for (const code of unknownCodes) {
      assert.deepInclude(tagOf(risk, code), {
        state: "unknown",
        value: null,
        status: "unavailable",
        observedAtMs: null,
        staleAfterMs: null
      })
    }
    assert.strictEqual(risk.tags.length, 10)
    assert.strictEqual(new Set(risk.tags.map(({ code }) => code)).size, 10)
  })

  it("repeats the value of each tag as a fact, and gives no score", () => {
    const risk = riskOf(MINT, audit, OBSERVED)
    for (const { code, value } of risk.tags) {
      assert.strictEqual(risk.facts[code], value)
    }
    assert.sameMembers(Object.keys(risk.facts), ["mint_authority_active", "freeze_authority_active", ...unknownCodes])
    assert.sameMembers(Object.keys(risk), ["chain", "address", "modelVersion", "facts", "tags"])
  })

  it("knows an authority until exactly a day after its observation, and keeps the time of the observation", () => {
    assert.strictEqual(riskOf(MINT, audit, OBSERVED + DAY).facts.mint_authority_active, true)
    const risk = riskOf(MINT, audit, OBSERVED + DAY + 1)
    assertAllUnknown(risk)
    assert.deepInclude(tagOf(risk, "freeze_authority_active"), {
      status: "stale",
      observedAtMs: OBSERVED,
      staleAfterMs: DAY,
      coverage: { complete: false, reason: "source_stale" }
    })
  })

  const unproven: ReadonlyArray<readonly [string, MintAudit | null]> = [
    ["there is no audit", null],
    ["it could be rolled back", { ...audit, commitment: "processed" }],
    ["it has no time", { ...audit, observedAtMs: null }],
    ["its time is nothing", { ...audit, observedAtMs: 0 }],
    ["it has no slot", { ...audit, slot: 0 }],
    ["its program is not a token program", { ...audit, tokenProgram: null }]
  ]

  for (const [why, given] of unproven) {
    it(`is unknown when ${why}`, () => {
      const risk = riskOf(MINT, given, OBSERVED)
      assertAllUnknown(risk)
      assert.isTrue(risk.tags.every(({ observedAtMs }) => observedAtMs === null))
    })
  }

  it("accepts a finalized account of Token-2022 as well", () => {
    const given = { ...audit, commitment: "finalized", tokenProgram: "token-2022" } as const
    assert.strictEqual(riskOf(MINT, given, OBSERVED).facts.mint_authority_active, true)
  })

  const Audit = Schema.NullOr(
    Schema.Struct({
      tokenProgram: Schema.NullOr(Schema.Literals(["spl-token", "token-2022"])),
      mintActive: Schema.Boolean,
      freezeActive: Schema.Boolean,
      slot: Schema.Literals([0, 1, 7]),
      observedAtMs: Schema.NullOr(Schema.Literals([0, OBSERVED])),
      commitment: Schema.Literals(["processed", "confirmed", "finalized"])
    })
  )
  const Age = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 * DAY }))
  const isRisk = Schema.is(TokenRisk)

  it.effect.prop("never exceeds the proof", [Audit, Age], ([drawn, age]) =>
    Effect.sync(() => {
      const given = drawn && {
        ...drawn,
        mintAuthority: drawn.mintActive ? at(1) : null,
        freezeAuthority: drawn.freezeActive ? at(2) : null
      }
      const risk = riskOf(MINT, given, OBSERVED + age)
      assert.isTrue(isRisk({ ...risk, signals: [] }))
      for (const { coverage, state, status, value } of risk.tags) {
        assert.strictEqual(state === "unknown", value === null)
        assert.strictEqual(state === "present", value === true)
        assert.strictEqual(status === "known", value !== null)
        assert.strictEqual(coverage.complete, value !== null)
        assert.isTrue(value === null || age <= DAY)
      }
    })
  )
})
