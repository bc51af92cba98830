import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"

const program = `
  import { Effect } from "effect"
  import { report } from "./scripts/bench/report.ts"
  await Effect.runPromise(Effect.logInfo("Draining"))
  console.log("a line")
  process.stdout.write("a write")
  report("test", { figure: 1 })
  console.log("the end")
`

const run = (...options: ReadonlyArray<string>) =>
  spawnSync(process.execPath, ["--input-type=module", "--eval", program, "--", ...options], { encoding: "utf8" })

describe("the report of a command", () => {
  it("is alone on standard output with --json, and everything else on standard error", () => {
    const { stderr, stdout } = run("--json")
    assert.deepInclude(JSON.parse(stdout), { bench: "test", figure: 1 })
    for (const line of ["Draining", "a line", "a write", "the end"]) {
      assert.include(stderr, line)
    }
  })

  it("is a table among the other lines without --json", () => {
    const { stdout } = run()
    assert.match(stdout, /Draining[\s\S]*a line\na writetest {2}[\s\S]*figure +1\nthe end/u)
  })

  it("is that of every command with the option, or its only output", () => {
    const alone = new Set([
      "decode",
      "holdingsCheck",
      "packClient",
      "prove",
      "proveHttp",
      "recompute",
      "recomputeWallets",
      "testClickHouse"
    ])
    const others = globSync("scripts/**/*.ts").filter((file) => {
      const text = readFileSync(file, "utf8")
      const takesJson = /json: \{ type: "boolean"|"--json"/u.test(text)
      return takesJson && !/import \{[^}]*\breport\b[^}]*\} from/u.test(text) && !file.endsWith("bench/report.ts")
    })
    assert.deepStrictEqual(
      others.map((file) => file.replace(/^scripts\/|\.ts$/gu, "")).filter((name) => !alone.has(name)),
      []
    )
  })
})
