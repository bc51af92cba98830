import { Schema } from "effect"
import { field } from "../../domain/field.ts"

const count = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Name of a plan: 1 to 32 lower-case letters, digits and `-`. */
export const PlanName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9-]{1,32}$/u, { expected: "1 to 32 lower-case letters, digits and -" })
)

export class Plan extends Schema.Opaque<Plan>()(
  Schema.Struct({
    name: field(PlanName, "Display name."),
    rest: field(count(1, 100_000_000), "Units of reads in any window."),
    quote: field(count(1, 100_000_000), "Units of quotes in any window."),
    windowSeconds: field(count(1, 3600), "Length of the window."),
    streams: field(count(0, 10_000), "Quote streams that a key may have open at a time."),
    sockets: field(count(1, 10_000), "Live connections of a key. One more replaces the oldest."),
    trackedWallets: field(count(0, 100_000), "Most wallets that an account can track with the key."),
    alerts: field(count(0, 100_000), "Most alerts, not counting final ones, that an account can have with the key."),
    exports: field(count(0, 1000), "Downloads of whole days that a key may have open at a time; 0 without downloads.")
  }).annotate({ identifier: "Plan", description: "The limits of a key, by name." })
) {}

/** The plan of the specification, for keys without another plan. It always exists and never changes. */
export const DEFAULT_PLAN: Plan = Plan.make({
  name: "default",
  rest: 120,
  quote: 300,
  windowSeconds: 60,
  streams: 5,
  sockets: 5,
  trackedWallets: 500,
  alerts: 100,
  exports: 0
})

/**
 * The plan of the sessions of the app while the table has no plan of this name. Its reads let four windows show a token
 * each.
 */
export const SESSION_PLAN: Plan = Plan.make({ ...DEFAULT_PLAN, name: "sessions", rest: 600, sockets: 20 })

/** The plan that a plan of this name starts from. */
export const startOf = (name: string): Plan => (name === SESSION_PLAN.name ? SESSION_PLAN : DEFAULT_PLAN)

/** No plan has this name. */
export class PlanNotFound extends Schema.TaggedError<PlanNotFound>()("PlanNotFound", { name: Schema.String }) {}

/** The plan cannot be changed or removed, because it is `default` or unrevoked keys have it. */
export class PlanInUse extends Schema.TaggedError<PlanInUse>()("PlanInUse", { name: Schema.String }) {}
