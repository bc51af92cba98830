import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import { RiskSignal, type SignalCode, signalCodes } from "../../../src/api/schemas/TokenSignals.ts"
import { COMPLETE, incomplete } from "../../../src/domain/Scalar.ts"
import type { KnownHoldings } from "../../../src/tokens/HolderReader.ts"
import { NO_LAUNCH, type TokenLaunch } from "../../../src/tokens/risk/LaunchReader.ts"
import { type LpHoldings, type SignalSources, signalsOf } from "../../../src/tokens/risk/signals.ts"
import { at } from "../../quotes/toyChain.ts"

const NOW = 1000
const life = { observedAtMs: 900, expiresAtMs: 2000 }

const holdings = (amounts: Readonly<Record<string, bigint>>, changes: Partial<KnownHoldings> = {}): KnownHoldings => {
  const sorted = Object.values(amounts).toSorted((a, b) => (a < b ? 1 : -1))
  return {
    total: 1000n,
    holders: sorted.length,
    amountOf: (owner) => amounts[owner] ?? 0n,
    largest: (count) => sorted.slice(0, count).reduce((sum, each) => sum + each, 0n),
    poolCoverage: COMPLETE,
    life,
    slot: 77,
    lacking: null,
    ...changes
  }
}

const purchase = (wallet: Address, slot: number, afterMs = 0) => ({ wallet, slot, afterMs, signature: `tx${slot}` })
const launch = (changes: Partial<TokenLaunch>): TokenLaunch => ({
  creator: at(1),
  buyers: [],
  isCut: false,
  coverage: COMPLETE,
  ...changes
})
const lp = (changes: Partial<LpHoldings> = {}): LpHoldings => ({
  pool: at(20),
  mint: at(21),
  issued: 1000n,
  supply: 1000n,
  slot: 70,
  life,
  lacking: null,
  ...changes
})

const NOTHING: SignalSources = { holdings: "backfill_running", launch: NO_LAUNCH, lp: "not_captured" }
const isSignal = Schema.is(RiskSignal)

const signal = (code: SignalCode, sources: Partial<SignalSources>, nowMs = NOW): RiskSignal => {
  const all = signalsOf({ ...NOTHING, ...sources }, nowMs)
  assert.deepStrictEqual(
    all.map((each) => each.code),
    [...signalCodes]
  )
  assert.isTrue(all.every(isSignal))
  return all.find((each) => each.code === code) as RiskSignal
}

