import { Schema } from "effect"
import { Address, type Mint } from "../../domain/Address.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"
import { mint, slot, wallet } from "./fields.ts"

/** Most alerts of one account that are active or paused. */
export const MAX_LIVE_ALERTS = 100

/** How long firings are kept: 30 days in milliseconds. */
export const EVENT_LIFE_MS = 30 * 86_400_000

/** Longest lifetime of an alert: 90 days in milliseconds. */
export const MAX_EXPIRY_MS = 90 * 86_400_000

/** Default seconds between two firings of a repeating alert. */
export const DEFAULT_COOLDOWN_SECONDS = 300

/** An alert's id: `al_` and letters of the URL-safe alphabet, at most 64 characters in all. */
export const AlertId = Schema.String.check(Schema.isPattern(/^al_[\w-]{1,61}$/u, { expected: "an alert id" }))

/** True for a well-formed alert id. */
export const isAlertId = Schema.is(AlertId)

/** True for a well-formed event id. */
export const isEventId = (text: string): boolean => /^evt_[\w-]{1,60}$/u.test(text)

/** Metrics other than the price. They are read every few seconds. */
const activityMetrics = [
  "volume_usd",
  "liquidity_usd",
  "liquidity_drop_pct",
  "authority_changes",
  "top10_pct",
  "curve_progress_pct",
  "silent_seconds",
  "unknown_seconds"
] as const
export type ActivityMetric = (typeof activityMetrics)[number]

/** Metrics of single trades of a wallet: the value of what the token was traded for. */
const tradeMetrics = ["wallet_trade_usd", "wallet_trade_sol"] as const
export type TradeMetric = (typeof tradeMetrics)[number]

/**
 * The watched metric: the price of the last trade, the market value at that price, the change of the price over a
 * window, activity, or each trade of a wallet.
 */
export const AlertMetric = Schema.Literals([
  "price_usd",
  "price_sol",
  "market_cap_usd",
  "change_pct",
  ...activityMetrics,
  ...tradeMetrics
]).annotate({
  description:
    "The watched value. `volume_usd`: dollars traded in the window. `liquidity_usd`: dollars in the pools. " +
    "`liquidity_drop_pct`: how far the liquidity is below its highest value in the window. " +
    "`authority_changes`: how often the mint or freeze authority was set, changed or removed in the window. `top10_pct`: share held by the ten largest " +
    "owners, without pools, curves and burn addresses. `curve_progress_pct`: progress towards the end of the curve, 100 after the graduation. " +
    "`silent_seconds`: seconds since the last observed trade, also while blocks are missing. `unknown_seconds`: seconds for which the price of the token has been unknown, 0 while it is known. `wallet_trade_usd`, `wallet_trade_sol`: " +
    "value of one trade of the tracked `wallet`, in dollars or SOL; the alert fires for each such trade."
})
export type AlertMetric = typeof AlertMetric.Type

const activity: ReadonlySet<string> = new Set(activityMetrics)

/** True for a metric other than the price. */
export const isActivity = (metric: AlertMetric): metric is ActivityMetric => activity.has(metric)

const ofWallet: ReadonlySet<string> = new Set(tradeMetrics)

/** True for a metric of each trade of a wallet. It has no level that a value could return from. */
export const isOfWallet = (metric: AlertMetric): metric is TradeMetric => ofWallet.has(metric)

const ofPools: ReadonlySet<AlertMetric> = new Set([
  "liquidity_usd",
  "liquidity_drop_pct",
  "top10_pct",
  "curve_progress_pct"
])

/** True for a metric that needs the pools of the token in memory. */
export const isOfPools = (metric: AlertMetric): boolean => ofPools.has(metric)

/** True for a metric that is measured over a window. */
export const hasWindow = (metric: AlertMetric): boolean =>
  metric === "change_pct" ||
  metric === "volume_usd" ||
  metric === "liquidity_drop_pct" ||
  metric === "authority_changes"

/**
 * How the value has to move: a level is crossed, a change rises or falls by so much, a trade is worth at least so much.
 */
export const AlertOperator = Schema.Literals(["crosses_above", "crosses_below", "rises_by", "falls_by", "at_least"])
export type AlertOperator = typeof AlertOperator.Type

