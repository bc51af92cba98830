/** What a market without people begins with. */
import { Clock, Context, Effect, Random } from "effect"
import type { Mint } from "../domain/Address.ts"
import type { AlertCondition, AlertRecurrence } from "../domain/wallets/Alert.ts"
import { uuidV4 } from "../domain/uuid.ts"
import { AlertStore } from "./AlertStore.ts"
import { cooldownOf } from "./changeAlert.ts"
import { begin, triggerOf } from "./evaluate.ts"

/** An alert that somebody invented has set. */
export interface OpeningAlert {
  readonly accountId: string
  readonly mint: Mint
  readonly condition: AlertCondition
  readonly recurrence: AlertRecurrence
  readonly note: string
}

/** Alerts to begin with: none, unless the market is invented. */
export const OpeningAlerts = Context.Reference<ReadonlyArray<OpeningAlert>>("fathom/alerts/OpeningAlerts", {
  defaultValue: () => []
})

const NO_CHOICE = { status: null, mint: null, limit: 1, after: null }

/** Sets them for accounts that have no alert at all. A store that is away is no reason not to begin. */
export const setOpening = Effect.gen(function* () {
  const store = yield* AlertStore
  const random = yield* Random.Random
  const createdAtMs = yield* Clock.currentTimeMillis
  const opening = yield* OpeningAlerts
  for (const accountId of new Set(opening.map((alert) => alert.accountId))) {
    const { rows } = yield* store.page(accountId, NO_CHOICE)
    const wanted = rows.length > 0 ? [] : opening.filter((alert) => alert.accountId === accountId)
    yield* Effect.forEach(
      wanted,
      (alert) =>
        store.create({
          ...alert,
          ...begin(triggerOf(alert.condition), null, 0),
          id: `al_${uuidV4(random).replaceAll("-", "")}`,
          cooldownSeconds: cooldownOf(alert.recurrence),
          expiresAtMs: null,
          createdAtMs
        }),
      { discard: true }
    )
  }
}).pipe(Effect.catch((error) => Effect.logWarning("The opening alerts were not set", error)))