describe("measured signals", () => {
  it("are unknown without observations, with the reason", () => {
    for (const code of signalCodes) {
      const { measure, proof, source, state } = signal(code, {})
      assert.deepStrictEqual(
        [state, source, proof, measure.value, measure.status],
        ["unknown", "none", null, null, "unavailable"]
      )
    }
    assert.strictEqual(signal("top10_concentration", {}).measure.coverage.reason, "backfill_running")
    assert.strictEqual(signal("lp_not_burnt", {}).measure.coverage.reason, "not_captured")
  })

  it.each([
    [299n, "29.9", "absent"],
    [300n, "30", "present"]
  ] as const)("compare the concentration of %s of 1000 with the threshold", (amount, value, state) => {
    const found = signal("top10_concentration", { holdings: holdings({ a: amount }) })
    assert.deepInclude(found, { state, thresholdPct: "30", source: "token-accounts" })
    assert.deepInclude(found.measure, { value, observedAtMs: 900, expiresAtMs: 2000, status: "known" })
    assert.deepInclude(found.proof, { slot: 77, part: amount, total: 1000n })
  })

  it("are unknown when the holdings or the list of pools are incomplete, with the partial value", () => {
    const gap = signal("top10_concentration", { holdings: holdings({ a: 900n }, { lacking: "source_gap" }) })
    assert.deepInclude(gap, { state: "unknown" })
    assert.deepInclude(gap.measure, { value: "90", status: "partial", coverage: incomplete("source_gap") })
    const poolCoverage = incomplete("limit_clipped")
    const cut = signal("top50_concentration", { holdings: holdings({ a: 900n }, { poolCoverage }) })
    assert.deepInclude(cut, { state: "unknown" })
    assert.deepInclude(signal("top10_concentration", { holdings: holdings({}, { total: 0n }) }), { state: "unknown" })
  })

  it("expire", () => {
    const sources = { holdings: holdings({ a: 900n }), lp: lp() }
    assert.strictEqual(signal("top10_concentration", sources, 2000).state, "present")
    for (const code of ["top10_concentration", "lp_not_burnt"] as const) {
      const late = signal(code, sources, 2001)
      assert.deepInclude(late, { state: "unknown" })
      assert.deepInclude(late.measure, { value: null, status: "stale" })
    }
  })

  it("have the creator's share when the creator is known", () => {
    const held = holdings({ [at(1)]: 50n, [at(2)]: 900n })
    const found = signal("creator_share", { holdings: held, launch: launch({}) })
    assert.deepInclude(found, { state: "present" })
    assert.deepInclude(found.measure, { value: "5" })
    assert.deepInclude(found.proof, { part: 50n, addresses: [at(1)] })
    assert.strictEqual(signal("creator_share", { holdings: holdings({}), launch: launch({}) }).state, "absent")
    assert.strictEqual(signal("creator_share", { holdings: held, launch: launch({ creator: null }) }).state, "unknown")
  })

  describe("of first buyers", () => {
    const held = holdings({ [at(1)]: 500n, [at(2)]: 30n, [at(3)]: 25n, [at(4)]: 400n })
    const of = (changes: Partial<TokenLaunch>) => signal("bundled_buyers", { holdings: held, launch: launch(changes) })

    it("add up the wallets of the first slot without the creator", () => {
      const buyers = [purchase(at(1), 5), purchase(at(2), 5), purchase(at(3), 5), purchase(at(4), 6)]
      const found = of({ buyers })
      assert.deepInclude(found, { state: "present", source: "launch-trades" })
      assert.deepInclude(found.measure, { value: "5.5", status: "known" })
      assert.deepInclude(found.proof, { part: 55n, addresses: [at(2), at(3)], signatures: ["tx5"] })
    })

    it("are absent for a single wallet, for later purchases and for none", () => {
      for (const buyers of [
        [purchase(at(4), 5), purchase(at(2), 6)],
        [purchase(at(4), 9, 1000), purchase(at(2), 9, 1000)],
        []
      ]) {
        const found = of({ buyers })
        assert.deepInclude(found, { state: "absent" })
        assert.deepInclude(found.measure, { value: "0" })
      }
    })

    it("are unknown when the purchases are unknown or the list ends within the slot", () => {
      const coverage = incomplete("limit_clipped")
      assert.strictEqual(of({ buyers: null, coverage }).measure.coverage.reason, "limit_clipped")
      assert.strictEqual(of({ buyers: [purchase(at(2), 5), purchase(at(3), 5)], isCut: true }).state, "unknown")
      assert.strictEqual(of({ buyers: [purchase(at(2), 5)], coverage }).state, "unknown")
      const sources = { holdings: "backfill_running", launch: launch({ buyers: [] }) } as const
      assert.strictEqual(signal("bundled_buyers", sources).measure.coverage.reason, "backfill_running")
    })
  })

  it.each([
    [1000n, "100", "present"],
    [50n, "5", "present"],
    [49n, "4.9", "absent"],
    [0n, "0", "absent"],
    [1200n, "100", "present"]
  ] as const)("have the share of LP tokens that are not burnt out of a supply of %s", (supply, value, state) => {
    const found = signal("lp_not_burnt", { lp: lp({ supply }) })
    assert.deepInclude(found, { state, source: "lp-mint" })
    assert.deepInclude(found.measure, { value })
    assert.deepInclude(found.proof, { slot: 70, total: 1000n, addresses: [at(20), at(21)] })
  })

  it("are unknown when the largest pool is not certain", () => {
    assert.strictEqual(signal("lp_not_burnt", { lp: lp({ lacking: "mark_unknown" }) }).state, "unknown")
  })
})
