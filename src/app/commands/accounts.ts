/** `accounts`: manages accounts on the command line. Needs only the account store. */
import { Config, Console, Effect, Redacted } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import { AccountStore, LINK_MINUTES } from "../../access/accounts/AccountStore.ts"
import {
  type Account,
  type AccountExists,
  AccountId,
  AccountName,
  type AccountNotFound,
  type AccountStoreUnavailable,
  Role
} from "../../api/schemas/Account.ts"
import { json } from "./flags.ts"
import { commandText } from "../../domain/commandText.ts"

type AccountError = AccountExists | AccountNotFound | AccountStoreUnavailable

const explain = (error: AccountError): string => {
  switch (error._tag) {
    case "AccountExists":
      return `There is an account ${error.id} already.`
    case "AccountNotFound":
      return `There is no account ${error.id}: ${commandText("accounts", `create ${error.id}`)}`
    case "AccountStoreUnavailable":
      return "The database does not answer."
  }
}

const explained = Effect.mapError(
  (error: AccountError) => new CliError.UserError({ cause: error, userMessage: explain(error) })
)

const minute = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ")

const line = ({ createdAtMs, disabledAtMs, id, name, role }: Account): string =>
  [
    id,
    name,
    role,
    disabledAtMs === null ? "active" : `disabled ${minute(disabledAtMs)}`,
    `since ${minute(createdAtMs)}`
  ].join("  ")

const id = Argument.String("id").pipe(Argument.withDescription("Id of the account"), Argument.withSchema(AccountId))
const name = Flag.String("name").pipe(
  Flag.withDescription("Name that the app shows; the id unless given"),
  Flag.withSchema(AccountName),
  Flag.withDefault("")
)
const role = Flag.Literals("role", Role.literals).pipe(
  Flag.withDescription("owner manages accounts and plans"),
  Flag.withDefault("member" as const)
)

/** Base URL of links: `PUBLIC_URL`, otherwise the address at which the service listens. */
const base = Config.all({
  publicUrl: Config.String("PUBLIC_URL").pipe(Config.withDefault("")),
  host: Config.String("HOST").pipe(Config.withDefault("127.0.0.1")),
  port: Config.String("PORT").pipe(Config.withDefault("3000"))
}).pipe(
  Config.map(({ host, port, publicUrl }) =>
    publicUrl === "" ? `http://${host}:${port}` : publicUrl.replace(/\/+$/u, "")
  )
)

const create = Command.make(
  "create",
  { id, name, role, json },
  Effect.fnUntraced(function* ({ id, json, name, role }) {
    const accounts = yield* AccountStore
    const account = yield* accounts.create({ id, name: name === "" ? id : name, role }).pipe(explained)
    yield* Console.log(json ? JSON.stringify(account) : line(account))
  })
).pipe(Command.withDescription("Make an account"))

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function* ({ json }) {
    const accounts = yield* AccountStore
    const all = yield* accounts.list.pipe(explained)
    const text = all.length === 0 ? "There are no accounts." : all.map(line).join("\n")
    yield* Console.log(json ? JSON.stringify(all) : text)
  })
).pipe(Command.withDescription("Print every account, oldest first"))

const link = Command.make(
  "link",
  { id, json },
  Effect.fnUntraced(function* ({ id, json }) {
    const accounts = yield* AccountStore
    const token = Redacted.value(yield* accounts.link(id).pipe(explained))
    const url = `${yield* base}/sign-in#${token}`
    yield* Console.log(
      json ? JSON.stringify({ url }) : `${url}\n\nIt opens one session of ${id}, once, within ${LINK_MINUTES} minutes.`
    )
  })
).pipe(Command.withDescription("Print a link that signs a browser in, once"))

const change = (verb: "disable" | "enable", description: string) =>
  Command.make(
    verb,
    { id, json },
    Effect.fnUntraced(function* ({ id, json }) {
      const accounts = yield* AccountStore
      const account = yield* accounts.setDisabled(id, verb === "disable").pipe(explained)
      yield* Console.log(json ? JSON.stringify(account) : line(account))
    })
  ).pipe(Command.withDescription(description))

/** Creates, lists, links, disables and enables accounts. Prints text, or JSON with `--json`. */
export const command = Command.make("accounts").pipe(
  Command.withDescription("Manage accounts of the app"),
  Command.withSubcommands([
    create,
    list,
    link,
    change("disable", "End all sessions of an account and refuse new ones; its keys stay"),
    change("enable", "Accept sign-ins of a disabled account again")
  ])
)
