import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { IdempotencyKey } from "../domain/Idempotency.ts"
import { Decimal } from "../domain/Scalar.ts"
import {
  AlertNotFound,
  DataUnavailable,
  IdempotencyInFlight,
  IdempotencyKeyReused,
  InvalidCursor,
  InvalidRequest,
  LimitReached
} from "./errors/problems.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { pageOf, pageParameters, RequestId } from "./pages.ts"
import { atLeastOneChange, IntegerParameter, NoQuery, optional, refuse } from "./parameters.ts"
import {
  AlertCondition,
  type AlertMetric,
  AlertNote,
  AlertOperator,
  AlertRecurrence,
  AlertSide,
  AlertStatus,
  CooldownSeconds,
  DEFAULT_COOLDOWN_SECONDS,
  firingFields,
  fits,
  hasWindow,
  isActivity,
  isOfWallet,
  MOST_TRADE_FIRINGS,
  Threshold,
  TimeMs,
  windowsOf
} from "./schemas/Alert.ts"
import { field } from "../domain/field.ts"
import { chain, methodVersion } from "./schemas/fields.ts"

/** Default number of items per page. */
export const defaults = { alerts: 50, events: 50 } as const

const Meta = Schema.Struct({
  requestId: RequestId,
  methodVersion: methodVersion("public-alerts-v1")
})

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const { metric, operator, source, windowSeconds } = AlertCondition.fields

const operatorsOf = (metric: AlertMetric): string =>
  AlertOperator.literals.filter((operator) => fits(metric, operator)).join(" or ")

const ConditionBody = Schema.Struct({
  metric,
  operator: field(
    operator,
    "`rises_by` and `falls_by` apply to `change_pct`, `at_least` to trades of a wallet, `crosses_above` and `crosses_below` to all others."
  ),
  threshold: field(Threshold, "Dollars, SOL, percentage points, seconds, or changes. Above 0."),
  windowSeconds: Schema.optionalKey(windowSeconds),
  source: Schema.optionalKey(source)
}).check(
  Schema.makeFilter(
    (condition) =>
      (condition.metric !== "change_pct" && !isActivity(condition.metric) && !isOfWallet(condition.metric)) ||
      condition.source !== "median" ||
      refuse("source", "conflict", `condition.source must be swap for ${condition.metric}, which is not a price.`)
  ),
  Schema.makeFilter(
    (condition) =>
      fits(condition.metric, condition.operator) ||
      refuse(
        "operator",
        "conflict",
        `condition.operator must be ${operatorsOf(condition.metric)} for ${condition.metric}.`
      )
  ),
  Schema.makeFilter(
    (condition) => {
      const isGiven = typeof condition.windowSeconds === "number"
      if (hasWindow(condition.metric)) {
        const windows = windowsOf(condition.metric)
        return !isGiven
          ? refuse("windowSeconds", "missing", `condition.windowSeconds is required for ${condition.metric}.`)
          : windows.some((seconds) => seconds === condition.windowSeconds) ||
              refuse(
                "windowSeconds",
                "conflict",
                `condition.windowSeconds must be one of ${windows.join(", ")} for ${condition.metric}.`
              )
      }
      return (
        !isGiven ||
        refuse(
          "windowSeconds",
          "conflict",
          "condition.windowSeconds must be left out or null: it applies to change_pct, volume_usd, liquidity_drop_pct and authority_changes only."
        )
      )
    },
    { toJsonSchema: () => ({}) }
  )
)

const cooldown = maybe(CooldownSeconds).annotate({
  description: `Seconds without firing after a firing, for repeating alerts only; ${DEFAULT_COOLDOWN_SECONDS} by default. Trades of a wallet have none by default and fire at most ${MOST_TRADE_FIRINGS} times an hour.`
})
const expiry = maybe(TimeMs).annotate({ description: "At most 90 days ahead; null for never." })

export const CreateAlertBody = Schema.Struct({
  chain: field(Schema.optionalKey(Schema.Literal("solana")), "The chain of the values."),
  mint: field(
    maybe(Address),
    "The token. Required unless trades of a wallet are watched; without it, the wallet's trades of any token are watched."
  ),
  wallet: field(maybe(Address), "A tracked wallet of the account, for `wallet_trade_usd` and `wallet_trade_sol` only."),
  side: field(maybe(AlertSide), "The side of the wallet's trades; `either` by default."),
  condition: field(ConditionBody, "What the alert waits for."),
  recurrence: field(
    Schema.optionalKey(AlertRecurrence),
    "`once` by default; `repeat` for trades of a wallet, where each trade fires."
  ),
  cooldownSeconds: cooldown,
  expiresAtMs: expiry,
  note: field(maybe(AlertNote), "Note of the owner; null without one."),
  fireNow: field(
    Schema.optionalKey(Schema.Boolean),
    "True: the alert is armed at once, so that a value that is already past the threshold fires. Otherwise the value first " +
      "has to be seen on this side of the threshold."
  )
}).annotate({ identifier: "AlertRequest", description: "A new alert." })

