// Runs at `npm ci`: builds the pages and the bundle of the service, makes the past of the simulated market, and compiles
// the code of the service. Plain JavaScript, because `npm ci` runs it with whatever Node is there.
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleService, recordPast } from "./bundle.mjs"
import { buildPages } from "./web.mjs"

const START = fileURLToPath(new URL("start.mjs", import.meta.url))
const LIMIT_MS = 60_000
const POLL_MS = 100

/** Variables for folders of the user and the system. Settings such as DATABASE_URL must not reach this start. */
const FOLDERS = ["PATH", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "NODE_COMPILE_CACHE", "TMPDIR"]

/**
 * Starts the service on a simulated market in a new folder, and stops it once it answers. Node then keeps the compiled
 * code, including functions that only a running service calls. False when the service does not start here; then the
 * first real start compiles.
 */
export const compileStart = async (env = process.env) => {
  const folder = mkdtempSync(join(tmpdir(), "fathom-prepare-"))
  const ready = join(folder, "ready.json")
  const child = spawn(
    process.execPath,
    [START, "--port", "0", "--data-dir", join(folder, "data"), "--ready-file", ready],
    {
      stdio: "ignore",
      env: Object.fromEntries(FOLDERS.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
    }
  )
  const ended = new Promise((resume) => {
    child.once("error", resume)
    child.once("exit", resume)
  })
  const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null
  const limit = performance.now() + LIMIT_MS
  while (isRunning() && !existsSync(ready) && performance.now() < limit) {
    await new Promise((resume) => setTimeout(resume, POLL_MS))
  }
  const answered = existsSync(ready)
  child.kill("SIGTERM")
  await ended
  rmSync(folder, { recursive: true, force: true })
  return answered
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildPages()
  await bundleService()
  await recordPast()
  if (Number(process.versions.node.split(".")[0]) >= 24 && !(await compileStart()))
    process.stderr.write("The service could not be started to compile its code: the first start takes longer.\n")
}
