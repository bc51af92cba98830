import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  begin,
  beginArmed,
  canMove,
  evaluate,
  isPast,
  type Observation,
  resume,
  type Rule,
  spanOf,
  triggerOf
} from "../../src/alerts/evaluate.ts"
import type { AlertOperator, Watch } from "../../src/api/schemas/Alert.ts"
import { fractionOf } from "../../src/domain/rational.ts"

/** A threshold whose hundredth is a whole number, so that the model below needs no fractions. */
const LEVEL = 1000
const COOLDOWN_S = 60

const ruleOf = (operator: AlertOperator, repeats: boolean): Rule => ({
  trigger: triggerOf({ operator, threshold: String(LEVEL) }),
  repeats,
  cooldownMs: COOLDOWN_S * 1000,
  sinceMs: 0
})

const seenAt = (value: number, place: number, second: number): Observation => ({
  value: { numerator: BigInt(value), denominator: 1n },
  place,
  observedAtMs: second * 1000
})

/** A path around the threshold: values, and the seconds between them. */
const Path = Schema.Array(
  Schema.Struct({
    value: Schema.Int.check(Schema.isBetween({ minimum: 980, maximum: 1020 })),
    wait: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 }))
  })
).check(Schema.isMaxLength(60))
type Path = typeof Path.Type

const observations = (path: Path): ReadonlyArray<Observation> => {
  let second = 0
  return path.map(({ value, wait }, i) => seenAt(value, i + 1, (second += wait)))
}

/** Runs an alert over a path, one observation at a time; gives where it fired, and how it ended. */
const run = (rule: Rule, first: Watch, seen: ReadonlyArray<Observation>) => {
  const fired: Array<number> = []
  let watch = first
  let lastTriggeredAtMs: number | null = null
  for (const observation of seen) {
    const outcome = evaluate(rule, watch, [observation], lastTriggeredAtMs)
    watch = outcome.watch
    if (outcome.fires !== null) {
      fired.push(observation.place)
      lastTriggeredAtMs = observation.observedAtMs
      if (!rule.repeats) {
        return { fired, watch, lastTriggeredAtMs }
      }
    }
  }
  return { fired, watch, lastTriggeredAtMs }
}

const UNKNOWN: Watch = { armed: false, cleared: true, mark: 0 }

/** The rules of alerts above a level in plain numbers and words. */
const naive = (path: Path, repeats: boolean): ReadonlyArray<number> => {
  const fired: Array<number> = []
  let state: "waiting" | "armed" | "fired" | "cleared" = "waiting"
  let [second, firedAt] = [0, 0]
  path.forEach(({ value, wait }, i) => {
    second += wait
    if (fired.length > 0 && !repeats) {
      return
    }
    const below = value < LEVEL
    if (state === "armed" && !below) {
      fired.push(i + 1)
      state = "fired"
      firedAt = second
      return
    }
    if (state === "fired" && value <= LEVEL - LEVEL / 100) {
      state = "cleared"
    }
    if (below && (state === "waiting" || (state === "cleared" && second >= firedAt + COOLDOWN_S))) {
      state = "armed"
    }
  })
  return fired
}

const mirrored = (path: Path): Path => path.map(({ value, wait }) => ({ value: 2 * LEVEL - value, wait }))

