import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import {
  type AlertMetric,
  AlertSide,
  AlertOperator,
  AlertCondition,
  AlertNote,
  AlertRecurrence,
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
} from "../domain/wallets/Alert.ts"
import { IdempotencyKey } from "../domain/Idempotency.ts"
import { Decimal } from "../domain/Scalar.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { pageOf, pageParameters, RequestId } from "./pages.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { described, IntegerParameter, NoQuery, refuse } from "./parameters.ts"
import {
  AlertNotFound,
  DataUnavailable,
  IdempotencyInFlight,
  IdempotencyKeyReused,
  InvalidCursor,
  InvalidRequest,
  LimitReached
} from "./problems.ts"

/** Default number of items per page. */
export const defaults = { alerts: 50, events: 50 } as const

const Meta = Schema.Struct({
  requestId: RequestId,
  methodVersion: Schema.Literal("public-alerts-v1")
})

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const { metric, operator, source, windowSeconds } = AlertCondition.fields

const operatorsOf = (metric: AlertMetric): string =>
  AlertOperator.literals.filter((operator) => fits(metric, operator)).join(" or ")

const ConditionBody = Schema.Struct({
  metric,
  operator: operator.annotate({
    description:
      "rises_by and falls_by apply to change_pct, at_least to trades of a wallet, crosses_above and crosses_below to the others."
  }),
  threshold: Threshold.annotate({ description: "Dollars, SOL, percent points, seconds, or changes. Above 0." }),
  windowSeconds: Schema.optionalKey(windowSeconds),
  source: Schema.optionalKey(source)
}).check(
  Schema.makeFilter(
    (condition) =>
      (condition.metric !== "change_pct" && !isActivity(condition.metric) && !isOfWallet(condition.metric)) ||
      condition.source !== "median" ||
      refuse("source", "conflict", `condition.source must be swap for ${condition.metric}, which is no price.`)
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
  description: `Seconds without firing after a firing, for repeating alerts only; ${DEFAULT_COOLDOWN_SECONDS} unless given, and none for trades of a wallet, of which ${MOST_TRADE_FIRINGS} an hour fire at most.`
})
const expiry = maybe(TimeMs).annotate({ description: "At most 90 days ahead; null for never." })

/** Body of a new alert. */
export const CreateAlertBody = Schema.Struct({
  chain: Schema.optionalKey(Schema.Literal("solana")),
  mint: maybe(Address).annotate({
    description:
      "The token. Required unless trades of a wallet are watched, then those of any token where it is left out."
  }),
  wallet: maybe(Address).annotate({
    description: "One of the tracked wallets of the account, for `wallet_trade_usd` and `wallet_trade_sol` alone."
  }),
  side: maybe(AlertSide).annotate({ description: "The side of the trades of the wallet; either unless given." }),
  condition: ConditionBody,
  recurrence: Schema.optionalKey(
    AlertRecurrence.annotate({ description: "once unless given; repeat for trades of a wallet, each of which fires." })
  ),
  cooldownSeconds: cooldown,
  expiresAtMs: expiry,
  note: maybe(AlertNote),
  fireNow: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "True: armed from the beginning, so that a value that is past the threshold already fires. Otherwise the value has " +
        "to be seen on this side of the threshold first."
    })
  )
}).annotate({ identifier: "AlertRequest", description: "A new alert." })

/** Body of a change of an alert. */
export const ChangeAlertBody = Schema.Struct({
  condition: Schema.optionalKey(Schema.Struct({ threshold: Schema.optionalKey(Threshold) })),
  recurrence: Schema.optionalKey(AlertRecurrence),
  cooldownSeconds: cooldown,
  expiresAtMs: expiry,
  note: maybe(AlertNote),
  status: Schema.optionalKey(Schema.Literals(["active", "paused"]))
}).annotate({ identifier: "AlertChange", description: "Changes of an alert; other fields stay as they are." })

