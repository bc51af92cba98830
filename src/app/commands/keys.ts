/** `keys`: manages API keys on the command line. Needs only the key store. */
import { Clock, Console, Effect, Option, Redacted } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import {
  type ApiKey,
  ApiScope,
  type KeyNotFound,
  type KeyStoreUnavailable,
  KeyName,
  type TooManyKeys
} from "../../api/schemas/ApiKey.ts"
import { COMMAND_LINE } from "../../api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN, PlanName, type PlanNotFound } from "../../api/schemas/Plan.ts"
import { canonicalBlock } from "../../access/ipPolicy.ts"
import { KeyStore } from "../../access/KeyStore.ts"
import { json } from "./flags.ts"
import { commandText } from "../../domain/commandText.ts"

type KeyError = KeyNotFound | KeyStoreUnavailable | PlanNotFound | TooManyKeys

const explain = (error: KeyError): string => {
  switch (error._tag) {
    case "KeyNotFound":
      return `There is no key ${error.id} that can be changed.`
    case "KeyStoreUnavailable":
      return "The database does not answer."
    case "PlanNotFound":
      return `There is no plan ${error.name}: ${commandText("plans", "list")}`
    case "TooManyKeys":
      return `The account already has ${error.limit} active keys: revoke or disable one first.`
  }
}

const explained = Effect.mapError(
  (error: KeyError) => new CliError.UserError({ cause: error, userMessage: explain(error) })
)

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ")

const status = (key: ApiKey): string => {
  if (key.revokedAtMs !== null) {
    return `revoked ${day(key.revokedAtMs)}`
  }
  const state = key.disabledAtMs === null ? "active" : `disabled ${day(key.disabledAtMs)}`
  return key.expiresAtMs === null ? state : `${state}, expires ${day(key.expiresAtMs)}`
}

const line = (key: ApiKey): string =>
  [
    key.id,
    `${key.prefix}…${key.lastFour}`,
    key.name,
    status(key),
    key.plan.name,
    key.scopes.join(","),
    key.ipPolicy === null ? "any address" : key.ipPolicy.join(","),
    key.lastUsedAtMs === null ? "never used" : `used ${day(key.lastUsedAtMs)}`
  ].join("  ")

const account = Flag.String("account").pipe(Flag.withDescription("Account of the key"), Flag.withDefault("local"))
const id = Argument.String("id").pipe(Argument.withDescription("Id of the key: key_…"))

const name = Flag.String("name").pipe(
  Flag.withDescription("Name of the key"),
  Flag.withSchema(KeyName),
  Flag.withDefault("key")
)
const scopes = Flag.Literals("scope", ApiScope.literals).pipe(
  Flag.withDescription("A permission besides md.read, which every key has; may be repeated"),
  Flag.atLeast(0)
)
const plan = Flag.String("plan").pipe(
  Flag.withDescription("Plan of the key"),
  Flag.withSchema(PlanName),
  Flag.withDefault(DEFAULT_PLAN.name)
)
const days = Flag.Int("expires-in-days").pipe(
  Flag.withDescription("Days after which the key is refused; never unless given"),
  Flag.filter(
    (count) => count >= 1 && count <= 36_500,
    () => "1 to 36500"
  ),
  Flag.optional
)
const addresses = Flag.String("ip").pipe(
  Flag.withDescription("An address or CIDR block the key may be used from; may be repeated"),
  Flag.filterMap(canonicalBlock, () => "an address or a CIDR block"),
  Flag.atLeast(0)
)

const create = Command.make(
  "create",
  { account, name, scopes, addresses, plan, days, json },
  Effect.fnUntraced(function* ({ account, addresses, days, json, name, plan, scopes }) {
    const keys = yield* KeyStore
    const nowMs = yield* Clock.currentTimeMillis
    const request = {
      accountId: account,
      name,
      scopes: Array.from(new Set(["md.read" as const, ...scopes])),
      ipPolicy: addresses.length === 0 ? null : addresses,
      plan,
      expiresAtMs: Option.getOrNull(Option.map(days, (count) => nowMs + count * 86_400_000))
    }
    const { key, secret } = yield* keys.issue(request, COMMAND_LINE).pipe(explained)
    // Only here is a secret printed: the store does not keep it.
    const text = Redacted.value(secret)
    yield* Console.log(
      json ? JSON.stringify({ key, secret: text }) : `${text}\n\n${line(key)}\nKeep it: it is not shown again.`
    )
  })
).pipe(Command.withDescription("Make a key and print its secret, once"))

const list = Command.make(
  "list",
  { account, json },
  Effect.fnUntraced(function* ({ account, json }) {
    const keys = yield* KeyStore
    const all = yield* keys.list(account).pipe(explained)
    const text = all.length === 0 ? `Account ${account} has no keys.` : all.map(line).join("\n")
    yield* Console.log(json ? JSON.stringify(all) : text)
  })
).pipe(Command.withDescription("Print the keys of an account, newest first"))

const change = (verb: "revoke" | "disable" | "enable", description: string) =>
  Command.make(
    verb,
    { id, json },
    Effect.fnUntraced(function* ({ id, json }) {
      const keys = yield* KeyStore
      const key = yield* keys[verb](id, COMMAND_LINE).pipe(explained)
      yield* Console.log(json ? JSON.stringify(key) : line(key))
    })
  ).pipe(Command.withDescription(description))

const changePlan = Command.make(
  "plan",
  {
    id,
    plan: Argument.String("plan").pipe(Argument.withDescription("Name of the plan"), Argument.withSchema(PlanName)),
    json
  },
  Effect.fnUntraced(function* ({ id, json, plan }) {
    const keys = yield* KeyStore
    const key = yield* keys.change(id, { plan }, COMMAND_LINE).pipe(explained)
    yield* Console.log(json ? JSON.stringify(key) : line(key))
  })
).pipe(Command.withDescription("Give a key another plan, in every process at once"))

/** Creates, lists, revokes, disables and enables keys. Prints text, or JSON with `--json`. */
export const command = Command.make("keys").pipe(
  Command.withDescription("Manage API keys"),
  Command.withSubcommands([
    create,
    list,
    changePlan,
    change("revoke", "Revoke a key for good, in every process at once"),
    change("disable", "Switch a key off"),
    change("enable", "Switch a disabled key on again")
  ])
)