describe("an alert on a level", () => {
  it.prop("fires where the rules in plain words fire", [Path, Schema.Boolean], ([path, repeats]) => {
    const { fired } = run(ruleOf("crosses_above", repeats), UNKNOWN, observations(path))
    assert.deepStrictEqual(fired, naive(path, repeats))
  })

  it.prop("fires from above as it does from below", [Path, Schema.Boolean], ([path, repeats]) => {
    const { fired } = run(ruleOf("crosses_below", repeats), UNKNOWN, observations(mirrored(path)))
    assert.deepStrictEqual(fired, naive(path, repeats))
  })

  it.prop("never fires on a path that stays on one side", [Path, Schema.Boolean], ([path, isAbove]) => {
    const sided = path.map(({ value, wait }) => ({
      value: isAbove ? Math.max(value, LEVEL) : Math.min(value, LEVEL - 1),
      wait
    }))
    assert.deepStrictEqual(run(ruleOf("crosses_above", true), UNKNOWN, observations(sided)).fired, [])
  })

  it.prop("never fires twice without a percent of way back and a cooldown in between", [Path], ([path]) => {
    const seen = observations(path)
    const { fired } = run(ruleOf("crosses_above", true), UNKNOWN, seen)
    for (const [i, place] of fired.entries()) {
      const before = fired[i - 1]
      if (before !== undefined) {
        assert.isTrue(path.slice(before, place - 1).some(({ value }) => value <= 990))
        const took = (seen[place - 1]?.observedAtMs ?? 0) - (seen[before - 1]?.observedAtMs ?? 0)
        assert.isAtLeast(took, COOLDOWN_S * 1000)
      }
    }
  })

  it.prop("does nothing new when it sees everything again", [Path, Schema.Boolean], ([path, repeats]) => {
    const rule = ruleOf("crosses_above", repeats)
    const seen = observations(path)
    const { fired, lastTriggeredAtMs, watch } = run(rule, UNKNOWN, seen)
    if (repeats || fired.length === 0) {
      for (const observation of seen) {
        assert.deepStrictEqual(evaluate(rule, watch, [observation], lastTriggeredAtMs), { watch, fires: null })
      }
    }
  })

  it.prop("counts the swaps of a block whether it sees them at once or one by one", [Path], ([path]) => {
    const rule = ruleOf("crosses_above", false)
    const seen = observations(path)
    const together = evaluate(rule, UNKNOWN, seen, null)
    const { fired, watch } = run(rule, UNKNOWN, seen)
    assert.strictEqual(together.fires?.place, fired[0])
    assert.deepStrictEqual(together.watch, watch)
  })

  it.prop(
    "is left alone after one comparison only when nothing would change",
    [Path, Schema.Literals(["crosses_above", "crosses_below", "rises_by", "falls_by"]), Schema.Boolean, Schema.Boolean],
    ([path, operator, armed, cleared]) => {
      const rule = ruleOf(operator, true)
      const watch: Watch = { armed, cleared, mark: 0 }
      const sign = operator === "falls_by" ? -1 : 1
      const seen = observations(path.map(({ value, wait }) => ({ value: sign * value, wait })))
      const span = spanOf(seen)
      if (span !== null && !canMove(rule, watch, span)) {
        assert.strictEqual(evaluate(rule, watch, seen, null).watch, watch)
      }
    }
  )

  it("ignores earlier values", () => {
    const rule = ruleOf("crosses_above", true)
    const watch = begin(rule.trigger, seenAt(900, 5, 0), 5)
    assert.deepStrictEqual(evaluate(rule, watch, [seenAt(1100, 4, 0)], null).fires, null)
    assert.strictEqual(evaluate(rule, watch, [seenAt(1100, 6, 0)], null).fires?.place, 6)
  })

  it("counts reaching the threshold as passing it, to the last digit", () => {
    const trigger = triggerOf({ operator: "crosses_above", threshold: "0.1000000000000000000000000001" })
    assert.isTrue(isPast(trigger, fractionOf("0.1000000000000000000000000001")))
    assert.isFalse(isPast(trigger, fractionOf("0.1")))
  })

  it("is armed from the beginning only by a known value that is not past the threshold", () => {
    const { trigger } = ruleOf("crosses_below", true)
    assert.isTrue(begin(trigger, seenAt(1001, 3, 0), 3).armed)
    assert.isFalse(begin(trigger, seenAt(1000, 3, 0), 3).armed)
    assert.isFalse(begin(trigger, null, 3).armed)
  })

  it("needs a value to come back after a pause in which the threshold was crossed", () => {
    const { trigger } = ruleOf("crosses_above", true)
    const armed: Watch = { armed: true, cleared: true, mark: 2 }
    assert.isTrue(resume(trigger, armed, seenAt(999, 9, 0), 9).armed)
    assert.deepStrictEqual(resume(trigger, armed, seenAt(1000, 9, 0), 9), { armed: false, cleared: true, mark: 9 })
    assert.isFalse(resume(trigger, armed, null, 9).armed)
    assert.deepStrictEqual(resume(trigger, { armed: false, cleared: false, mark: 2 }, seenAt(995, 9, 0), 9), {
      armed: false,
      cleared: false,
      mark: 9
    })
  })
})

describe("an alert on a change", () => {
  it("needs a smaller value first when it was large enough from the beginning, unless it is to fire at once", () => {
    const falls = ruleOf("falls_by", false)
    const beyond = begin(falls.trigger, seenAt(-1200, 1, 0), 1)
    assert.isNull(evaluate(falls, beyond, [seenAt(-1300, 2, 0)], null).fires)
    assert.strictEqual(
      evaluate(falls, beyond, [seenAt(-1300, 2, 0), seenAt(-900, 3, 0), seenAt(-1000, 4, 0)], null).fires?.place,
      4
    )
    assert.strictEqual(evaluate(falls, beginArmed(1), [seenAt(-1200, 1, 0)], null).fires?.place, 1)
    const watch = begin(falls.trigger, seenAt(-900, 1, 0), 1)
    assert.isTrue(watch.armed)
    assert.strictEqual(evaluate(falls, watch, [seenAt(-999, 2, 0), seenAt(-1000, 3, 0)], null).fires?.place, 3)
    assert.strictEqual(evaluate(falls, watch, [seenAt(5000, 2, 0)], null).fires, null)
    const rises = ruleOf("rises_by", false)
    assert.strictEqual(evaluate(rises, watch, [seenAt(-5000, 2, 0), seenAt(1000, 3, 0)], null).fires?.place, 3)
  })
})

const atLeast = (value: number, second: number): Observation => ({
  ...seenAt(value, second, second),
  isAtLeast: true
})

describe("a value that may be larger", () => {
  const rule = ruleOf("crosses_above", true)
  const lastFired = (watch: Watch, seen: Observation) => evaluate(rule, watch, [seen], 0)

  it("fires when it is past the threshold, and arms a new alert", () => {
    const { watch } = lastFired(begin(rule.trigger, null, 0), atLeast(1, 100))
    assert.isTrue(watch.armed)
    assert.isNotNull(lastFired(watch, atLeast(LEVEL, 101)).fires)
  })

  it("does not arm an alert that has fired until the value is certain", () => {
    const fired: Watch = { armed: false, cleared: false, mark: 1 }
    assert.strictEqual(lastFired(fired, atLeast(1, 100)).watch, fired)
    assert.deepInclude(lastFired(fired, seenAt(1, 100, 100)).watch, { armed: true, cleared: true })
  })

  it("is not known to be below a threshold", () => {
    const below = ruleOf("crosses_below", true)
    const armed = beginArmed(0)
    assert.strictEqual(evaluate(below, armed, [atLeast(1, 100)], null).watch, armed)
    const fired: Watch = { armed: false, cleared: false, mark: 1 }
    assert.isTrue(evaluate(below, fired, [atLeast(2 * LEVEL, 100)], 0).watch.armed)
  })
})
