import { Console } from "effect"
import { Command } from "effect/cli"
import { OpenApi } from "effect/http-api"
import { Api } from "../../api/Api.ts"

/** `openapi`: prints the contract. */
export const command = Command.make("openapi", {}, () =>
  Console.log(JSON.stringify(OpenApi.fromApi(Api), null, 2))
).pipe(Command.withDescription("Print the OpenAPI document"))
