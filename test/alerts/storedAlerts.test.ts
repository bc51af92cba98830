/** The index of watched alerts beside a store that has fallen back to an older copy. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AlertIndex } from "../../src/alerts/AlertIndex.ts"
import { makeStoredAlerts } from "../../src/alerts/storedAlerts.ts"
import type { Alert } from "../../src/api/schemas/Alert.ts"
import { alertOf } from "./alerts.ts"

/** An alert as the store has it in a version. It is armed in the first one, and fired in the second. */
const inVersion = (version: number): Alert => {
  const { createdAtMs, ...created } = alertOf("al_0123456789ABCDEFGHJKMNPQRS", { recurrence: "repeat" })
  return {
    ...created,
    createdAtMs,
    updatedAtMs: createdAtMs,
    status: "active",
    armed: version === 1,
    version,
    triggerCount: version - 1,
    lastTriggeredAtMs: null,
    tally: { countedTo: 0, leftOut: 0, leftOutStated: 0, unvalued: 0 }
  }
}

/** An index that holds one version while the store has another one, once it has caught up. */
const caughtUp = Effect.fnUntraced(function* (heldVersion: number, storedVersion: number) {
  const index = new AlertIndex()
  index.put(inVersion(heldVersion))
  const stored = inVersion(storedVersion)
  const none = Effect.succeed([])
  const { catchUp } = makeStoredAlerts(
    {
      versions: Effect.succeed([{ id: stored.id, version: storedVersion }]),
      load: () => Effect.succeed([stored]),
      advance: () => none,
      fire: () => none
    },
    index
  )
  yield* catchUp
  return Array.from(index.alerts(), ({ armed, version }) => ({ armed, version }))
})

describe("alerts that are compared with the store", () => {
  it.effect("are watched as the store has them after it fell back to an older copy", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* caughtUp(2, 1), [{ armed: true, version: 1 }])
    })
  )

  it.effect("are watched in the version that another process stored", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* caughtUp(1, 2), [{ armed: false, version: 2 }])
    })
  )
})