/** Seconds of the windows that a change, a volume or a drop is measured over. */
export const AlertWindowSeconds = Schema.Literals([300, 600, 3600, 21_600, 86_400])
export type AlertWindowSeconds = typeof AlertWindowSeconds.Type

/** The longest window of a drop of liquidity, in seconds. */
export const LONGEST_DROP_SECONDS = 3600

/** The windows that a metric may have. The liquidity of a token is remembered for an hour, its trades by window. */
export const windowsOf = (metric: AlertMetric): ReadonlyArray<AlertWindowSeconds> =>
  AlertWindowSeconds.literals.filter((seconds) =>
    metric === "liquidity_drop_pct" ? seconds <= LONGEST_DROP_SECONDS : seconds !== 600
  )

/** Threshold: above zero, at most 30 digits before the point and 30 after it. */
export const Threshold = Decimal.check(
  Schema.isMaxLength(61, { expected: "a decimal above 0 of at most 61 characters" }),
  Schema.isPattern(/^(?:[1-9][0-9]{0,29}|(?:0|[1-9][0-9]{0,29})\.[0-9]{1,30})$/u, {
    expected: "a decimal above 0 with at most 30 digits on either side of the point"
  })
)

/**
 * Source of the watched price: every pool swap, or the median over the pools, which one swap in a thin pool does not
 * move.
 */
export const AlertSource = Schema.Literals(["swap", "median"])
export type AlertSource = typeof AlertSource.Type

/** When an alert fires. */
export const AlertCondition = Schema.Struct({
  metric: AlertMetric,
  operator: field(AlertOperator, "Movement of the value that fires the alert."),
  threshold: field(Threshold, "Dollars, SOL, percentage points, seconds, or changes. Above 0."),
  windowSeconds: field(
    Schema.NullOr(AlertWindowSeconds),
    "Window over which changes, a volume or a drop are measured; null for levels. 600 only for a drop of liquidity, whose windows are at most 3600."
  ),
  source: field(
    AlertSource,
    "`swap`: every pool swap counts, and the median where no swap gives the metric. `median`: the depth-weighted median over " +
      "pools, as in /prices, read every few seconds."
  )
}).annotate({ identifier: "AlertCondition", description: "When an alert fires." })
export type AlertCondition = typeof AlertCondition.Type

/** Side of the trades of a wallet that are watched. */
export const AlertSide = Schema.Literals(["buy", "sell", "either"])
export type AlertSide = typeof AlertSide.Type

/** Most firings of one alert on the trades of a wallet in any hour. */
export const MOST_TRADE_FIRINGS = 60

/** The span of `MOST_TRADE_FIRINGS`, in milliseconds. */
export const TRADE_FIRINGS_MS = 3_600_000

/**
 * True when the operator fits the metric: `rises_by` and `falls_by` for changes, `at_least` for trades of a wallet, the
 * others for levels.
 */
export const fits = (metric: AlertMetric, operator: AlertOperator): boolean =>
  (metric === "change_pct") === (operator === "rises_by" || operator === "falls_by") &&
  isOfWallet(metric) === (operator === "at_least")

/** Once: the first firing is the last. */
export const AlertRecurrence = Schema.Literals(["once", "repeat"])
export type AlertRecurrence = typeof AlertRecurrence.Type

/** Triggered and expired are final. An active alert is inactive while the account does not track its wallet. */
export const AlertStatus = Schema.Literals(["active", "paused", "inactive", "triggered", "expired"])
export type AlertStatus = typeof AlertStatus.Type

/** True while an alert of this status is not final. */
export const isLive = (status: AlertStatus): boolean => status !== "triggered" && status !== "expired"

/** Milliseconds since the Unix epoch, before the year 10000. */
export const TimeMs = Schema.Int.check(
  Schema.isBetween(
    { minimum: 0, maximum: 253_402_300_799_999 },
    { expected: "milliseconds since the Unix epoch, before the year 10000" }
  )
)

/** Seconds that a repeating alert stays silent after it fired. */
export const CooldownSeconds = Schema.Int.check(
  Schema.isBetween({ minimum: 60, maximum: 86_400 }, { expected: "a whole number from 60 to 86400" })
)

