import { Console, Effect } from "effect"
import { Command } from "effect/cli"

/** `openapi`: prints the contract. */
export const command = Command.make("openapi", {}, () =>
  Effect.gen(function* () {
    const [{ OpenApi }, { Api }] = yield* Effect.promise(() =>
      Promise.all([import("effect/http-api"), import("../../api/Api.ts")])
    )
    yield* Console.log(JSON.stringify(OpenApi.fromApi(Api), null, 2))
  })
).pipe(Command.withDescription("Print the OpenAPI document"))
