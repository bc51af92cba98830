import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, ConfigProvider, Console, Effect, Layer, Option, Predicate, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OpenApi } from "effect/http-api"
import * as App from "./app/App.ts"
import { command as keys } from "./app/commands/keys.ts"
import { Api } from "./api/Api.ts"
import { Address } from "./domain/Address.ts"

/** Commands that fail with these have said so themselves. */
const spoken = new Set(["ShowHelp", "UserError"])

/** What a person needs to know of why the program ended: one line, or everything when it is our fault; null when told. */
const lastWords = (cause: Cause.Cause<{ readonly _tag: string; readonly message: string }>): string | null => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error === undefined) {
    return Cause.hasInterruptsOnly(cause) ? null : Cause.pretty(cause)
  }
  const inner = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  const detail = Predicate.hasProperty(error, "detail") ? `${error._tag}: ${String(error.detail)}` : error._tag
  const said = error.message === "" && inner instanceof Error ? inner.message : error.message
  const plain = said.replaceAll(/\s+/gu, " ").replace(/^SchemaError\((?<issue>.*)\)$/u, "$<issue>")
  return spoken.has(error._tag) ? null : `fathom: ${said === "" ? detail : plain}`
}

/** Flags win over the environment, under the same names. */
const settings = (flags: Readonly<Record<string, Option.Option<string | number>>>) => {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    Option.isSome(value) ? [[name, String(value.value)] as const] : []
  )
  return ConfigProvider.layerAdd(ConfigProvider.fromUnknown(Object.fromEntries(given)), { asPrimary: true })
}

const dataDir = Flag.String("data-dir").pipe(
  Flag.withDescription("Folder of the embedded database (DATA_DIR, .fathom)"),
  Flag.optional
)
const accounts = Flag.String("accounts").pipe(
  Flag.withDescription("Answer from a folder of account dumps instead of a live market (ACCOUNTS_DIR)"),
  Flag.optional
)

const serve = {
  port: Flag.Int("port").pipe(
    Flag.withDescription("Port to listen on; 0 takes a free one (PORT, 3000)"),
    Flag.optional
  ),
  host: Flag.String("host").pipe(Flag.withDescription("Address to listen on (HOST, 127.0.0.1)"), Flag.optional),
  readyFile: Flag.String("ready-file").pipe(
    Flag.withDescription("File to write once the first quote can be answered (READY_FILE)"),
    Flag.optional
  ),
  dataDir,
  accounts
}

const fathom = Command.make("fathom", serve, ({ accounts, dataDir, host, port, readyFile }) =>
  Layer.launch(App.layer).pipe(
    Effect.provide(
      settings({ PORT: port, HOST: host, READY_FILE: readyFile, DATA_DIR: dataDir, ACCOUNTS_DIR: accounts })
    )
  )
).pipe(
  Command.withDescription("Serve the developer API. Without settings: a simulated market and a database of its own")
)

const openapi = Command.make("openapi", {}, () => Console.log(JSON.stringify(OpenApi.fromApi(Api), null, 2))).pipe(
  Command.withDescription("Print the OpenAPI document")
)

const mint = (name: string) => Argument.String(name).pipe(Argument.withSchema(Address))

const quote = Command.make(
  "quote",
  {
    inputMint: mint("input-mint"),
    outputMint: mint("output-mint"),
    amount: Argument.String("amount").pipe(Argument.withSchema(Schema.BigIntFromString)),
    accounts
  },
  ({ accounts, ...request }) =>
    App.quoteOnce(request).pipe(
      Effect.flatMap((text) => Console.log(text)),
      Effect.provide(settings({ ACCOUNTS_DIR: accounts }))
    )
).pipe(Command.withDescription("Price one trade from the configured chain and leave"))

fathom.pipe(
  Command.withSubcommands([keys.pipe(Command.provide(App.keyStoreBeside)), quote, openapi]),
  Command.run({ version: "0.1.0" }),
  Effect.tapCause((cause) => {
    const words = lastWords(cause)
    return words === null ? Effect.void : Console.error(words)
  }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
