import { assert, describe, it } from "@effect/vitest"
import { Cause, Config, ConfigProvider, Effect, Exit, Schema } from "effect"
import { CliError } from "effect/cli"
import { exitMessage, teardown } from "../../../src/app/commands/exitMessage.ts"
import { simulatorConfig } from "../../../src/simulator/Simulator.ts"

const messageOf = <A>(config: Config.Config<A>, env: Readonly<Record<string, string>>) =>
  Effect.exit(config).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.map((exit) => (Exit.isFailure(exit) ? exitMessage(exit.cause) : null))
  )

const codeOf = (cause: Cause.Cause<unknown>): number => {
  let code = -1
  teardown(Exit.failCause(cause), (given) => (code = given))
  return code
}

describe("exitMessage", () => {
  it.effect("names a setting as the environment does", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* messageOf(simulatorConfig, { SIMULATOR_HISTORY: "abc" }),
        "fathom: SIMULATOR_HISTORY: must be a number"
      )
      assert.strictEqual(
        yield* messageOf(Config.schema(Schema.Int, "PORT"), { PORT: "1.5" }),
        "fathom: PORT: expected an integer"
      )
    })
  )
})

describe("teardown", () => {
  it("exits with 2 for a usage error, 1 for a failure and 130 for an interruption", () => {
    const usage = new CliError.ShowHelp({
      commandPath: ["fathom"],
      errors: [new CliError.UnrecognizedOption({ option: "--nosuch", suggestions: [] })]
    })
    const codes = [Cause.fail(usage), Cause.fail(new Error("no")), Cause.interrupt()].map(codeOf)
    assert.deepStrictEqual(codes, [2, 1, 130])
  })
})
