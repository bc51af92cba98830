/** Requests about alerts as domain values, and alerts as wire values. */
import {
  type AlertFault,
  type AlertPatch,
  cooldownFault,
  cooldownOf,
  type Decided,
  expiryFault,
  metricFault,
  targetFault,
  thresholdFault
} from "../../alerts/changeAlert.ts"
import { begin, beginArmed, triggerOf } from "../../alerts/evaluate.ts"
import type { Reading } from "../../alerts/Reading.ts"
import { AlertFiring, AlertItem, type ChangeAlertBody, type CreateAlertBody } from "../../api/Alerts.ts"
import type { InvalidRequest } from "../../api/problems.ts"
import {
  type Alert,
  type AlertCondition,
  type AlertEvent,
  type AlertPlace,
  firingOf,
  isAlertId,
  isEventId,
  type NewAlert
} from "../../domain/wallets/Alert.ts"
import { decimalText } from "../../domain/rational.ts"
import type { OrderKey } from "../middleware/cursor.ts"
import { invalid } from "../problems.ts"

/** The 400 of a fault of the body. */
export const invalidBody = ({ field, issue, message }: AlertFault): InvalidRequest =>
  invalid({ in: "body", field, issue }, message)

/** The condition of a request body, with the values of what it leaves out. */
export const conditionOf = ({ condition }: typeof CreateAlertBody.Type): AlertCondition => ({
  ...condition,
  windowSeconds: condition.windowSeconds ?? null,
  source: condition.source ?? "swap"
})

/** The target of a request body: without a side a wallet is watched on either. */
export const targetOf = ({
  mint = null,
  side = null,
  wallet = null
}: typeof CreateAlertBody.Type): Pick<NewAlert, "mint" | "side" | "wallet"> => ({
  mint,
  wallet,
  side: wallet === null ? side : (side ?? "either")
})

/** The alert of a request body, or the first fault of it at this time. */
export const newAlertOf = (
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

/** The changes of a request body. */
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
    case "watching":
      return { state: "ok", value: null, observedAtMs: reading.observedAtMs }
    case "unavailable":
      return { state: "unavailable", value: null, observedAtMs: null }
  }
}

/** An alert on the wire, with the present reading of its metric. An alert that is not active is not armed. */
export const wireAlert = (alert: Alert, reading: Reading): AlertItem => {
  const { accountId: _accountId, cleared: _cleared, mark: _mark, tally, version: _version, ...shown } = alert
  return AlertItem.make({
    ...shown,
    chain: "solana",
    statusReason: alert.status === "inactive" ? "wallet_not_tracked" : null,
    trades: alert.wallet === null ? null : { leftOut: tally.leftOut, unvalued: tally.unvalued },
    armed: alert.armed && alert.status === "active",
    evaluation: evaluationOf(reading)
  })
}

/** A firing on the wire. */
export const wireFiring = (event: AlertEvent): AlertFiring => AlertFiring.make(firingOf(event))

const TIME = /^\d{1,15}$/u

const placeWith =
  (isId: (id: string) => boolean) =>
  ([time = "", id = ""]: OrderKey): AlertPlace | null =>
    TIME.test(time) && isId(id) ? { timeMs: Number(time), id } : null

/** The place in a list of alerts of a cursor key; null when the key is malformed. */
export const alertPlace = placeWith(isAlertId)

/** The place in a list of firings of a cursor key; null when the key is malformed. */
export const eventPlace = placeWith(isEventId)
