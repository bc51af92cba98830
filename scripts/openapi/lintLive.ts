/** Checks the committed AsyncAPI document with the public parser: fails for every error, warning and hint. */
import { Parser } from "@asyncapi/parser"
import { readFileSync } from "node:fs"

const text = readFileSync(new URL("../../src/api/asyncapi.json", import.meta.url), "utf8")
const { diagnostics } = await new Parser().parse(text)

for (const { code, message, path } of diagnostics) {
  process.stderr.write(`${path.join(".")} ${String(code)}: ${message}\n`)
}
if (diagnostics.length > 0) {
  process.exitCode = 1
}