/** Note of the owner: 1 to 200 characters of any text that a database can hold. */
export const AlertNote = Schema.String.check(
  Schema.isMinLength(1, { expected: "1 to 200 characters" }),
  Schema.isMaxLength(200, { expected: "1 to 200 characters" }),
  Schema.makeFilter((text) => (text.isWellFormed() && !text.includes("\u0000")) || "must be well-formed text", {
    toJsonSchema: () => ({})
  })
)

/** Progress of an alert between two firings. */
export interface Watch {
  /** True when the next value past the threshold fires the alert. */
  readonly armed: boolean
  /** True when the value was far enough on the other side since the last firing to arm the alert again. */
  readonly cleared: boolean
  /** Chain position of the last trade that changed the alert. Earlier trades are ignored. */
  readonly mark: number
}

/** Counts of an alert that watches the trades of a wallet. */
export const TradeTally = Schema.Struct({
  /** Chain position up to which trades are counted. */
  countedTo: Schema.Int,
  /** Trades that did not fire because of the cooldown or the hourly limit. */
  leftOut: Schema.Int,
  /** How many of the left-out trades a firing has reported. */
  leftOutStated: Schema.Int,
  /** Trades whose value is unknown, which did not fire. */
  unvalued: Schema.Int
})
export type TradeTally = typeof TradeTally.Type

/** The counts of a new alert. */
export const NO_TRADES: TradeTally = { countedTo: 0, leftOut: 0, leftOutStated: 0, unvalued: 0 }

/** Fields of an alert that its owner sets. */
export const alertTerms = {
  /** Null for trades of a wallet in any token. */
  mint: Schema.NullOr(Address),
  /** The wallet whose trades are watched; null for other metrics. */
  wallet: Schema.NullOr(Address),
  /** Null without a wallet. */
  side: Schema.NullOr(AlertSide),
  condition: AlertCondition,
  recurrence: AlertRecurrence,
  /** Null unless it repeats. */
  cooldownSeconds: Schema.NullOr(CooldownSeconds),
  expiresAtMs: Schema.NullOr(TimeMs),
  note: Schema.NullOr(AlertNote)
}

/** An alert as it is kept. Times are milliseconds since the Unix epoch. */
export const Alert = Schema.Struct({
  ...alertTerms,
  id: AlertId,
  accountId: Schema.String,
  /** Status when it was read: an alert past its expiry is expired. */
  status: AlertStatus,
  armed: Schema.Boolean,
  cleared: Schema.Boolean,
  mark: Schema.Int,
  tally: TradeTally,
  createdAtMs: TimeMs,
  updatedAtMs: TimeMs,
  lastTriggeredAtMs: Schema.NullOr(TimeMs),
  triggerCount: Schema.Int,
  /** Increases with every change. An update names the version that it has read. */
  version: Schema.Int
})
export type Alert = typeof Alert.Type

/** An alert as it is created. */
export type NewAlert = Omit<
  Alert,
  "status" | "updatedAtMs" | "lastTriggeredAtMs" | "triggerCount" | "tally" | "version"
>

/** The status at a moment. It is expired from the moment of expiry on. */
export const statusAt = (
  { expiresAtMs, status }: { readonly status: AlertStatus; readonly expiresAtMs: number | null },
  nowMs: number
): AlertStatus => (isLive(status) && expiresAtMs !== null && expiresAtMs <= nowMs ? "expired" : status)

/** The trade that fired an alert on a wallet. */
export const FiringTrade = Schema.Struct({
  signature: field(Schema.String, "First signature of the transaction, as base58 of 64 bytes."),
  slot,
  index: field(Schema.Int, "Place among the trades of its slot."),
  wallet,
  side: field(Schema.Literals(["buy", "sell"]), "`buy`: the token was received. `sell`: the token was given."),
  amount: field(
    Schema.String.check(Schema.isPattern(/^(?:0|[1-9][0-9]*)$/u)),
    "Atomic units of the token that were traded, as decimal digits."
  ),
  leftOut: field(
    Schema.Int,
    "Trades since the previous firing that did not fire because of the cooldown or the hourly limit."
  )
}).annotate({ identifier: "FiringTrade", description: "The trade of a wallet that fired the alert." })
export type FiringTrade = typeof FiringTrade.Type

