import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { ProgramChecks } from "../../../src/chain/decoding/swapChecks.ts"
import { decodeBlock, encodeBlock } from "../../../src/market/tape/blockMessage.ts"
import { decodingState, reportDecoding } from "../../../src/market/tape/decodingState.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import * as Readings from "../../../src/operations/Readings.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { MONDAY } from "./tape.ts"

const MINUTE = 60_000
const START = MONDAY * 1000

const block = (slot: number, checks: ReadonlyArray<ProgramChecks> | undefined) => ({
  slot,
  timeMs: START + slot * MINUTE,
  transactions: [],
  trades: [],
  launches: [],
  afterGap: false,
  checks
})

const confirmed = { dex: "pumpswap", counts: { confirmed: 499, one_sided: 1 } }
const drifted = { dex: "pumpswap", counts: { confirmed: 355, unknown: 145 }, tags: { "2b644913e9f66f94": 145 } }

const layers = Layer.mergeAll(Market.layerManual(), Readings.layer, SourceMonitor.layer)

it.effect("the decoding of a process that gets its blocks over the bus is watched, shown and measured", () =>
  Effect.gen(function* () {
    const { decoding } = yield* Market
    const tape = yield* Tape
    yield* reportDecoding(decoding)
    const monitor = yield* SourceMonitor.SourceMonitor
    const readings = yield* Readings.Readings
    const take = (slot: number, checks: ProgramChecks) => tape.apply(decodeBlock(encodeBlock(block(slot, [checks]))))
    const samples = () =>
      readings
        .collect(0)
        .filter(({ name }) => name.startsWith("fathom_decod") && !name.endsWith("_total"))
        .map(({ name, samples }) => [name, samples.map(({ labels, value }) => [labels?.["dex"], value])])

    assert.strictEqual(monitor.stateOf("decoding", START)?.status, "unavailable")
    for (let slot = 1; slot <= 40; slot++) {
      yield* take(slot, confirmed)
    }
    const at = START + 40 * MINUTE
    assert.strictEqual(monitor.stateOf("decoding", at)?.status, "known")
    assert.strictEqual(monitor.stateOf("decoding", at + MINUTE)?.status, "stale")
    assert.deepStrictEqual(samples(), [
      ["fathom_decoding_confirmed_before_ratio", []],
      ["fathom_decoding_confirmed_ratio", [["pumpswap", 0.998]]],
      ["fathom_decoding_drift_since_seconds", []]
    ])

    for (let slot = 41; slot <= 50; slot++) {
      yield* take(slot, drifted)
    }
    const state = monitor.stateOf("decoding", START + 50 * MINUTE)
    assert.strictEqual(state?.status, "partial")
    const [pumpswap] = state?.decoding ?? []
    const { hours, ...rest } = pumpswap ?? { hours: [] }
    assert.deepStrictEqual(rest, {
      dex: "pumpswap",
      confirmedShare: 0.71,
      swaps: 5000,
      shareBefore: 0.998,
      driftSinceMs: START + 41 * MINUTE,
      detail: "The confirmed share of pumpswap fell from 99.8 % to 71 % since 00:41."
    })
    assert.deepStrictEqual(hours, [
      {
        startMs: START,
        seen: 25_000,
        confirmed: 23_510,
        contradicted: 0,
        unchecked: 0,
        leftOut: { oneSided: 40, unmoved: 0 },
        unknown: 1450,
        unknownInstructions: { "2b644913e9f66f94": 1450 }
      }
    ])
    assert.deepStrictEqual(samples(), [
      ["fathom_decoding_confirmed_before_ratio", [["pumpswap", 0.998]]],
      ["fathom_decoding_confirmed_ratio", [["pumpswap", 0.71]]],
      ["fathom_decoding_drift_since_seconds", [["pumpswap", (START + 41 * MINUTE) / 1000]]]
    ])

    tape.startAnew()
    assert.deepStrictEqual(decodingState(decoding(), at), { observedAtMs: null, status: "unavailable", decoding: [] })
  }).pipe(Effect.scoped, Effect.provide(layers))
)

it.effect("blocks of a feed that does not check leave the decoding unknown", () =>
  Effect.gen(function* () {
    const { decoding } = yield* Market
    yield* (yield* Tape).apply(block(1, undefined))
    assert.strictEqual(decodingState(decoding(), START).status, "unavailable")
  }).pipe(Effect.provide(layers))
)
