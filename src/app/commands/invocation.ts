/** Answers a command line that cannot be understood: what is wrong first, then the help. Both go to standard error. */
import { Console, Context, Effect, type Layer } from "effect"
import { CliOutput, TerminalCapabilities } from "effect/cli"

const formatter = Effect.contextWith((context: Context.Context<never>) =>
  Effect.succeed(
    CliOutput.defaultFormatter({
      colors: Context.get(context, TerminalCapabilities.TerminalCapabilities).canColor
    })
  )
)

/** Without it the error comes after twenty lines of help. */
export const layer: Layer.Layer<never> = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.flatMap(formatter, ({ formatErrors, formatHelpDoc }) =>
          Console.error(`${formatErrors(event.errors).trim()}\n\n${formatHelpDoc(event.helpDoc)}`)
        )
      : CliOutput.defaultPresenter.present(event)
})