/** One firing. */
export const AlertEvent = Schema.Struct({
  eventId: field(Schema.String, "Id of the firing."),
  alertId: field(AlertId, "Id of the alert."),
  /** The token of the alert, or of the trade. */
  mint,
  /** The condition when the alert fired. */
  condition: AlertCondition,
  value: field(Decimal, "The value; null when it is not known."),
  /** When the chain had the value. */
  observedAtMs: field(TimeMs, "Time of the observation that fired the alert, in milliseconds since the Unix epoch."),
  firedAtMs: field(TimeMs, "Time of the firing, in milliseconds since the Unix epoch."),
  trade: field(Schema.NullOr(FiringTrade), "The trade of the wallet; null for other metrics.")
})
export type AlertEvent = typeof AlertEvent.Type

/** Places where firings are shown. */
const Delivery = Schema.Array(Schema.Literal("app"))

/** Fields of a firing, in the list of events and in frames. */
export const firingFields = { ...AlertEvent.fields, delivery: field(Delivery, "Where the firing is shown.") }

/** A firing on the wire. */
export type Firing = AlertEvent & { readonly delivery: typeof Delivery.Type }

/** The firing of an event, as it is sent. */
export const firingOf = (event: AlertEvent): Firing => ({ ...event, delivery: ["app"] })

/** A firing and the account of its alert. */
export interface AlertFired {
  readonly accountId: string
  readonly event: AlertEvent
}

/** One step of an alert as it was seen at a version: it arms, is cleared, or fires. */
export interface AlertStep {
  readonly id: string
  /** The version that was seen. Nothing happens when the alert has changed since. */
  readonly version: number
  readonly watch: Watch
  /** The value at the firing; null when the alert does not fire. */
  readonly firing: { readonly value: Decimal; readonly observedAtMs: number } | null
}

/** A net trade of a wallet, as alerts see it. */
export interface WalletTrade {
  readonly signature: string
  readonly slot: number
  readonly index: number
  readonly mint: Mint
  readonly wallet: Address
  readonly side: "buy" | "sell"
  readonly amount: bigint
  /** Value of its other side; null when unknown. */
  readonly usdNanos: bigint | null
  readonly lamports: bigint | null
  /** Block time, in milliseconds since the Unix epoch. */
  readonly observedAtMs: number
}

/** Trades of the alert's wallet, in chain order. */
export interface SeenTrades {
  readonly id: string
  readonly trades: ReadonlyArray<WalletTrade>
}

/** Changes of an alert. Fields that are left out stay. */
export type AlertChange = Partial<
  Pick<Alert, "condition" | "recurrence" | "cooldownSeconds" | "expiresAtMs" | "note" | "status" | keyof Watch>
>

/** Position in a list: the sort time, and the id as tie-break. */
export interface AlertPlace {
  readonly timeMs: number
  readonly id: string
}

/** Selects alerts of an account, newest first. */
export interface AlertSelection {
  /** Null for every status. */
  readonly status: AlertStatus | null
  /** Null for every token. */
  readonly mint: Mint | null
  readonly limit: number
  /** Null for the first page. */
  readonly after: AlertPlace | null
}

/** Selects firings of an account, newest first. */
export interface EventSelection {
  /** Null for every alert. */
  readonly alertId: string | null
  /** Null for all kept firings. */
  readonly sinceMs: number | null
  readonly limit: number
  /** Null for the first page. */
  readonly after: AlertPlace | null
}

/** One page, and the place where the next page begins; null at the end. */
export interface Slice<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next: AlertPlace | null
}

/** The store did not answer in time, or failed. */
export class AlertStoreUnavailable extends Schema.TaggedError<AlertStoreUnavailable>()("AlertStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the alert store does not answer"
  }
}

/** The account does not track the wallet of the alert. */
export class WalletNotTracked extends Schema.TaggedError<WalletNotTracked>()("WalletNotTracked", {}) {}

/** The account already holds `MAX_LIVE_ALERTS`. */
export class TooManyAlerts extends Schema.TaggedError<TooManyAlerts>()("TooManyAlerts", {}) {}
