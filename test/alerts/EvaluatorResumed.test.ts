/** Alerts that are resumed while the evaluator waits for a reply of the store in which they are still paused. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, PubSub, Stream } from "effect"
import { TestClock } from "effect/testing"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { Evaluator } from "../../src/alerts/Evaluator.ts"
import type { Market } from "../../src/market/tape/Market.ts"
import type { Tape } from "../../src/market/tape/Tape.ts"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { ofWallet } from "./alerts.ts"
import { alerting, EVERY, priced, set, settle } from "./world.ts"

type Question = "fire" | "load" | "versions"

/** Runs `next` once after a reply. */
const after = <A, E>(answer: Effect.Effect<A, E>, next: { run: Effect.Effect<void> }) =>
  Effect.tap(answer, () => {
    const { run } = next
    next.run = Effect.void
    return run
  })

/** A store that runs `next` after its next reply to the call, and announces the changes that a test gives. */
const answering = (question: Question, next: { run: Effect.Effect<void> }, changes: PubSub.PubSub<string>) =>
  Layer.effect(
    AlertStore,
    Effect.map(AlertStore, (store) =>
      AlertStore.of({
        ...store,
        ...(question === "fire" && { fire: (seen) => after(store.fire(seen), next) }),
        ...(question === "load" && { load: (ids) => after(store.load(ids), next) }),
        ...(question === "versions" && { versions: after(store.versions, next) }),
        changes: Stream.fromPubSub(changes)
      })
    )
  ).pipe(Layer.provide(MemoryAlerts.layer))

const changeTo = (status: "active" | "paused") =>
  Effect.flatMap(AlertStore, (store) => store.change("acct", "al_wallet", () => Effect.succeed({ status })))

const bought = (second: number) => priced(second, [1], { signature: `s${second}`, volumeUsdNanos: 1_000_000_000_000n })

const firings = Effect.map(
  Effect.flatMap(AlertStore, (store) => store.events("acct", EVERY)),
  ({ rows }) => rows.length
)

/**
 * Makes the call while the alert is paused, resumes the alert before the reply is applied, and trades at that second.
 */
const resumedDuring = (
  question: Question,
  ask: (changes: PubSub.PubSub<string>) => Effect.Effect<unknown, never, Market | Tape>,
  second: number
) =>
  Effect.gen(function* () {
    const changes = yield* PubSub.unbounded<string>()
    const next = { run: Effect.void as Effect.Effect<void> }
    yield* Effect.gen(function* () {
      yield* priced(0, [1])
      yield* set("al_wallet", ofWallet("al_wallet"))
      yield* bought(1)
      assert.strictEqual(yield* firings, 1)
      yield* changeTo("paused")
      const resume = Effect.gen(function* () {
        const alert = yield* changeTo("active")
        assert.strictEqual(alert?.status, "active")
        yield* alert === null ? Effect.void : (yield* Evaluator).take(alert)
      })
      const context = yield* Effect.context<AlertStore | Evaluator>()
      next.run = Effect.orDie(Effect.provide(resume, context))
      yield* ask(changes)
      yield* settle
      assert.strictEqual(next.run, Effect.void)
      yield* bought(second)
      assert.strictEqual(yield* firings, 2)
    }).pipe(Effect.provide(alerting(answering(question, next, changes))))
  })

describe("the evaluator keeps an alert that was resumed while the store answered", () => {
  it.effect("which trades of its wallet it fires", () => resumedDuring("fire", () => bought(2), 4))
  it.effect("which alerts that another process changed are active", () =>
    resumedDuring("load", (changes) => PubSub.publish(changes, "al_wallet"), 4)
  )
  it.effect("which versions are the newest", () => resumedDuring("versions", () => TestClock.adjust("5 minutes"), 310))
})
