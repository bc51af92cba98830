/** `plans`: manages the limits of keys on the command line. Needs only the key store. */
import { Console, Effect, Option, Schema } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import { KeyStore } from "../../access/KeyStore.ts"
import type { KeyStoreUnavailable } from "../../api/schemas/ApiKey.ts"
import { COMMAND_LINE, type PlanAuditEntry } from "../../api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN, Plan, type PlanInUse, PlanName, type PlanNotFound, startOf } from "../../api/schemas/Plan.ts"
import { json } from "./flags.ts"

/** Changes that `audit` prints. */
const AUDIT_ROWS = 1000

type PlanError = KeyStoreUnavailable | PlanInUse | PlanNotFound

const explain = (error: PlanError): string => {
  switch (error._tag) {
    case "KeyStoreUnavailable":
      return "The database does not answer."
    case "PlanInUse":
      return error.name === DEFAULT_PLAN.name
        ? `The plan ${error.name} is that of the specification and does not change: set one of another name.`
        : `Keys have the plan ${error.name}: revoke them or give them another plan first.`
    case "PlanNotFound":
      return `There is no plan ${error.name}.`
  }
}

const explained = Effect.mapError(
  (error: PlanError) => new CliError.UserError({ cause: error, userMessage: explain(error) })
)

const line = (plan: Plan): string =>
  [
    plan.name,
    `${plan.rest} reads and ${plan.quote} quotes in ${plan.windowSeconds} s`,
    `${plan.streams} streams`,
    `${plan.sockets} sockets`,
    `${plan.trackedWallets} tracked wallets`,
    `${plan.alerts} alerts`,
    `${plan.exports} downloads`
  ].join("  ")

const name = Argument.String("name").pipe(Argument.withDescription("Name of the plan"), Argument.withSchema(PlanName))

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function* ({ json }) {
    const keys = yield* KeyStore
    const plans = yield* keys.plans.pipe(explained)
    yield* Console.log(json ? JSON.stringify(plans) : plans.map(line).join("\n"))
  })
).pipe(Command.withDescription("Print every plan"))

/** A limit. Left out, it stays as it is; a new plan takes it from `default`, the plan `sessions` from its built-in limits. */
const limit = (flag: string, field: Exclude<keyof Plan, "name">, description: string) =>
  Flag.Int(flag).pipe(
    Flag.withDescription(`${description}; ${DEFAULT_PLAN[field]} in a new plan`),
    Flag.withSchema(Plan.fields[field]),
    Flag.optional
  )

const limits = {
  rest: limit("rest", "rest", "Units of reads in a window"),
  quote: limit("quote", "quote", "Units of quotes in a window"),
  windowSeconds: limit("window-seconds", "windowSeconds", "Length of the window"),
  streams: limit("streams", "streams", "Quote streams of a key"),
  sockets: limit("sockets", "sockets", "Live connections of a key"),
  trackedWallets: limit("tracked-wallets", "trackedWallets", "Tracked wallets of an account"),
  alerts: limit("alerts", "alerts", "Alerts of an account that are not final"),
  exports: limit("exports", "exports", "Downloads of whole days that a key may have open")
}

const set = Command.make(
  "set",
  { name, json, ...limits },
  Effect.fnUntraced(function* ({ json, name, ...given }) {
    const keys = yield* KeyStore
    const known = (yield* keys.plans.pipe(explained)).find((plan) => plan.name === name) ?? startOf(name)
    const changes = Object.fromEntries(
      Object.entries(given).flatMap(([field, value]) => (Option.isSome(value) ? [[field, value.value]] : []))
    )
    const wanted = Schema.decodeUnknownSync(Plan)({ ...known, ...changes, name })
    const plan = yield* keys.setPlan(wanted, COMMAND_LINE).pipe(explained)
    yield* Console.log(json ? JSON.stringify(plan) : line(plan))
  })
).pipe(Command.withDescription("Make or change a plan; its keys follow at once in every process"))

const remove = Command.make(
  "remove",
  { name, json },
  Effect.fnUntraced(function* ({ json, name }) {
    const keys = yield* KeyStore
    const plan = yield* keys.removePlan(name, COMMAND_LINE).pipe(explained)
    yield* Console.log(json ? JSON.stringify(plan) : `Removed: ${line(plan)}`)
  })
).pipe(Command.withDescription("Remove a plan that no key has"))

const auditLine = ({ action, actor, atMs, detail, plan }: PlanAuditEntry): string =>
  [new Date(atMs).toISOString(), actor, action, plan, detail].join("  ")

const audit = Command.make(
  "audit",
  { json },
  Effect.fnUntraced(function* ({ json }) {
    const keys = yield* KeyStore
    const entries = yield* keys.planAudit(AUDIT_ROWS).pipe(explained)
    yield* Console.log(json ? JSON.stringify(entries) : entries.map(auditLine).join("\n"))
  })
).pipe(Command.withDescription(`Print the newest ${AUDIT_ROWS} changes of plans within a year`))

/** Lists, sets and removes plans, and reads the audit of changes. Prints text, or JSON with `--json`. */
export const command = Command.make("plans").pipe(
  Command.withDescription("Manage plans: the limits of keys"),
  Command.withSubcommands([list, set, remove, audit])
)
