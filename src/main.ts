import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { exitMessage, teardown } from "./app/commands/exitMessage.ts"
import { accountStoreBeside } from "./app/accountStore.ts"
import { command as accounts } from "./app/commands/accounts.ts"
import { command as data } from "./app/commands/data.ts"
import * as invocation from "./app/commands/invocation.ts"
import { command as keys } from "./app/commands/keys.ts"
import { command as plans } from "./app/commands/plans.ts"
import { command as openapi } from "./app/commands/openapi.ts"
import { command as quote } from "./app/commands/quote.ts"
import { command as serve } from "./app/commands/serve.ts"
import { keyStoreBeside } from "./app/keyStore.ts"
import { VERSION } from "./app/version.ts"

serve.pipe(
  Command.withSubcommands([
    keys.pipe(Command.provide(keyStoreBeside)),
    plans.pipe(Command.provide(keyStoreBeside)),
    accounts.pipe(Command.provide(accountStoreBeside)),
    data,
    quote,
    openapi
  ]),
  Command.run({ version: VERSION }),
  Effect.tapCause((cause) => {
    const message = exitMessage(cause)
    return message === null ? Effect.void : Console.error(message)
  }),
  Effect.provide([NodeServices.layer, invocation.layer]),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)
