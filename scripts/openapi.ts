/**
 * Writes the OpenAPI document with its examples and the AsyncAPI document, or fails with `--check` when a committed copy is out of date. With `--examples`
 * the examples are recorded first: the contract walk asks a seeded market for every answer. `--examples wallets.transfers,perps.markets` records the
 * examples of these operations alone and leaves the others as they are.
 */
import { OpenApi } from "effect/http-api"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { Api } from "../src/api/Api.ts"
import { asyncApi } from "../src/api/live/asyncApi.ts"
import { CHOSEN, type Examples, examplesOf, type Recorded, withExamplesOf } from "./openapi/examples.ts"
import { withExamples } from "./openapi/withExamples.ts"

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const examplesFile = pathOf("openapi/examples.json")
const file = pathOf("../src/api/openapi.json")
const liveFile = pathOf("../src/api/asyncapi.json")

const document = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))

const write = (path: string, text: string): void => {
  writeFileSync(path, text)
  execFileSync(pathOf("../node_modules/.bin/oxfmt"), ["-c", pathOf("config/oxfmt.json"), path])
}

/** The examples with new ones of these operations. */
const withOperations = (before: Examples, recorded: Examples, ids: ReadonlyArray<string>): Examples => {
  const names = new Set(ids.flatMap((id) => [id, `${id} csv`]).filter((name) => name in recorded.operations))
  const missing = ids.filter((id) => !names.has(id))
  if (missing.length > 0) {
    throw new Error(`no answer of ${missing.join(", ")} was recorded`)
  }
  const found = Object.entries(recorded.operations).filter(([name]) => names.has(name))
  return {
    ...before,
    operations: withExamplesOf(before.operations, Object.fromEntries(found)),
    parameters: { ...before.parameters, ...CHOSEN }
  }
}

/** Records the examples of these operations; of all without any. */
const record = (ids: ReadonlyArray<string>): void => {
  // The walk asks for the operations of the document.
  write(file, JSON.stringify(document, null, 2))
  const folder = mkdtempSync(join(tmpdir(), "fathom-examples-"))
  const recording = join(folder, "recorded.json")
  try {
    const only = ids.length === 0 ? [] : ["-t", `(?:${ids.map((id) => id.replace(".", "\\.")).join("|")}) answers 20`]
    const args = ["run", "--config", pathOf("config/vitest.ts"), "test/api/contractWalk.test.ts", ...only]
    const env = { ...process.env, EXAMPLES_FILE: recording }
    execFileSync(pathOf("../node_modules/.bin/vitest"), args, { cwd: pathOf(".."), env, stdio: "inherit" })
    const recorded: ReadonlyArray<Recorded> = JSON.parse(readFileSync(recording, "utf8"))
    const found = examplesOf(recorded)
    const before: Examples = JSON.parse(readFileSync(examplesFile, "utf8"))
    const kept = Object.fromEntries(Object.entries(before.operations).filter(([id]) => id in found.operations))
    const all = { ...found, operations: withExamplesOf(kept, found.operations) }
    write(examplesFile, JSON.stringify(ids.length === 0 ? all : withOperations(before, found, ids)))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const examplesAt = process.argv.indexOf("--examples")
if (examplesAt > 0) {
  record((process.argv[examplesAt + 1] ?? "").split(",").filter((id) => id !== "" && !id.startsWith("--")))
}

const examples: Examples = JSON.parse(readFileSync(examplesFile, "utf8"))

const documents = [
  [file, JSON.stringify(withExamples(document, examples), null, 2)],
  [liveFile, JSON.stringify(asyncApi(), null, 2)]
] as const

for (const [path, text] of documents) {
  if (!process.argv.includes("--check")) {
    write(path, text)
  } else if (!isDeepStrictEqual(JSON.parse(readFileSync(path, "utf8")), JSON.parse(text))) {
    process.stderr.write(`${path} is stale: run npm run openapi\n`)
    process.exitCode = 1
  }
}
