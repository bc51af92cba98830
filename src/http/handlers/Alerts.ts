import { Clock, Effect, Random } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AlertStore } from "../../alerts/AlertStore.ts"
import { changeAlert } from "../../alerts/changeAlert.ts"
import { Evaluator } from "../../alerts/Evaluator.ts"
import {
  AlertAnswer,
  type AlertsQuery,
  type ChangeAlertBody,
  type CreateAlertBody,
  defaults,
  type EventsQuery
} from "../../api/Alerts.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { AlertNotFound, LimitReached } from "../../api/problems.ts"
import { type Alert, type Slice } from "../../domain/wallets/Alert.ts"
import { uuidV4 } from "../../domain/uuid.ts"
import {
  alertPlace,
  conditionOf,
  eventPlace,
  invalidBody,
  newAlertOf,
  patchOf,
  targetOf,
  wireAlert,
  wireFiring
} from "./alertRequests.ts"
import type { OrderKey } from "../middleware/cursor.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { answerOf, makeOnce } from "../middleware/idempotent.ts"
import { storeUnavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, startOf } from "./paging.ts"

const unavailable = storeUnavailable("The alert store is unavailable", "Alerts are unavailable: try again.")

const limitReached = (limit: number) => () =>
  Effect.fail(new LimitReached({ error: { message: `The account already has ${limit} alerts that are not final.` } }))

const walletNotTracked = {
  field: "wallet",
  issue: "conflict",
  message: "wallet must be one of the tracked wallets of the account: POST /api/v1/tracker/wallets adds it."
} as const

const meta = metaWith({ methodVersion: "public-alerts-v1" })

const keyOf = ({ next }: Slice<unknown>): OrderKey | null => next && [String(next.timeMs), next.id]

const created = answerOf(201, AlertAnswer)

interface OfAlert {
  readonly params: { readonly id: string }
}

export const layer = HttpApiBuilder.group(
  Api,
  "alerts",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* AlertStore
    const evaluator = yield* Evaluator
    const once = yield* makeOnce
    const random = yield* Random.Random

    /** Inputs of a decision about an alert at `nowMs`. */
    const decidedAt = ({ condition, mint, wallet }: Pick<Alert, "mint" | "wallet" | "condition">, nowMs: number) => {
      const reading = evaluator.now(mint, condition, nowMs)
      const place = evaluator.placeOf(wallet === null ? mint : null)
      return { now: reading.state === "ok" ? reading.seen : null, place, nowMs }
    }

    const shown = (alert: Alert, nowMs: number) => wireAlert(alert, evaluator.now(alert.mint, alert.condition, nowMs))

    const answer = Effect.fnUntraced(function* (alert: Alert) {
      return AlertAnswer.make({ data: shown(alert, yield* Clock.currentTimeMillis), meta: yield* meta })
    })

    const list = Effect.fnUntraced(function* ({ query }: { readonly query: typeof AlertsQuery.Type }) {
      const nowMs = yield* Clock.currentTimeMillis
      const { accountId } = yield* CurrentKey
      const { cursor, limit = defaults.alerts, mint = null, status = null } = query
      const selectors = ["alerts", accountId, status ?? "", mint ?? ""]
      const after = yield* startOf(cursor, selectors, alertPlace)
      const page = yield* store
        .page(accountId, { status, mint, limit, after })
        .pipe(Effect.catchTag("AlertStoreUnavailable", unavailable))
      const data = page.rows.map((alert) => shown(alert, nowMs))
      return { data, nextCursor: yield* nextOf(keyOf(page), selectors), meta: yield* meta }
    })

    const events = Effect.fnUntraced(function* ({ query }: { readonly query: typeof EventsQuery.Type }) {
      const { accountId } = yield* CurrentKey
      const { alertId = null, cursor, limit = defaults.events, sinceMs = null } = query
      const selectors = ["alerts.events", accountId, alertId ?? "", String(sinceMs ?? "")]
      const after = yield* startOf(cursor, selectors, eventPlace)
      const page = yield* store
        .events(accountId, { alertId, sinceMs, limit, after })
        .pipe(Effect.catchTag("AlertStoreUnavailable", unavailable))
      return { data: page.rows.map(wireFiring), nextCursor: yield* nextOf(keyOf(page), selectors), meta: yield* meta }
    })

    const make = Effect.fnUntraced(function* (body: typeof CreateAlertBody.Type) {
      const nowMs = yield* Clock.currentTimeMillis
      const { accountId, plan } = yield* CurrentKey
      const id = `al_${uuidV4(random).replaceAll("-", "")}`
      const decided = decidedAt({ ...targetOf(body), condition: conditionOf(body) }, nowMs)
      const alertOrFault = newAlertOf({ id, accountId }, body, decided)
      if ("issue" in alertOrFault) {
        return yield* invalidBody(alertOrFault)
      }
      const alert = yield* store.create(alertOrFault, plan.alerts).pipe(
        Effect.catchTags({
          TooManyAlerts: limitReached(plan.alerts),
          WalletNotTracked: () => Effect.fail(invalidBody(walletNotTracked)),
          AlertStoreUnavailable: unavailable
        })
      )
      yield* evaluator.take(alert)
      return yield* Effect.flatMap(answer(alert), created)
    })

    const create = Effect.fnUntraced(function* (input: {
      readonly payload: typeof CreateAlertBody.Type
      readonly headers: { readonly "idempotency-key"?: string }
      readonly request: HttpServerRequest.HttpServerRequest
    }) {
      const response = yield* once(input.request, input.headers["idempotency-key"], make(input.payload))
      const { replayed } = yield* RequestContext
      // A replay is 200 by the contract, because nothing was created.
      return replayed && response.status === 201 ? HttpServerResponse.setStatus(response, 200) : response
    })

    const get = Effect.fnUntraced(function* ({ params }: OfAlert) {
      const { accountId } = yield* CurrentKey
      const alert = yield* store.find(accountId, params.id).pipe(Effect.catchTag("AlertStoreUnavailable", unavailable))
      return alert === null ? yield* new AlertNotFound() : yield* answer(alert)
    })

    const change = Effect.fnUntraced(function* (input: OfAlert & { readonly payload: typeof ChangeAlertBody.Type }) {
      const { accountId } = yield* CurrentKey
      const patch = patchOf(input.payload)
      const decide = Effect.fnUntraced(function* (alert: Alert) {
        const decided = changeAlert(alert, patch, decidedAt(alert, yield* Clock.currentTimeMillis))
        return "issue" in decided ? yield* invalidBody(decided) : decided
      })
      const alert = yield* store
        .change(accountId, input.params.id, decide)
        .pipe(Effect.catchTag("AlertStoreUnavailable", unavailable))
      if (alert === null) {
        return yield* new AlertNotFound()
      }
      yield* evaluator.take(alert)
      return yield* answer(alert)
    })

    const remove = Effect.fnUntraced(function* ({ params }: OfAlert) {
      const { accountId } = yield* CurrentKey
      const isGone = yield* store
        .remove(accountId, params.id)
        .pipe(Effect.catchTag("AlertStoreUnavailable", unavailable))
      if (!isGone) {
        return yield* new AlertNotFound()
      }
      yield* evaluator.drop(params.id)
      return { data: { id: params.id, deleted: true as const }, meta: yield* meta }
    })

    return handlers.handleAll({ list, create, events, get, change, remove })
  })
)
