import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const main = new URL("../../../src/main.ts", import.meta.url).pathname

/** The real command, ended after 50 seconds. */
const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.callback<{ readonly code: unknown; readonly output: string }>((resume) => {
    const options = { env: { PATH: process.env["PATH"], ...env }, timeout: 50_000 }
    const child = execFile(process.execPath, [main, ...args], options, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: error === null ? 0 : error.code, output: stdout + stderr }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const folder = Effect.acquireRelease(
  Effect.sync(() => join(mkdtempSync(join(tmpdir(), "fathom-serve-")), "data")),
  (path) => Effect.sync(() => rmSync(join(path, ".."), { recursive: true, force: true }))
)

describe("fathom", { concurrent: true }, () => {
  it.live("refuses a taken port before it makes a database", () =>
    Effect.gen(function* () {
      const taken = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const server = createServer()
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const address = taken.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const path = yield* folder
      const { code, output } = yield* run(["--port", String(port), "--data-dir", path])
      assert.strictEqual(
        output,
        `fathom: PORT: another process listens at 127.0.0.1:${port}. Set PORT to another port, or to 0 for a free one.\n`
      )
      assert.strictEqual(code, 1)
      assert.isFalse(existsSync(path))
    })
  )

  it.live("refuses a database that cannot be reached by host and port, without its password", () =>
    Effect.gen(function* () {
      const env = { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/none", DATABASE_WAIT: "0 millis" }
      const { code, output } = yield* run(["--port", "0"], env)
      assert.match(output, /^fathom: DATABASE_URL: the database at 127\.0\.0\.1:1 .*ECONNREFUSED.*\n$/u)
      assert.notInclude(output, "hunter2")
      assert.strictEqual(code, 1)
    })
  )

  it.live("ends with 2 for an unknown flag", () =>
    Effect.gen(function* () {
      const { code, output } = yield* run(["--nosuch"])
      assert.include(output, "Unrecognized flag: --nosuch")
      assert.strictEqual(code, 2)
    })
  )
})
