import { Schema } from "effect"

const count = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Name of a plan: 1 to 32 lower-case letters, digits and `-`. */
export const PlanName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9-]{1,32}$/u, { expected: "1 to 32 lower-case letters, digits and -" })
)

/** The limits of a key. */
export class Plan extends Schema.Opaque<Plan>()(
  Schema.Struct({
    name: PlanName,
    rest: count(1, 100_000_000).annotate({ description: "Units of reads in any window." }),
    quote: count(1, 100_000_000).annotate({ description: "Units of quotes in any window." }),
    windowSeconds: count(1, 3600).annotate({ description: "Length of the window." }),
    streams: count(0, 10_000).annotate({ description: "Quote streams that a key has open at a time." }),
    sockets: count(1, 10_000).annotate({ description: "Live connections of a key; one more replaces the oldest." }),
    trackedWallets: count(0, 100_000).annotate({ description: "Wallets that an account may reach with the key." }),
    alerts: count(0, 100_000).annotate({ description: "Alerts, not final, that an account may reach with the key." })
  }).annotate({ identifier: "Plan", description: "The limits of a key, by name." })
) {}

/** The plan of the specification, of sessions, and of keys without another plan. It always exists and never changes. */
export const DEFAULT_PLAN: Plan = Plan.make({
  name: "default",
  rest: 120,
  quote: 300,
  windowSeconds: 60,
  streams: 5,
  sockets: 5,
  trackedWallets: 500,
  alerts: 100
})

/** No plan has this name. */
export class PlanNotFound extends Schema.TaggedError<PlanNotFound>()("PlanNotFound", { name: Schema.String }) {}

/** The plan cannot be changed or removed: it is `default`, or keys that are not revoked have it. */
export class PlanInUse extends Schema.TaggedError<PlanInUse>()("PlanInUse", { name: Schema.String }) {}