export const ChangeAlertBody = Schema.Struct({
  condition: field(
    Schema.optionalKey(Schema.Struct({ threshold: Schema.optionalKey(Threshold) })),
    "What the alert waits for. Only the threshold can change."
  ),
  recurrence: field(
    Schema.optionalKey(AlertRecurrence),
    "`once`: the alert ends with its first firing. `repeat`: it goes on."
  ),
  cooldownSeconds: cooldown,
  expiresAtMs: expiry,
  note: field(maybe(AlertNote), "Note of the owner; null without one."),
  status: field(Schema.optionalKey(Schema.Literals(["active", "paused"])), "`active` or `paused`.")
})
  .annotate({
    identifier: "AlertChange",
    description: "Changes of an alert, at least one; other fields stay as they are."
  })
  .check(atLeastOneChange)

export class AlertItem extends Schema.Opaque<AlertItem>()(
  Schema.Struct({
    id: field(Schema.String, "Unique, stable id."),
    chain,
    mint: field(Schema.NullOr(Address), "The token; null for trades of a wallet in any token."),
    wallet: field(Schema.NullOr(Address), "The wallet whose trades are watched; null for other metrics."),
    side: field(Schema.NullOr(AlertSide), "The side of the watched trades; null for other metrics."),
    condition: AlertCondition,
    recurrence: field(AlertRecurrence, "`once`: the alert ends with its first firing. `repeat`: it goes on."),
    cooldownSeconds: field(
      Schema.NullOr(Schema.Int),
      "Least seconds between two firings; null for an alert that does not repeat."
    ),
    expiresAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time from which the alert no longer counts, in milliseconds since the Unix epoch; null for never."
    ),
    note: field(Schema.NullOr(Schema.String), "Note of the owner; null without one."),
    status: field(
      AlertStatus,
      "`triggered` and `expired` are final. `inactive`: nothing fires until the reason is gone."
    ),
    statusReason: field(
      Schema.NullOr(Schema.Literal("wallet_not_tracked")),
      "Why the alert is inactive: its wallet is not tracked. It becomes active again when the wallet is tracked again."
    ),
    armed: field(Schema.Boolean, "True when the next value past the threshold fires the alert."),
    createdAtMs: field(Schema.Int, "Time of creation, in milliseconds since the Unix epoch."),
    updatedAtMs: field(Schema.Int, "Time of the last change, in milliseconds since the Unix epoch."),
    lastTriggeredAtMs: field(
      Schema.NullOr(Schema.Int),
      "Time of the last firing, in milliseconds since the Unix epoch; null without one."
    ),
    triggerCount: field(Schema.Int, "Number of firings."),
    trades: field(
      Schema.NullOr(
        Schema.Struct({
          leftOut: field(
            Schema.Int,
            `Trades that did not fire, because of the cooldown or because ${MOST_TRADE_FIRINGS} had fired within an hour.`
          ),
          unvalued: field(
            Schema.Int,
            "Trades of unknown value. They did not fire, but may have been above the threshold."
          )
        })
      ),
      "Trades of the wallet that did not fire since the alert was set; null for other metrics."
    ),
    evaluation: field(
      Schema.Struct({
        state: field(
          Schema.Literals(["ok", "stale", "unavailable"]),
          "`ok`: the value is known. `stale`: the value is too old. `unavailable`: there is no value."
        ),
        value: field(
          Schema.NullOr(Decimal),
          "Value of the metric after the last pool swap, as in charts, or by the median over pools. Null unless the state is `ok`. Always null for trades of a wallet, where `ok` means that blocks are being read."
        ),
        observedAtMs: field(
          Schema.NullOr(Schema.Int),
          "Time of the observation that was used, in milliseconds since the Unix epoch: of the swap that set a price; null when there was none."
        ),
        sinceMs: field(
          Schema.NullOr(Schema.Int),
          "Since when there has been no value, in milliseconds since the Unix epoch; null while there is one, or when it is not known since when."
        ),
        reason: field(
          Schema.NullOr(Schema.Literals(["mint_not_seen", "not_captured", "source_stale"])),
          "Why there is no value. `mint_not_seen`: neither a trade nor an account nor a pool of the mint was ever seen, so check the mint. " +
            "`not_captured`: a part of the value is unknown. `source_stale`: the value is too old. Null with a value."
        )
      }),
      "The current value of the metric."
    )
  }).annotate({ identifier: "Alert", description: "A price alert and its current evaluation." })
) {}