/** An alert on the wire. */
export class AlertItem extends Schema.Opaque<AlertItem>()(
  Schema.Struct({
    id: Schema.String,
    chain: Schema.Literal("solana"),
    mint: Schema.NullOr(Address).annotate({ description: "The token; null for trades of a wallet in any token." }),
    wallet: Schema.NullOr(Address).annotate({
      description: "The wallet whose trades are watched; null for other metrics."
    }),
    side: Schema.NullOr(AlertSide).annotate({ description: "The side of these trades; null for other metrics." }),
    condition: AlertCondition,
    recurrence: AlertRecurrence,
    cooldownSeconds: Schema.NullOr(Schema.Int),
    expiresAtMs: Schema.NullOr(Schema.Int),
    note: Schema.NullOr(Schema.String),
    status: AlertStatus.annotate({
      description: "triggered and expired are final. inactive: nothing fires until the reason is gone."
    }),
    statusReason: Schema.NullOr(Schema.Literal("wallet_not_tracked")).annotate({
      description:
        "Why it is inactive: the wallet was removed from the tracker. It is active again once it is tracked again."
    }),
    armed: Schema.Boolean.annotate({ description: "True when the next value past the threshold fires it." }),
    createdAtMs: Schema.Int,
    updatedAtMs: Schema.Int,
    lastTriggeredAtMs: Schema.NullOr(Schema.Int),
    triggerCount: Schema.Int,
    trades: Schema.NullOr(
      Schema.Struct({
        leftOut: Schema.Int.annotate({
          description: `Trades that did not fire, because of the cooldown or because ${MOST_TRADE_FIRINGS} had fired within an hour.`
        }),
        unvalued: Schema.Int.annotate({
          description:
            "Trades whose value is unknown, which did not fire. Unknown is not zero: they may have been above the threshold."
        })
      })
    ).annotate({
      description: "Trades of the wallet that did not fire, since the alert was set; null for other metrics."
    }),
    evaluation: Schema.Struct({
      state: Schema.Literals(["ok", "stale", "unavailable"]),
      value: Schema.NullOr(Decimal).annotate({
        description:
          "Value of the metric after the last pool swap, as in charts, or by the median over pools. Null unless ok, and for trades of a wallet, for which ok is that blocks are read."
      }),
      observedAtMs: Schema.NullOr(Schema.Int)
    })
  }).annotate({ identifier: "Alert", description: "A price alert and its present evaluation." })
) {}

/** One alert. */
export class AlertAnswer extends Schema.Opaque<AlertAnswer>()(
  Schema.Struct({ data: AlertItem, meta: Meta }).annotate({ identifier: "AlertAnswer", description: "One alert." })
) {}

/** One page of alerts. */
export class AlertPage extends Schema.Opaque<AlertPage>()(
  pageOf(AlertItem, Meta, { identifier: "AlertPage", description: "One page of alerts, newest first." })
) {}

/** A firing on the wire. */
export class AlertFiring extends Schema.Opaque<AlertFiring>()(
  Schema.Struct(firingFields).annotate({
    identifier: "AlertEvent",
    description: "One firing. It is shown here, in the app and on the tracker's socket, and delivered nowhere else."
  })
) {}

/** One page of firings. */
export class AlertEvents extends Schema.Opaque<AlertEvents>()(
  pageOf(AlertFiring, Meta, { identifier: "AlertEvents", description: "One page of firings, newest first." })
) {}

/** A removed alert. */
export class AlertDeleted extends Schema.Opaque<AlertDeleted>()(
  Schema.Struct({ data: Schema.Struct({ id: Schema.String, deleted: Schema.Literal(true) }), meta: Meta }).annotate({
    identifier: "AlertDeleted",
    description: "A removed alert."
  })
) {}

/** Query of alerts. */
export const AlertsQuery = Schema.Struct({
  status: Schema.optionalKey(described(AlertStatus, "Only alerts of this state.")),
  mint: Schema.optionalKey(described(Address, "Only alerts on this token.")),
  ...pageParameters(100, defaults.alerts)
})

/** Query of firings. */
export const EventsQuery = Schema.Struct({
  alertId: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[\w-]{1,64}$/u, { expected: "1 to 64 of A-Z, a-z, 0-9, _ and -" })).annotate(
      {
        description: "Only firings of this alert, which may have been removed."
      }
    )
  ),
  sinceMs: Schema.optionalKey(
    described(
      IntegerParameter(0, 253_402_300_799_999),
      "Only firings from this time on, in milliseconds since the Unix epoch."
    )
  ),
  ...pageParameters(100, defaults.events)
})

const alertParams = { id: Schema.String.annotate({ description: "The id of an alert." }) }

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
      .annotate(OpenApi.Description, "201 for a new alert; 200 when its Idempotency-Key was used for it before.")
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
    "Price alerts and their firings. Firings are read here, and sent on the tracker's socket as `alert_fired`."
  ) {}
