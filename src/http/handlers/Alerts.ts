import { Clock, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AlertStore } from "../../alerts/AlertStore.ts"
import {
  type AlertFault,
  type AlertPatch,
  changeAlert,
  cooldownFault,
  cooldownOf,
  type Decided,
  expiryFault,
  metricFault,
  targetFault,
  thresholdFault
} from "../../alerts/changeAlert.ts"
import { begin, beginArmed, triggerOf } from "../../alerts/evaluate.ts"
import { Evaluator } from "../../alerts/Evaluator.ts"
import type { Reading } from "../../alerts/Reading.ts"
import {
  AlertAnswer,
  AlertFiring,
  AlertItem,
  type AlertsQuery,
  type ChangeAlertBody,
  type CreateAlertBody,
  defaults,
  type EventsQuery
} from "../../api/Alerts.ts"
import { Api } from "../../api/Api.ts"
import { AlertNotFound, type InvalidRequest, LimitReached } from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import {
  type Alert,
  type AlertCondition,
  type AlertEvent,
  type AlertPlace,
  firingOf,
  isAlertId,
  isEventId,
  type NewAlert,
  type Slice
} from "../../api/schemas/Alert.ts"
import { decimalText } from "../../domain/rational.ts"
import type { OrderKey } from "../middleware/cursor.ts"
import { answerOf, makeOnce } from "../middleware/idempotent.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { invalid, storeUnavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, startOf } from "./paging.ts"

/** A 400 for a fault in the body. */
const invalidBody = ({ field, issue, message }: AlertFault): InvalidRequest =>
  invalid({ in: "body", field, issue }, message)

/** The condition in a request body, with the defaults of fields that are left out. */
const conditionOf = ({ condition }: typeof CreateAlertBody.Type): AlertCondition => ({
  ...condition,
  windowSeconds: condition.windowSeconds ?? null,
  source: condition.source ?? "swap"
})

/** The target in a request body. Without a side, both sides of the wallet's trades are watched. */
const targetOf = ({
  mint = null,
  side = null,
  wallet = null
}: typeof CreateAlertBody.Type): Pick<NewAlert, "mint" | "side" | "wallet"> => ({
  mint,
  wallet,
  side: wallet === null ? side : (side ?? "either")
})

/** The alert that a request body describes, or the first fault in the body. */
const newAlertOf = (
  owner: Pick<NewAlert, "id" | "accountId">,
  body: typeof CreateAlertBody.Type,
  decided: Decided
): NewAlert | AlertFault => {
  const { cooldownSeconds, expiresAtMs = null, fireNow = false, note = null } = body
  const condition = conditionOf(body)
  const { mint, side, wallet } = targetOf(body)
  const recurrence = body.recurrence ?? (wallet === null ? "once" : "repeat")
  const fault =
    targetFault({ mint, side: body.side ?? null, wallet, fireNow }, condition) ??
    metricFault(mint, condition) ??
    thresholdFault(condition) ??
    cooldownFault(recurrence, cooldownSeconds) ??
    expiryFault(expiresAtMs, decided.nowMs)
  return (
    fault ?? {
      ...owner,
      ...(fireNow || wallet !== null
        ? beginArmed(decided.place)
        : begin(triggerOf(condition), decided.now, decided.place)),
      mint,
      wallet,
      side,
      condition,
      recurrence,
      cooldownSeconds: cooldownOf(condition, recurrence, cooldownSeconds),
      expiresAtMs,
      note,
      createdAtMs: decided.nowMs
    }
  )
}

const patchOf = ({ condition, ...rest }: typeof ChangeAlertBody.Type): AlertPatch => ({
  ...(condition?.threshold === undefined ? {} : { threshold: condition.threshold }),
  ...rest
})

/** What is known of a value that is missing. */
interface Missing {
  readonly sinceMs: number | null
  readonly hasSeen: boolean
}

const withValue = { sinceMs: null, reason: null } as const

const withoutValue = ({ hasSeen, sinceMs }: Missing): AlertItem["evaluation"] => ({
  state: "unavailable",
  value: null,
  observedAtMs: null,
  sinceMs,
  reason: hasSeen ? "not_captured" : "mint_not_seen"
})

const evaluationOf = (reading: Reading, missing: Missing): AlertItem["evaluation"] => {
  switch (reading.state) {
    case "ok": {
      const { observedAtMs, swapAtMs = observedAtMs } = reading.seen
      const value = decimalText(reading.seen.value)
      return value === null ? withoutValue(missing) : { state: "ok", value, observedAtMs: swapAtMs, ...withValue }
    }
    case "stale": {
      const { observedAtMs } = reading
      const sinceMs = missing.sinceMs ?? observedAtMs
      return { state: "stale", value: null, observedAtMs, sinceMs, reason: "source_stale" }
    }
    case "watching":
      return { state: "ok", value: null, observedAtMs: reading.observedAtMs, ...withValue }
    case "unavailable":
      return withoutValue(missing)
  }
}

/** An alert on the wire, with the current reading of its metric. An alert that is not active is not armed. */
const wireAlert = (alert: Alert, reading: Reading, missing: Missing): AlertItem => {
  const { accountId: _accountId, cleared: _cleared, mark: _mark, tally, version: _version, ...shown } = alert
  return AlertItem.make({
    ...shown,
    chain: "solana",
    statusReason: alert.status === "inactive" ? "wallet_not_tracked" : null,
    trades: alert.wallet === null ? null : { leftOut: tally.leftOut, unvalued: tally.unvalued },
    armed: alert.armed && alert.status === "active",
    evaluation: evaluationOf(reading, missing)
  })
}

const wireFiring = (event: AlertEvent): AlertFiring => AlertFiring.make(firingOf(event))

const TIME = /^\d{1,15}$/u

const placeWith =
  (isId: (id: string) => boolean) =>
  ([time = "", id = ""]: OrderKey): AlertPlace | null =>
    TIME.test(time) && isId(id) ? { timeMs: Number(time), id } : null

/** The place in a cursor of the list of alerts; null when it is malformed. */
const alertPlace = placeWith(isAlertId)

/** The place in a cursor of the list of firings; null when it is malformed. */
const eventPlace = placeWith(isEventId)

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

    /** What a decision about an alert at `nowMs` depends on. */
    const decidedAt = ({ condition, mint, wallet }: Pick<Alert, "mint" | "wallet" | "condition">, nowMs: number) => {
      const reading = evaluator.now(mint, condition, nowMs)
      const place = evaluator.placeOf(wallet === null ? mint : null)
      return { now: reading.state === "ok" ? reading.seen : null, place, nowMs }
    }

    const shown = (alert: Alert, nowMs: number) => {
      const { condition, mint } = alert
      return wireAlert(alert, evaluator.now(mint, condition, nowMs), {
        sinceMs: evaluator.unknownSince(mint, condition),
        hasSeen: mint === null || evaluator.hasSeen(mint, nowMs)
      })
    }

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
      const id = `al_${crypto.randomUUID().replaceAll("-", "")}`
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
      // The contract says 200 for a replay, because nothing was created.
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
