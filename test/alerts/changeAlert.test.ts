import { assert, describe, it } from "@effect/vitest"
import { type AlertPatch, changeAlert, type Decided, thresholdFault } from "../../src/alerts/changeAlert.ts"
import type { Observation } from "../../src/alerts/evaluate.ts"
import { type Alert, type AlertMetric, type AlertOperator, NO_TRADES } from "../../src/api/schemas/Alert.ts"
import { alertOf, START } from "./alerts.ts"

const NOW = START + 1_000_000

const alert = (other: Partial<Alert> = {}): Alert => ({
  ...alertOf("al_x"),
  status: "active",
  updatedAtMs: START,
  lastTriggeredAtMs: null,
  triggerCount: 0,
  tally: NO_TRADES,
  version: 1,
  ...other
})

const repeating = (other: Partial<Alert> = {}) => alert({ recurrence: "repeat", cooldownSeconds: 900, ...other })

const seen = (dollars: bigint): Observation => ({
  value: { numerator: dollars, denominator: 1n },
  place: 40,
  observedAtMs: NOW
})

const change = (of: Alert, patch: AlertPatch, other: Partial<Decided> = {}) =>
  changeAlert(of, patch, { now: seen(9n), place: 50, nowMs: NOW, ...other })

const fault = (metric: AlertMetric, operator: AlertOperator, threshold: string) =>
  thresholdFault({ metric, operator, threshold })?.message ?? null

describe("a change of an alert", () => {
  it("leaves fields alone that are not named", () => {
    assert.deepStrictEqual(change(alert(), { note: "new" }), { recurrence: "once", cooldownSeconds: null, note: "new" })
    assert.deepStrictEqual(change(repeating(), { expiresAtMs: null }), {
      recurrence: "repeat",
      cooldownSeconds: 900,
      expiresAtMs: null
    })
  })

  it("gives a cooldown to a repeating alert and removes it from others", () => {
    assert.deepInclude(change(alert(), { recurrence: "repeat" }), { cooldownSeconds: 300 })
    assert.deepInclude(change(alert(), { recurrence: "repeat", cooldownSeconds: 60 }), { cooldownSeconds: 60 })
    assert.deepInclude(change(repeating(), { cooldownSeconds: null }), { cooldownSeconds: 300 })
    assert.deepInclude(change(repeating(), { recurrence: "once" }), { cooldownSeconds: null })
    assert.deepInclude(change(repeating(), { recurrence: "once", cooldownSeconds: 60 }), {
      field: "cooldownSeconds",
      issue: "conflict"
    })
  })

  it("listens from now on with another threshold, armed as a new alert would be", () => {
    const condition = { ...alert().condition, threshold: "9.5" }
    assert.deepInclude(change(alert(), { threshold: "9.5" }), { armed: true, cleared: true, mark: 50, condition })
    assert.deepInclude(change(alert(), { threshold: "8" }), { armed: false, cleared: true })
    assert.deepInclude(change(alert(), { threshold: "9.5" }, { now: null }), { armed: false, cleared: true })
    assert.notProperty(change(alert(), { threshold: "10" }), "armed")
  })

  it("refuses a percentage that can never be crossed", () => {
    assert.include(fault("liquidity_drop_pct", "crosses_above", "100.01"), "at most 100 percent")
    assert.isNull(fault("liquidity_drop_pct", "crosses_above", "100"))
    assert.isNull(fault("curve_progress_pct", "crosses_above", "100"))
    assert.include(fault("top10_pct", "crosses_below", "100"), "below 100 percent")
    assert.isNull(fault("top10_pct", "crosses_below", "99.9"))
    assert.include(fault("change_pct", "falls_by", "100"), "below 100 percent")
    assert.isNull(fault("change_pct", "rises_by", "1000"))
    assert.isNull(fault("authority_changes", "crosses_above", "101"))
    const drop = { metric: "top10_pct", operator: "crosses_above", threshold: "10", windowSeconds: null } as const
    const held = alert({ condition: { ...drop, source: "swap" } })
    assert.deepInclude(change(held, { threshold: "101" }), { field: "condition.threshold", issue: "out_of_range" })
  })

  it("keeps a running cooldown: another threshold does not bypass it", () => {
    const fired = repeating({ armed: false, cleared: false, lastTriggeredAtMs: NOW - 899_999 })
    assert.deepInclude(change(fired, { threshold: "12" }), { armed: false, cleared: true })
    const rested = repeating({ armed: false, cleared: false, lastTriggeredAtMs: NOW - 900_000 })
    assert.deepInclude(change(rested, { threshold: "12" }), { armed: true })
  })

  it("does not fire after a pause for what it did not see", () => {
    const paused = alert({ status: "paused", armed: true, mark: 3 })
    assert.deepInclude(change(paused, { status: "active" }), { status: "active", armed: true, mark: 50 })
    assert.deepInclude(change(paused, { status: "active" }, { now: seen(11n) }), { armed: false, cleared: true })
    const resting = alert({ status: "paused", armed: false, cleared: false })
    assert.deepInclude(change(resting, { status: "active" }), { armed: false, cleared: false })
    assert.notProperty(change(alert(), { status: "paused" }), "armed")
  })

  it("cannot bring back a final alert, nor expire in the past or in a hundred days", () => {
    for (const status of ["triggered", "expired"] as const) {
      assert.deepInclude(change(alert({ status }), { note: "late" }), { field: "note", issue: "conflict" })
      assert.deepInclude(change(alert({ status }), { threshold: "1" }), { field: "condition.threshold" })
    }
    const tooFar = { field: "expiresAtMs", issue: "out_of_range" } as const
    assert.deepInclude(change(alert(), { expiresAtMs: NOW }), tooFar)
    assert.deepInclude(change(alert(), { expiresAtMs: NOW + 90 * 86_400_000 + 1 }), tooFar)
    assert.deepInclude(change(alert(), { expiresAtMs: NOW + 1 }), { expiresAtMs: NOW + 1 })
  })
})
