import { Console, Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { Address } from "../../domain/Address.ts"
import { accounts, settings } from "./flags.ts"

// Other commands load no pools and no engine.
const quoteOnce = Effect.promise(() => import("./quoteOnce.ts"))

const mint = (name: string) => Argument.String(name).pipe(Argument.withSchema(Address))

/** `quote`: prices one trade, without HTTP or a database. */
export const command = Command.make(
  "quote",
  {
    inputMint: mint("input-mint"),
    outputMint: mint("output-mint"),
    amount: Argument.String("amount").pipe(Argument.withSchema(Schema.BigIntFromString)),
    accounts
  },
  ({ accounts, ...request }) =>
    quoteOnce.pipe(
      Effect.flatMap((loaded) => loaded.quoteOnce(request)),
      Effect.flatMap((text) => Console.log(text)),
      Effect.provide(settings({ ACCOUNTS_DIR: accounts }))
    )
).pipe(Command.withDescription("Price one trade from the configured chain and leave"))
