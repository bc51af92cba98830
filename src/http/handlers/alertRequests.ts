/** What callers ask of alerts, and how alerts look to them. Plain values in and out. */
import type { Decided } from "../../alerts/changeAlert.ts"
import { type AlertFault, type AlertPatch, cooldownFault, cooldownOf, expiryFault } from "../../alerts/changeAlert.ts"
import { begin, triggerOf } from "../../alerts/evaluate.ts"
import type { Reading } from "../../alerts/Metrics.ts"
import { AlertFiring, AlertItem, type ChangeAlertBody, type CreateAlertBody } from "../../api/Alerts.ts"
import { InvalidRequest } from "../../api/problems.ts"
import type { Alert, AlertEvent, AlertPlace, NewAlert } from "../../domain/wallets/Alert.ts"
import { isAlertId, isEventId } from "../../domain/wallets/Alert.ts"
import { decimalText } from "../../domain/rational.ts"
import type { OrderKey } from "../middleware/cursor.ts"

/** The refusal of a body in which this is wrong. */
export const invalidBody = ({ field, issue, message }: AlertFault): InvalidRequest =>
  new InvalidRequest({ error: { message, details: [{ in: "body", field, issue }] } })

/** The alert that a body asks for, or the first thing that is wrong with it at this moment. */
export const newAlertOf = (
  owner: Pick<NewAlert, "id" | "accountId">,
  body: typeof CreateAlertBody.Type,
  decided: Decided
): NewAlert | AlertFault => {
  const { condition, cooldownSeconds, expiresAtMs = null, mint, note = null, recurrence = "once" } = body
  const fault = cooldownFault(recurrence, cooldownSeconds) ?? expiryFault(expiresAtMs, decided.nowMs)
  return (
    fault ?? {
      ...owner,
      ...begin(triggerOf(condition), decided.now, decided.place),
      mint,
      condition: { ...condition, windowSeconds: condition.windowSeconds ?? null },
      recurrence,
      cooldownSeconds: cooldownOf(recurrence, cooldownSeconds),
      expiresAtMs,
      note,
      createdAtMs: decided.nowMs
    }
  )
}

/** What a body asks to be changed. */
export const patchOf = ({ condition, ...rest }: typeof ChangeAlertBody.Type): AlertPatch => ({
  ...(condition?.threshold === undefined ? {} : { threshold: condition.threshold }),
  ...rest
})

const evaluationOf = (reading: Reading): AlertItem["evaluation"] => {
  switch (reading.state) {
    case "ok": {
      const value = decimalText(reading.seen.value)
      return value === null
        ? { state: "unavailable", value, observedAtMs: null }
        : { state: "ok", value, observedAtMs: reading.seen.observedAtMs }
    }
    case "stale":
      return { state: "stale", value: null, observedAtMs: reading.observedAtMs }
    case "unavailable":
      return { state: "unavailable", value: null, observedAtMs: null }
  }
}

/** An alert as the API shows it, with what its metric is now. What is not active is not armed. */
export const wireAlert = (alert: Alert, reading: Reading): AlertItem => {
  const { accountId: _accountId, cleared: _cleared, mark: _mark, version: _version, ...shown } = alert
  return AlertItem.make({
    ...shown,
    chain: "solana",
    armed: alert.armed && alert.status === "active",
    evaluation: evaluationOf(reading)
  })
}

/** A firing as the API shows it. */
export const wireFiring = (event: AlertEvent): AlertFiring => AlertFiring.make({ ...event, delivery: ["app"] })

const TIME = /^\d{1,15}$/u

const placeWith =
  (isId: (id: string) => boolean) =>
  ([time = "", id = ""]: OrderKey): AlertPlace | null =>
    TIME.test(time) && isId(id) ? { timeMs: Number(time), id } : null

/** The place in a list of alerts that a cursor leads past; null when it is none. */
export const alertPlace = placeWith(isAlertId)

/** The place in a list of firings that a cursor leads past; null when it is none. */
export const eventPlace = placeWith(isEventId)
