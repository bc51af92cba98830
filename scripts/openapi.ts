/** Writes the OpenAPI document, or fails with `--check` when the committed copy is out of date. */
import { OpenApi } from "effect/http-api"
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { Api } from "../src/api/Api.ts"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const file = pathOf("../src/api/openapi.json")
const text = JSON.stringify(OpenApi.fromApi(Api), null, 2)

if (!process.argv.includes("--check")) {
  writeFileSync(file, text)
  execFileSync(pathOf("../node_modules/.bin/oxfmt"), ["-c", pathOf("config/oxfmt.json"), file])
} else if (!isDeepStrictEqual(JSON.parse(readFileSync(file, "utf8")), JSON.parse(text))) {
  process.stderr.write("src/api/openapi.json is stale: run npm run openapi\n")
  process.exitCode = 1
}
