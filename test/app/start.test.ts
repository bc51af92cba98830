import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const PATIENCE_MS = 60_000

const helpWith = (cache: string): string => {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  return execFileSync(process.execPath, ["scripts/start.mjs", "--help"], {
    encoding: "utf8",
    env: { ...env, XDG_CACHE_HOME: cache, HOME: cache, LOCALAPPDATA: cache }
  })
}

it(
  "keeps compiled code in the user's cache folder, and runs without one that can be written",
  { timeout: PATIENCE_MS },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "fathom-cache-"))
    try {
      assert.include(helpWith(folder), "Serve the developer API")
      assert.isAbove(globSync("**/fathom/code/**/*", { cwd: folder }).length, 100)
      const file = join(folder, "a file")
      writeFileSync(file, "")
      assert.include(helpWith(file), "Serve the developer API")
      assert.isTrue(existsSync(file))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
)

it("has the code of a whole start compiled by npm ci", { timeout: 4 * PATIENCE_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-cache-"))
  try {
    const env = { PATH: process.env["PATH"], HOME: folder, XDG_CACHE_HOME: folder, DATABASE_URL: "nonsense" }
    const call = `import { compileStart } from "./scripts/prepare.mjs"; process.exit((await compileStart()) ? 0 : 1)`
    execFileSync(process.execPath, ["--input-type=module", "-e", call], { env })
    const compiled = globSync("**/fathom/code/**/*", { cwd: folder }).length
    // More than the sources: modules of dependencies too.
    assert.isAbove(compiled, globSync("src/**/*.ts").length)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it("sets only flags that this Node knows", () => {
  const source = readFileSync("scripts/start.mjs", "utf8")
  const flags = Array.from(source.matchAll(/setFlagsFromString\("([^"]+)"\)/gu), ([, flag = ""]) => flag)
  assert.isNotEmpty(flags)
  // Node ends with 9 for a flag that it does not know; a running process ignores it.
  assert.strictEqual(execFileSync(process.execPath, [...flags, "-p", "1"], { encoding: "utf8" }), "1\n")
})