export class AlertAnswer extends Schema.Opaque<AlertAnswer>()(
  Schema.Struct({ data: AlertItem, meta: field(Meta, "How the answer was made, and how well it is known.") }).annotate({
    identifier: "AlertAnswer",
    description: "One alert."
  })
) {}

export class AlertPage extends Schema.Opaque<AlertPage>()(
  pageOf(AlertItem, Meta, { identifier: "AlertPage", description: "One page of alerts, newest first." })
) {}

export class AlertFiring extends Schema.Opaque<AlertFiring>()(
  Schema.Struct(firingFields).annotate({
    identifier: "AlertEvent",
    description:
      "One firing. It is shown here, in the app and on the tracker's socket, and is not delivered anywhere else."
  })
) {}

export class AlertEvents extends Schema.Opaque<AlertEvents>()(
  pageOf(AlertFiring, Meta, { identifier: "AlertEvents", description: "One page of firings, newest first." })
) {}

export class AlertDeleted extends Schema.Opaque<AlertDeleted>()(
  Schema.Struct({
    data: field(
      Schema.Struct({
        id: field(Schema.String, "Unique, stable id."),
        deleted: field(Schema.Literal(true), "Always true.")
      }),
      "The answer itself."
    ),
    meta: field(Meta, "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "AlertDeleted",
    description: "A removed alert."
  })
) {}

export const AlertsQuery = Schema.Struct({
  status: optional(AlertStatus, "Only alerts with this status."),
  mint: optional(Address, "Only alerts on this token."),
  ...pageParameters(100, defaults.alerts)
})

export const EventsQuery = Schema.Struct({
  alertId: field(
    Schema.optionalKey(
      Schema.String.check(Schema.isPattern(/^[\w-]{1,64}$/u, { expected: "1 to 64 of A-Z, a-z, 0-9, _ and -" }))
    ),
    "Only firings of this alert, which may have been removed since."
  ),
  sinceMs: optional(
    IntegerParameter(0, 253_402_300_799_999),
    "Only firings from this time on, in milliseconds since the Unix epoch."
  ),
  ...pageParameters(100, defaults.events)
})

const alertParams = { id: field(Schema.String, "The id of an alert.") }

const write = [AlertNotFound, DataUnavailable] as const

/** Price alerts and their firings. Firings are read here, and sent on the tracker's socket. */
export class AlertsGroup extends HttpApiGroup.make("alerts")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/alerts", {
      query: AlertsQuery,
      success: AlertPage,
      error: [InvalidCursor, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "The alerts of the account")
      .annotate(Scope, ["alerts.read"]),
    HttpApiEndpoint.post("create", "/api/v1/alerts", {
      query: NoQuery,
      headers: Schema.Struct({ "idempotency-key": Schema.optionalKey(IdempotencyKey) }),
      payload: CreateAlertBody,
      success: [AlertAnswer.pipe(HttpApiSchema.status(201)), AlertAnswer.pipe(HttpApiSchema.status(200))],
      error: [InvalidRequest, LimitReached, IdempotencyInFlight, IdempotencyKeyReused, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Set an alert")
      .annotate(
        OpenApi.Description,
        "201 for a new alert; 200 when its Idempotency-Key was used for the same alert before."
      )
      .annotate(Scope, ["alerts.write"]),
    HttpApiEndpoint.get("events", "/api/v1/alerts/events", {
      query: EventsQuery,
      success: AlertEvents,
      error: [InvalidCursor, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Firings of the last 30 days")
      .annotate(Scope, ["alerts.read"]),
    HttpApiEndpoint.get("get", "/api/v1/alerts/:id", {
      params: alertParams,
      query: NoQuery,
      success: AlertAnswer,
      error: write
    })
      .annotate(OpenApi.Summary, "One alert")
      .annotate(Scope, ["alerts.read"]),
    HttpApiEndpoint.patch("change", "/api/v1/alerts/:id", {
      params: alertParams,
      query: NoQuery,
      payload: ChangeAlertBody,
      success: AlertAnswer,
      error: [InvalidRequest, ...write]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Change an alert")
      .annotate(Scope, ["alerts.write"]),
    HttpApiEndpoint.delete("remove", "/api/v1/alerts/:id", {
      params: alertParams,
      query: NoQuery,
      success: AlertDeleted,
      error: write
    })
      .annotate(OpenApi.Summary, "Remove an alert")
      .annotate(Scope, ["alerts.write"])
  )
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Price alerts and their firings. Firings are listed here and sent on the tracker's socket as `alert_fired`."
  ) {}
